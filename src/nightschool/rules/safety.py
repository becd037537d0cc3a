"""What must not stand in a memory file, whoever wrote it: looked for in what a draft adds.

No finding does not mean safe: these are known shapes, and a person reviews what they let through.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import re2

from nightschool.core.ports import Redact, SecondOpinion
from nightschool.core.proposals import Finding, Risk
from nightschool.rules.memory_block import OWN_LINES
from nightschool.rules.wording import joined, runs

SAFETY_VERSION = "2"

RUN = 6
"""So many words in a row that stand in a tool's output are no coincidence."""

_SHOWN = 160

_HIDDEN = re2.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}"
    r"\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}\x{fff0}-\x{fffb}"
    r"\x{1d173}-\x{1d17a}\x{e0000}-\x{e0fff}]"
)
_VISIBLY_HIDDEN = re2.compile(
    r"(?i)<!--|-->|[ \t\x{a0}\x{2000}-\x{200a}\x{3000}]{40}|(?:\r?\n[ \t]*){10}"
    r"|display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?:[^.0-9]|$)"
)

_FETCH = r"(?:curl|wget|fetch|aria2c|http|https|invoke-webrequest|invoke-restmethod|iwr|irm)"
_SHELL = (
    r"(?:sudo\s+(?:-\S+\s+)*|env\s+(?:\S+=\S*\s+)*|command\s+|exec\s+|\S*/)*"
    r"(?:sh|bash|zsh|dash|ksh|fish|ash|python[0-9.]*|perl|ruby|node|deno|bun|php|pwsh|powershell|iex|invoke-expression)"
)
_RUNS_WHAT_IT_FETCHES = tuple(
    re2.compile(pattern)
    for pattern in (
        rf"(?i)\b{_FETCH}\b[^\n;]{{0,400}}\|\s*(?:tee\s+\S+\s*\|\s*)?{_SHELL}\b",
        rf"(?i)\b(?:{_SHELL}|source|eval|\.)\s+(?:-\S+\s+)*(?:[\"'])?(?:<\(|\$\(|`)\s*{_FETCH}\b",
        (
            rf"(?i)\b{_FETCH}\b[^\n]{{0,400}}(?:&&|;|\n|\bthen\b|\band\b)\s*(?:run\s+)?(?:chmod\s+\S+\s+\S+\s*(?:&&|;)\s*)?"
            rf"(?:{_SHELL}\s+\S+|\./\S+)"
        ),
        rf"(?i)\b(?:iex|invoke-expression)\b[^\n]{{0,80}}(?:{_FETCH}|downloadstring|webclient|https?://)",
        r"(?i)\b(?:downloadstring|downloadfile)\s*\(",
        r"(?i)\b(?:exec|eval)\s*\([^\n]{0,200}(?:urlopen|requests\.get|httpx\.get|fetch\s*\(|https?://)",
        r"(?i)(?:urlopen|requests\.get|httpx\.get|fetch)\s*\([^\n]{0,200}\b(?:exec|eval)\s*\(",
        rf"(?i)\bbase(?:64|32)\s+(?:-d|-D|--decode)\b[^\n;]{{0,200}}\|\s*{_SHELL}\b",
        rf"(?i)\bxxd\s+-r\b[^\n;]{{0,200}}\|\s*{_SHELL}\b",
        r"(?i)\b(?:eval|exec)\b[^\n]{0,120}\b(?:b64decode|atob|fromhex|frombase64string)\b",
        (
            r"(?i)\b(?:npx|uvx|bunx|pnpm\s+dlx|yarn\s+dlx|pipx\s+run|uv\s+run|deno\s+run|go\s+run)\b[^\n]{0,120}"
            r"(?:https?://|git\+|github:|gist:)"
        ),
        (
            r"(?i)\b(?:pip[0-9.]*|uv\s+pip|npm|pnpm|yarn|bun|cargo|go)\s+(?:install|i|add)\b[^\n]{0,160}"
            r"(?:https?://|git\+|git://)"
        ),
        r"(?i)\bpowershell(?:\.exe)?\b[^\n]{0,80}\s-e(?:nc|ncodedcommand)?\s",
        (
            r"(?i)\b(?:follow|obey|execute|apply|do|carry\s+out)\b[^\n]{0,60}\b(?:instructions|steps|commands|rules)\b"
            r"[^\n]{0,60}https?://"
        ),
    )
)
_ADDRESS = re2.compile(r"(?i)https?://[^\s)>\]\"'`]+|\b(?:[a-z0-9-]+\.)+[a-z]{2,24}/[^\s)>\]\"'`]+")


def findings(
    *,
    before: bytes,
    after: bytes,
    added_rules: Sequence[str],
    human_texts: Sequence[str],
    tool_texts: Sequence[str],
    redact: Redact,
    second_opinion: SecondOpinion | None = None,
) -> tuple[Finding, ...]:
    """All that is wrong with what the draft adds. Never raises on odd input; linear time."""
    added = _added(before, after, added_rules)
    return (
        *_secrets(added, redact),
        *(() if second_opinion is None else _second_secrets(added, redact, second_opinion)),
        *_hidden(added, redact),
        *_fetch_and_execute(added, redact),
        *_from_tools(added_rules, human_texts, tool_texts, redact),
    )


def _added(before: bytes, after: bytes, rules: Sequence[str]) -> str:
    """The lines that only the new file has (our own markers aside), and the rules as they were given."""
    bom = b"\xef\xbb\xbf"
    before, after = before.removeprefix(bom), after.removeprefix(bom)
    old = Counter(before.split(b"\n"))
    own = {line.encode() for line in OWN_LINES}
    fresh: list[str] = []
    for line in after.split(b"\n"):
        if old[line]:
            old[line] -= 1
        elif line.strip() not in own:
            fresh.append(line.removesuffix(b"\r").decode("utf-8", "replace"))
    known = "\n".join(fresh)
    return "\n".join([known, *(rule for rule in rules if f"- {rule}" not in known)])


def _shown(text: str, redact: Redact) -> str:
    """A piece of a draft, fit to be shown: redacted, bounded, with hidden characters spelled out."""
    plain = "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in redact(text).strip())
    return plain if len(plain) <= _SHOWN else plain[:_SHOWN] + " [cut]"


def _around(text: str, start: int, end: int) -> str:
    return text[max(0, start - 30) : end + 50]


def _secrets(added: str, redact: Redact) -> Iterable[Finding]:
    if redact(added) != added:
        lines = [line for line in added.split("\n") if redact(line) != line] or [added]
        for line in lines:
            text = f"the draft carries a secret: {_shown(line, redact)}"
            yield Finding(code="secret", risk=Risk.CRITICAL, text=text)
    for line in added.split("\n"):
        if "[secret:" in line:
            text = f"the draft repeats a text that a secret was cut out of: {_shown(line, redact)}"
            yield Finding(code="secret", risk=Risk.HIGH, text=text)


def _second_secrets(added: str, redact: Redact, ask: SecondOpinion) -> Iterable[Finding]:
    for line in added.split("\n"):
        found = ask(line)
        shown = line
        for _, secret in sorted(found, key=lambda hit: -len(hit[1])):
            shown = shown.replace(secret, "[cut]")
        for kind in dict.fromkeys(kind for kind, _ in found):
            text = f"another scanner takes this for a secret ({kind}): {_shown(shown, redact)}"
            yield Finding(code="secret", risk=Risk.HIGH, text=text)


def _hidden(added: str, redact: Redact) -> Iterable[Finding]:
    scannable = added.encode("utf-8", "replace").decode("utf-8")
    if scannable != added:
        yield Finding(code="hidden-text", risk=Risk.HIGH, text="the draft holds a lone surrogate")
    seen: set[str] = set()
    for match in _HIDDEN.finditer(scannable):
        sign = match.group()
        if sign in seen or _belongs(scannable, match.start()):
            continue
        seen.add(sign)
        critical = 0xE0000 <= ord(sign) <= 0xE0FFF or sign == "\x1b"
        name = unicodedata.name(sign, "control character")
        where = _shown(_around(scannable, match.start(), match.end()), redact)
        text = f"hidden character U+{ord(sign):04X} ({name.lower()}) in: {where}"
        yield Finding(code="hidden-text", risk=Risk.CRITICAL if critical else Risk.HIGH, text=text)
    for match in _VISIBLY_HIDDEN.finditer(scannable):
        if match.group() != "-->":
            where = _shown(_around(scannable, match.start(), match.end()), redact)
            text = f"text that a reader would not see (comment, padding or style) in: {where}"
            yield Finding(code="hidden-text", risk=Risk.HIGH, text=text)


def _belongs(text: str, at: int) -> bool:
    """Joiners and selectors that a script or an emoji needs: between letters beyond Latin, behind symbols."""
    sign, before = text[at], text[at - 1 : at]
    after = text[at + 1 : at + 2]
    if sign == "\ufe0f":
        return bool(before) and (
            unicodedata.category(before) in {"So", "Sm", "Sk"} or before in "0123456789#*\u203c\u2049"
        )
    if sign == "\u200d":
        return all(
            c and (unicodedata.category(c) in {"So", "Sk"} or c == "\ufe0f" or _joining(c))
            for c in (before, after)
        )
    return sign == "\u200c" and _joining(before) and _joining(after)


def _joining(sign: str) -> bool:
    """Arabic, Syriac and Indic letters and marks, which joiners shape."""
    return bool(sign) and 0x600 <= ord(sign) <= 0xDFF and unicodedata.category(sign)[0] in "LM"


def _fetch_and_execute(added: str, redact: Redact) -> Iterable[Finding]:
    plain = unicodedata.normalize("NFKC", added.encode("utf-8", "replace").decode("utf-8"))
    plain = plain.replace("\\\n", " ")
    for pattern in _RUNS_WHAT_IT_FETCHES:
        match = pattern.search(plain)
        if match is not None:
            text = f"runs or obeys what it fetches: {_shown(match.group(), redact)}"
            yield Finding(code="fetch-and-execute", risk=Risk.CRITICAL, text=text)
            return


def _from_tools(
    rules: Sequence[str], humans: Sequence[str], tools: Sequence[str], redact: Redact
) -> Iterable[Finding]:
    """Words that the agent read, not the person: text from tool output is no evidence for a rule."""
    said = [joined(text) for text in humans]
    unsaid = {
        rule: [run for run in runs(rule, RUN) if not any(run in text for text in said)] for rule in rules
    }
    addresses = {
        rule: [m.group() for m in _ADDRESS.finditer(rule.encode("utf-8", "replace").decode("utf-8"))]
        for rule in rules
    }
    read = [joined(text) for text in tools] if any(unsaid.values()) or any(addresses.values()) else []
    for rule in rules:
        run = next((run for run in unsaid[rule] if any(run in text for text in read)), None)
        if run is not None:
            text = f"these words come from a tool's output, no person said them: {_shown(run, redact)}"
            yield Finding(code="tool-output", risk=Risk.CRITICAL, text=text)
            continue
        for address in addresses[rule]:
            place = joined(address)
            if any(place in text for text in read) and not any(place in text for text in said):
                text = f"this address comes from a tool's output: {_shown(address, redact)}"
                yield Finding(code="tool-output", risk=Risk.HIGH, text=text)

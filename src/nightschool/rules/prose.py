"""A person's own words in a human turn: without what was injected, pasted, quoted or fenced.

Relieves signals, corrections, splits and mining of each having to know what a row may hold besides words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from nightschool.core.tags import outside_tags
from nightschool.rules.words import ACKNOWLEDGEMENTS

LIMIT = 20_000
"""Characters of one turn that are looked at: who writes more has pasted it."""

_OPEN_TAG = re.compile(r"<([A-Za-z]\w*[-_][\w-]*|INSTRUCTIONS|instructions|result|output)(?:\s[^<>\n]*)?>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SLASH = re.compile(r"/[A-Za-z][\w:-]*(?:\s|$)")
_INJECTED = (
    "# AGENTS.md instructions",
    "# CLAUDE.md",
    "Caveat: The messages below were generated",
    "This session is being continued from a previous conversation",
    "[Request interrupted",
)
_REQUEST_HEAD = "## My request for Codex:"
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_LOG_LINE = re.compile(
    r"""^\s*(?:
      \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d            # 2026-01-31 10:00
    | \[?\d\d:\d\d:\d\d
    | at\s\S+.*:\d+ | File\s".*line\s\d+          # frames of a stack
    | Traceback\b | Caused\sby:
    | [\w.]*(?:Error|Exception|Warning)\b:\s
    | (?:npm|yarn|pnpm)\s(?:ERR!|WARN|error|warn)
    | (?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|FAILED|FAIL|PASSED|PASS)\b\s?[:\[(]
    | (?:panic|error|warning|fatal)\b\s?[:\[(]
    | [$%➜]\s+\S                                  # a prompt of a shell
    | diff\s--git | @@\s | \+{1,3}\s? | -{3}\s    # a diff
    | \d+\s*[|→]                                  # numbered code
    | exit\s(?:status|code)\b
    | [^\s:]+:\d+(?::\d+)?:                       # file.py:12:
    | [{}\[\]();,]+\s*$
    | .*[;{]\s*$                                  # code
    )""",
    re.VERBOSE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])['\")]*\s+|\n+|(?<=[。！？])")  # noqa: RUF001 - full-width marks
_ENDS = re.compile(r"[\W_]+$")
REMARK = 150
"""Words that a remark has at most."""
ACKNOWLEDGED = 6
"""Words that an acknowledgement has at most."""
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_SCRIPT_WITHOUT_SPACES = "\u3040-\u30ff\u3400-\u9fff"
_SPACELESS = re.compile(f"[{_SCRIPT_WITHOUT_SPACES}]")
_TOKEN = re.compile(rf"[{_SCRIPT_WITHOUT_SPACES}]+|(?:(?![{_SCRIPT_WITHOUT_SPACES}])\w)+")


def is_injected(text: str) -> bool:
    """Whether the whole row was put there by the agent's host, not by a person (B02)."""
    return text.lstrip().startswith(_INJECTED) or (
        bool(text.strip()) and not outside_tags(text, _OPEN_TAG).strip()
    )


def is_slash_command(text: str) -> bool:
    """Whether the turn is a slash command, as typed or as Claude Code wraps it."""
    return "<command-name>" in text or bool(_SLASH.match(text.lstrip()))


def request_text(text: str) -> str:
    """What the person wrote to the agent, pasted parts too, without injected blocks."""
    head = text.find(_REQUEST_HEAD)
    return outside_tags(text if head < 0 else text[head + len(_REQUEST_HEAD) :], _OPEN_TAG).strip()


def own_words(text: str) -> str:
    """The person's own words: no injected block, fenced code, quoted line or line of a log."""
    if text.lstrip().startswith(_INJECTED):
        return ""
    arguments = _ARGUMENTS.search(text[:LIMIT]) if "<command-name>" in text else None
    kept = arguments.group(1) if arguments else request_text(text[:LIMIT])
    lines = [line for line in _outside_fences(kept).splitlines() if not line.lstrip().startswith((">", "»"))]
    return "\n".join(line for line in lines if not _LOG_LINE.match(line)).strip()


def is_paste(text: str) -> bool:
    """Whether the turn is a pasted log or the like: words of a person are the smaller part of it."""
    lines = [line for line in request_text(text[:LIMIT]).splitlines() if line.strip()]
    pasted = sum(bool(_LOG_LINE.match(line)) or line.lstrip().startswith(">") for line in lines)
    return len(text) > LIMIT or pasted * 2 > len(lines) or not own_words(text)


def is_acknowledgement(text: str) -> bool:
    """Whether there is nothing in the message but "yes", "commit/push", "Continue", "thank you", "1"."""
    said = own_words(text)
    if _spaceless(said):
        return _ENDS.sub("", said) in ACKNOWLEDGEMENTS
    words = re.findall(r"[\w'-]+", said.casefold())
    known = all(word in ACKNOWLEDGEMENTS or word.isdigit() for word in words)
    return len(words) <= 1 or (len(words) <= ACKNOWLEDGED and known)


def sentences(words: str) -> tuple[str, ...]:
    """The sentences of a text, without bullets. A dot inside `os.path` ends none."""
    parts = (_BULLET.sub("", part).strip() for part in _SENTENCE_END.split(words))
    return tuple(part for part in parts if part)


def tokens(text: str) -> frozenset[str]:
    """Words, case folded; where a script has no spaces, its pairs of characters."""
    return frozenset(_tokens(unicodedata.normalize("NFKC", text).casefold()))


def ordered_tokens(text: str) -> tuple[str, ...]:
    """The same in the order of the text."""
    return tuple(_tokens(unicodedata.normalize("NFKC", text).casefold()))


def is_remark(words: str) -> bool:
    """Whether a text is short enough to be a remark on the agent's work. A longer one is a specification:
    what is "wrong" or "never" in it is so in the product."""
    return len(words) <= REMARK * 20 and word_count(words) <= REMARK


def word_count(text: str) -> int:
    return len(ordered_tokens(text))


def flat(text: str) -> str:
    """A text as far as it matters when looking for it elsewhere: its words, one space apart."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _tokens(text: str) -> Iterator[str]:
    if text.isascii():
        yield from _TOKEN.findall(text)
        return
    for match in _TOKEN.finditer(text):
        found = match.group()
        if len(found) > 1 and _spaceless(found):
            yield from (found[at : at + 2] for at in range(len(found) - 1))
        else:
            yield found


def _spaceless(text: str) -> bool:
    return not text.isascii() and _SPACELESS.search(text) is not None


def _outside_fences(text: str) -> str:
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return "\n".join(kept)

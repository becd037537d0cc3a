"""Which of an editor's edits may be tried at all: each stands on a train moment and carries no answer.

Whether an edit matches the block is `memory_block`'s to say; this looks at where it comes from.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import re2

from nightschool.core.proposals import Certify, Edit, RefusedEdit
from nightschool.core.tasks import Candidate, Check, Footprint, Touched
from nightschool.rules.memory_block import Refusal
from nightschool.rules.wording import holds, joined, runs, words

JUDGE_RUN = 5
"""So many words in a row of a judge's note are a quotation."""

_OUTSIDE = re2.compile(
    r"(?mi)^\s{0,3}#{1,6}(?:\s|$)|^\s*(?:```|~~~)|^\s*-{3,}\s*$|^\s*={3,}\s*$|<!--|-->"
    r"|nightschool:(?:begin|end)|^\s*@[~./\w-]+|^(?:\+\+\+|diff --git|\*\*\* (?:update|add|delete) file)"
    r"|^\s*(?:file|path)\s*:\s*\S+\.\w+"
)
_OUR_ID = re2.compile(r"(?i)\b[tkcdrh]-[0-9a-f]{8,}\b|\br-[0-9]{4,}\b")
_MACHINE = re2.compile(
    r"""(?i)["']?\b(?:wanted|unwanted|footprint|touched|checks?|paths|kind)\b["']?\s*[:=]\s*["'\[{]"""
    r"|\(\?[:imsP<=!]|\\[bdwsBDWS][+*{]?|\.\*|\.\+|\[[^\]]*[a-z0-9]-[a-z0-9][^\]]*\][+*{]|[+*]\$|\bregex(?:p|es)?\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    accepted: tuple[Edit, ...]
    refused: tuple[Refusal, ...]


def screen(
    edits: Sequence[Edit],
    *,
    candidate: Candidate,
    rejected: Sequence[RefusedEdit | Edit],
    checks: Sequence[Check],
    task_ids: Sequence[str],
    judge_texts: Sequence[str],
    limit: int = 4,
) -> Screened:
    """Part the edits. The first failing reason is named; after `limit` accepted ones the rest is over budget.

    What the person said himself, in the candidate's train evidence, is always allowed: the quote
    that an edit brings along is not taken for it.
    """
    quotes = [moment.quote for moment in candidate.evidence]
    before = {_key(item.edit if isinstance(item, RefusedEdit) else item) for item in rejected}
    hidden = _Hidden(
        terms=tuple(_terms(checks)),
        ids=tuple(dict.fromkeys([*task_ids, candidate.id, candidate.correction, *_session_ids(candidate)])),
        judged=tuple(run for text in judge_texts for run in _spoken(text)),
    )
    accepted: list[Edit] = []
    refused: list[Refusal] = []
    for edit in edits:
        problem = _misplaced(edit, candidate, before) or _leaking(edit, hidden, quotes)
        if problem is None and len(accepted) >= limit:
            problem = ("over-budget", f"an editor may make {limit} edits at a time")
        if problem is None:
            accepted.append(edit)
            before.add(_key(edit))
        else:
            refused.append(Refusal(edit, *problem))
    return Screened(accepted=tuple(accepted), refused=tuple(refused))


def aim(edits: Sequence[Edit]) -> Certify:
    """What a draft of these edits has to show: a gain, unless it only takes words away. Then it cannot show
    one, and has to show that it is not worse. A short text that says something else takes nothing away."""
    only_less = all(edit.op == "delete" or (edit.op == "replace" and _shortens(edit)) for edit in edits)
    return Certify.NOT_WORSE if edits and only_less else Certify.GAIN


def _shortens(edit: Edit) -> bool:
    """Whether the new words are some of the old ones, in their order."""
    old, new = words(edit.anchor), words(edit.rule)
    left = iter(old)
    return len(new) < len(old) and all(word in left for word in new)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hidden:
    """What an editor must not know, and a rule therefore not carry."""

    terms: tuple[str, ...]
    ids: tuple[str, ...]
    judged: tuple[str, ...]


def _key(edit: Edit) -> tuple[str, str, str]:
    return edit.op, joined(edit.rule), joined(edit.anchor)


def _terms(checks: Iterable[Check]) -> Iterable[str]:
    for check in checks:
        match check:
            case Footprint():
                yield from (term for term in (check.wanted, check.unwanted) if term is not None)
            case Touched():
                yield from check.paths


def _session_ids(candidate: Candidate) -> Iterable[str]:
    for session in (*candidate.sessions, *(moment.session for moment in candidate.evidence)):
        yield session
        yield session.rpartition(":")[2]


def _spoken(text: str) -> list[str]:
    """The runs of a judge's note; of a shorter note, from two words on, the whole."""
    found = runs(text, JUDGE_RUN)
    return found or ([joined(text)] if len(words(text)) >= 2 else [])


def _misplaced(edit: Edit, candidate: Candidate, before: set[tuple[str, str, str]]) -> tuple[str, str] | None:
    needs_rule, needs_anchor = edit.op != "delete", edit.op != "add"
    if (needs_rule and not edit.rule.strip()) or (needs_anchor and not edit.anchor.strip()):
        return "bad-reply", f"a {edit.op} needs " + (
            "a rule" if needs_rule and not edit.rule.strip() else "an anchor"
        )
    if not any(
        (moment.session, moment.turn) == (edit.moment.session, edit.moment.turn)
        for moment in candidate.evidence
    ):
        return "no-moment", "the edit does not name one of the candidate's moments"
    if _key(edit) in before:
        return "repeats-rejected", "the same edit was proposed before"
    return None


def _leaking(edit: Edit, hidden: _Hidden, quotes: Sequence[str]) -> tuple[str, str] | None:
    if edit.op == "delete":
        return None
    rule = unicodedata.normalize("NFKC", edit.rule.encode("utf-8", "replace").decode("utf-8"))
    if _OUTSIDE.search(rule) is not None:
        return (
            "outside-target",
            "a rule is plain text: no heading, fence, comment, marker, import or other file",
        )
    said = " \n ".join(quotes)
    problem = _check_text(rule, hidden, said)
    if problem is not None:
        return "check-text", problem
    whole, spoken = joined(rule), joined(said)
    if any(run in whole and run not in spoken for run in hidden.judged):
        return "judge-words", "the rule repeats a judge's words"
    return None


def _check_text(rule: str, hidden: _Hidden, said: str) -> str | None:
    lower = rule.casefold()
    if (
        any(len(name) >= 4 and name.casefold() in lower for name in hidden.ids)
        or _OUR_ID.search(rule) is not None
    ):
        return "the rule names a task, candidate or session"
    if any(form.group().casefold() not in said.casefold() for form in _MACHINE.finditer(rule)):
        return "the rule carries a pattern or the machine form of a check"
    if any(_carries(rule, term) and not _carries(said, term) for term in hidden.terms):
        return "the rule carries what a check looks for, in words that no person said"
    return None


def _carries(text: str, term: str) -> bool:
    """Whether the term stands in a text; one that is all punctuation, as it is written."""
    return holds(text, term) if words(term) else bool(term.strip()) and term.strip() in text

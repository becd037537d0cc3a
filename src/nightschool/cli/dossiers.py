"""How a proposal with its evidence is shown. Imported by its commands only when they run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nightschool.cli.difference import difference
from nightschool.cli.history import without_report
from nightschool.cli.links import named
from nightschool.cli.nested import own_file_below
from nightschool.cli.reading import run_for
from nightschool.cli.render import Diff, Line, Piece, Table
from nightschool.cli.verdicts import examined
from nightschool.core.cycles import CycleReport
from nightschool.core.proposals import Decision, Release, Status, Step
from nightschool.core.tasks import Correction
from nightschool.rules import scores
from nightschool.rules.report import cycle_line, job_lines, model_of
from nightschool.rules.telling import counted, moved
from nightschool.stages.in_file import InFile, in_its_place, is_gone, of_case, takes_back
from nightschool.stages.pins import pinned, pinned_text
from nightschool.stages.releases import OPEN, WAITING, Fit, fit, fits, published
from nightschool.stages.silences import silences

if TYPE_CHECKING:
    from nightschool.core.pins import Pin
    from nightschool.core.ports import Store
    from nightschool.core.proposals import Dossier, Draft, Edit, RefusedEdit
    from nightschool.wiring import Parts

TURNED_DOWN = frozenset({Status.REJECTED, Status.SAFETY_FAILED, Status.EVALUATION_FAILED})
TIME = "%Y-%m-%d %H:%M"
SINCE = {
    InFile.PARTLY: "a part taken out or changed by hand since",
    InFile.TAKEN_OUT: "taken out or changed by hand since",
    InFile.GONE: "its file is gone since",
    InFile.AWAY: "its project's folder is gone since",
}
"""What is to be known of what was adopted, beside that it was."""
Pieces = list[Piece | str]


def row(case: Dossier, parts: Parts) -> dict[str, object]:
    """A proposal in a list."""
    verdict = case.verdict
    return {
        "id": case.draft.id,
        "status": case.status,
        "stale": is_stale(case, parts),
        "superseded_by": other.draft.id if (other := superseded_by(case, parts)) else None,
        "made_from": case.draft.made_from,
        "statement": words(case, parts.store),
        "path": parts.place(case.draft.target),
        "skill": case.draft.target.skill,
        "aim": case.draft.aim,
        "verdict": verdict and verdict.kind,
        "pairs": verdict and verdict.pairs,
        "base": verdict and verdict.base,
        "proposal": verdict and verdict.proposal,
        "edits": len(case.draft.edits),
        "cycle": case.draft.cycle,
        "created_at": case.draft.created_at,
    }


def listed(cases: Sequence[Dossier], parts: Parts, title: str = "") -> Table:
    """Proposals as a table."""
    rows = []
    for case in cases:
        verdict = case.verdict
        kind, pairs = (verdict.kind, verdict.pairs) if verdict else (None, 0)
        base, proposal = (verdict.base, verdict.proposal) if verdict else (None, None)
        rows.append(
            (
                case.draft.id,
                shown_status(case, parts),
                scores.told(base, kind, pairs),
                proposal and scores.told(proposal, kind),
                words(case, parts.store),
                named(parts.place(case.draft.target)),
            )
        )
    return Table(
        columns=("proposal", "status", "without the edit", "with the edit", "your words", "file"),
        rows=rows,
        title=title,
        minor=("without the edit", "with the edit"),
    )


def document(case: Dossier, parts: Parts) -> dict[str, object]:
    """All that is known of a proposal, but for its check: that the person sees with `nightschool tasks`."""
    return {
        **row(case, parts),
        "draft": case.draft,
        "digest": case.draft.digest,
        "sessions": case.candidate and case.candidate.sessions,
        "safety": case.safety,
        "verdicts": case.verdicts,
        "reviews": case.reviews,
        "releases": case.releases,
        "refused_edits": refused(case),
        "silent": silences(case.verdict, parts.store, parts.policy()),
        "diff": difference(case.draft, parts),
        "report": _report(case, parts.store),
        "next": following(case, parts),
    }


def pieces(case: Dossier, parts: Parts, know: Sequence[str] = ()) -> Pieces:
    """The same for the eyes of the person who decides. `know`: what adopting it brings along."""
    draft = case.draft
    said = words(case, parts.store)
    return [
        Line(f"{draft.id}: {shown_status(case, parts)}", "bold"),
        f"your words: {said or 'not known any more'}{_heard(case, parts.store)}",
        f"file: {named(parts.place(draft.target))}" + ("" if draft.before is not None else " (would be new)"),
        *([f"  this file, since {draft.aim}"] if draft.aim else []),
        *_below(case, parts),
        f"made: {draft.created_at:{TIME}} UTC, {_made(draft)}",
        *_standing(case, parts),
        *_cycle(case, parts.store),
        "",
        Line("Edits, and your words that justify them", "bold"),
        *(line for number, edit in enumerate(draft.edits, start=1) for line in _edit(number, edit)),
        *_refused(refused(case)),
        "",
        *examined(draft, case.verdict),
        *silent(case, parts),
        "",
        *_safety(case),
        *_history(case),
        "",
        *([Line("To know before you adopt it", "bold")] if know else []),
        *(f"  * {line}" for line in know),
        *([""] if know else []),
    ]


def steps(case: Dossier, parts: Parts) -> Pieces:
    """What to type next, as the last lines of a screen. A page that may be sent has none."""
    return [f"next: {command}" for command in following(case, parts)]


def silent(case: Dossier, parts: Parts) -> Pieces:
    """Tasks of its exam that tell nothing, with the way out and what that costs."""
    found = silences(case.verdict, parts.store, parts.policy())
    if found is None:
        return []
    return [
        Line("Tasks that never told the two apart, and take tries", "bold"),
        *(f"  {one}" for one in found.lines),
    ]


def is_stale(case: Dossier, parts: Parts) -> bool:
    """Whether it could be adopted, were its file still the one that it was made from."""
    return fit(case, parts.live, parts.place) is not Fit.FITS


def shown_status(case: Dossier, parts: Parts) -> str:
    other = superseded_by(case, parts)
    if other is not None:
        return f"superseded by {other.draft.id}"
    status = "not examined yet" if case.status is Status.DRAFT else str(case.status)
    if case.status is Status.IN_REVIEW and case.verdict is not None and case.verdict.unguarded:
        status += ", other work not tried"
    state = of_case(case, parts.store, parts.live)
    if state in SINCE:
        return f"{status}, {SINCE[state]}"
    pin = case.status in WAITING | {Status.DRAFT} and _pin(case, parts)
    return f"{status}{', stale' if is_stale(case, parts) else ''}{', pinned' if pin else ''}"


def _pin(case: Dossier, parts: Parts) -> Pin | None:
    return pinned(parts.store, parts.place(case.draft.target).resolve())


def superseded_by(case: Dossier, parts: Parts) -> Dossier | None:
    """The proposal that stands in the place of a stale one: nothing of it is left to decide."""
    return in_its_place(case, store=parts.store, live=parts.live, place=parts.place)


def waiting(cases: Sequence[Dossier], parts: Parts) -> list[Dossier]:
    """Those that wait for the person's word: what can be adopted at once first, of that what the gate
    accepted, of that the newest."""
    found = [case for case in reversed(cases) if case.status in WAITING and not superseded_by(case, parts)]
    return sorted(found, key=lambda case: (is_stale(case, parts), not case.certified))


def first_step(cases: Sequence[Dossier], parts: Parts) -> str | None:
    """What to type of those that wait, in their order."""
    if not cases:
        return None
    first = cases[0]
    return onward(first, parts) if is_stale(first, parts) else f"nightschool show {first.draft.id} --diff"


def _standing(case: Dossier, parts: Parts) -> Pieces:
    """What stands between the proposal and its file, and where it comes from."""
    draft = case.draft
    told: Pieces = []
    if draft.made_from is not None:
        told.append(f"made by you from {draft.made_from}: what is known of that one speaks of other bytes")
    other = superseded_by(case, parts)
    if other is not None:
        told.append(f"superseded: {other.draft.id} ({other.status}) says the same in this file")
        return told
    pin = _pin(case, parts)
    if pin is not None and case.status in WAITING:
        told.append(pinned_text(pin))
    if case.status in OPEN and is_gone(draft.target, parts.live, parts.place):
        told.append(moved(draft.target.project))
    elif is_stale(case, parts):
        then = "" if pin is None else "; once it is unpinned"
        told.append(f"the file has changed since{then}: {_onto_the_file(case, parts)}")
    return told


def words(case: Dossier, store: Store) -> str | None:
    """What the person said, as `nightschool corrections` has it. An editor knows only what was said in
    train sessions, so the candidate's own words may be others."""
    if case.candidate is None:
        return None
    correction = store.get(Correction, case.candidate.correction)
    return case.candidate.statement if correction is None else correction.statement


def _made(draft: Draft) -> str:
    if draft.made_from is None:
        return f"in cycle {draft.cycle}"
    return f"by you from {draft.made_from}, which cycle {draft.cycle} made"


def refused(case: Dossier) -> list[RefusedEdit]:
    """What was refused when it was made. Its correction may have other proposals, with refusals of theirs; a
    second edit that says the same as one that was taken is told by that one."""
    taken = {(edit.op, edit.rule, edit.anchor) for edit in case.draft.edits}
    return [
        one
        for one in case.refused_edits
        if one.cycle == case.draft.cycle and (one.edit.op, one.edit.rule, one.edit.anchor) not in taken
    ]


def cycle_of(case: Dossier) -> str | None:
    """The cycle that examined it last, else the one that made it; None for what a person made anew."""
    verdict = case.verdict
    if verdict is not None:
        return verdict.cycle
    return case.draft.cycle if case.draft.made_from is None else None


def _heard(case: Dossier, store: Store) -> str:
    """In how many sessions, as `nightschool corrections` counts them, and how many of these an editor saw."""
    if case.candidate is None:
        return ""
    correction = store.get(Correction, case.candidate.correction)
    sessions = len((correction or case.candidate).sessions)
    seen = len({moment.session for moment in case.candidate.evidence})
    return f" (heard in {counted(sessions, 'session')}; edits are written from {seen} of them)"


def _below(case: Dossier, parts: Parts) -> list[str]:
    note = None if case.candidate is None else own_file_below(case.candidate, case.draft.target, parts)
    return [] if note is None else [f"  {note}"]


def _report(case: Dossier, store: Store) -> CycleReport | None:
    """The report of that cycle; None where it left none."""
    cycle = cycle_of(case)
    return None if cycle is None else store.get(CycleReport, cycle)


def _cycle(case: Dossier, store: Store) -> Pieces:
    cycle, report = cycle_of(case), _report(case, store)
    if cycle is None:
        return ["no cycle has examined it yet"]
    if report is None:
        kinds = [one.kind for one in without_report(store) if one.cycle == cycle]
        forgotten = not all(edit.moment.quote for edit in case.draft.edits)
        why = "its report was forgotten" if forgotten else "it was broken off, or its report was forgotten"
        why = kinds[0] if kinds else why
        return [f"cycle {cycle} has no report: {why}"]
    return [
        f"cycle {report.cycle}: {cycle_line(report)}",
        f"  practised with {report.runner} {report.runner_version}, model: {model_of(report)}",
        *(f"  {line}" for line in job_lines(report)),
    ]


def following(case: Dossier, parts: Parts) -> tuple[str, ...]:
    """What to type next."""
    name = case.draft.id
    if case.status is Status.PUBLISHED:
        return (_of_adopted(case, parts),)
    reject = f"nightschool reject {name} --reason WHY"
    if case.status is Status.NO_VERDICT:
        return (reject,)
    if case.status not in OPEN:
        return ("nightschool proposals",)
    other = superseded_by(case, parts)
    if other is not None:
        return (f"nightschool show {other.draft.id}",)
    return (onward(case, parts), *((reject,) if case.status in WAITING else ()))


def _of_adopted(case: Dossier, parts: Parts) -> str:
    """To take it back, or, where nothing of it is left, to have it again."""
    release = published(case.releases)[-1]
    way = takes_back(release, parts.store, parts.live, name=case.draft.id)
    if way is not None:
        return way
    if fits(case.draft, parts.live.read(parts.place(case.draft.target))):
        return adopting(case)
    return f"nightschool rebase {case.draft.id}"


def onward(case: Dossier, parts: Parts) -> str:
    """The command that brings an open proposal nearer to its file, and is not refused."""
    pin = _pin(case, parts)
    if pin is not None:
        return f"nightschool unpin {shlex.quote(pin.path)}"
    return _onto_the_file(case, parts)


def _onto_the_file(case: Dossier, parts: Parts) -> str:
    match fit(case, parts.live, parts.place):
        case Fit.FITS:
            return adopting(case)
        case Fit.STALE:
            return f"nightschool rebase {case.draft.id}"
        case Fit.LOST:
            return run_again(case)


def run_again(case: Dossier) -> str:
    """The run that proposes anew."""
    heard = case.candidate.project if case.candidate else ""
    return run_for((case.draft.target.project or heard).splitlines())


def adopting(case: Dossier) -> str:
    """The command that adopts it: without a certificate it takes a reason."""
    return f"nightschool adopt {shlex.quote(case.draft.id)}" + ("" if case.certified else " --reason WHY")


def _edit(number: int, edit: Edit) -> Pieces:
    said = edit.moment
    when = f", {said.at:%Y-%m-%d}" if said.at else ""
    marked = {"add": (("+", edit.rule),), "delete": (("-", edit.anchor),)}
    changes = marked.get(edit.op, (("-", edit.anchor), ("+", edit.rule)))
    return [
        *(Line(f"  {number}. {sign} {text}", "green" if sign == "+" else "red") for sign, text in changes),
        f"      you said: {said.quote!r} (session {said.session}, turn {said.turn}{when})"
        if said.quote
        else "      your words that justify it were forgotten",
        *([f"      why: {edit.why}"] if edit.why else []),
    ]


def _refused(found: Sequence[RefusedEdit]) -> Iterable[Piece | str]:
    if found:
        yield Table(
            title="Edits that were not taken",
            columns=("edit", "why not"),
            rows=[(in_short(item.edit), item.text) for item in found],
        )


def in_short(edit: Edit) -> str:
    return f"{edit.op} {edit.rule or edit.anchor}"


def _safety(case: Dossier) -> Pieces:
    if not case.safety:
        return [Line("Safety: not checked yet", "bold")]
    newest = case.safety[-1]
    if not newest.findings:
        return [Line("Safety: nothing found", "bold")]
    rows = [(finding.code, finding.risk, finding.text) for finding in newest.findings]
    title = "Safety: found, to know before you adopt" if newest.passed else "Safety: found"
    return [Table(title=title, columns=("finding", "risk", "what and where"), rows=rows)]


def _history(case: Dossier) -> Iterable[Piece | str]:
    if case.reviews:
        yield ""
        yield Table(
            title="Reviews",
            columns=("when", "who", "decision", "reason"),
            rows=[
                (f"{r.at:{TIME}}", r.reviewer, _decided(r.decision), r.reason or None) for r in case.reviews
            ],
        )
    # A release is written down before and after the file is touched: the last word on each is shown.
    last = {release.number: release for release in case.releases}
    if last:
        yield ""
        yield Table(
            title="Releases",
            columns=("release", "when", "who", "what", "file"),
            rows=[(r.number, f"{r.at:{TIME}}", r.actor, _what(r), r.path) for r in last.values()],
        )


def _decided(decision: Decision) -> str:
    words = {Decision.APPROVE: "approved", Decision.REJECT: "rejected", Decision.REOPEN: "asked for again"}
    return words[decision]


def _what(release: Release) -> str:
    what = "published" if release.undoes is None else f"undid {release.undoes}"
    match release.step:
        case Step.INTENDED:
            what = f"interrupted before it {what}"
        case Step.ABANDONED:
            what = f"given up, not {what}"
    return f"{what}: {release.reason}" if release.reason else what


def shown_diff(case: Dossier, parts: Parts) -> Pieces:
    return [Line("Diff", "bold"), Diff(difference(case.draft, parts)), ""]

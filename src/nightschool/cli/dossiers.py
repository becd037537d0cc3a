"""How a proposal with its evidence is shown. Imported by its commands only when they run."""

from __future__ import annotations

import difflib
import io
import math
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nightschool.cli.render import Diff, Line, Piece, Table
from nightschool.core.proposals import Certify, Decision, Release, Status, Verdict, VerdictKind

if TYPE_CHECKING:
    from nightschool.core.proposals import Dossier, Draft, Edit, RefusedEdit
    from nightschool.core.trials import Estimate
    from nightschool.wiring import Parts

TURNED_DOWN = frozenset({Status.REJECTED, Status.SAFETY_FAILED, Status.EVALUATION_FAILED})
BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 60
TIME = "%Y-%m-%d %H:%M"
Pieces = list[Piece | str]


def row(case: Dossier, parts: Parts) -> dict[str, object]:
    """A proposal in a list."""
    verdict = _verdict(case)
    return {
        "id": case.draft.id,
        "status": case.status,
        "statement": statement(case),
        "path": parts.place(case.draft.target),
        "verdict": verdict and verdict.kind,
        "pairs": verdict and verdict.pairs,
        "base": verdict and verdict.base,
        "proposal": verdict and verdict.proposal,
        "edits": len(case.draft.edits),
        "cycle": case.draft.cycle,
        "created_at": case.draft.created_at,
    }


def listed(cases: Sequence[Dossier], parts: Parts) -> Table:
    """Proposals as a table."""
    rows = []
    for case in cases:
        verdict = _verdict(case)
        base, proposal = (verdict.base, verdict.proposal) if verdict else (None, None)
        rows.append(
            (
                case.draft.id,
                case.status,
                verdict and verdict.kind,
                base and f"{base.mean:.2f}",
                proposal and f"{proposal.mean:.2f}",
                parts.place(case.draft.target),
                statement(case),
            )
        )
    return Table(columns=("proposal", "status", "gate", "base", "with it", "file", "correction"), rows=rows)


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
        "refused_edits": case.refused_edits,
        "diff": difference(case.draft, parts),
        "next": following(case),
    }


def pieces(case: Dossier, parts: Parts) -> Pieces:
    """The same for the eyes of the person who decides."""
    draft = case.draft
    sessions = f" (heard in {len(case.candidate.sessions)} sessions)" if case.candidate else ""
    return [
        Line(f"{draft.id}: {case.status}", "bold"),
        f"correction: {statement(case) or 'not known any more'}{sessions}",
        f"file: {parts.place(draft.target)}" + ("" if draft.before is not None else " (would be new)"),
        f"made: {draft.created_at:{TIME}} UTC, cycle {draft.cycle}",
        "",
        Line("Edits, and your words that justify them", "bold"),
        *(line for edit in draft.edits for line in _edit(edit)),
        *_refused(case.refused_edits),
        "",
        *_examined(case),
        *_safety(case),
        *_history(case),
        "",
        *(f"next: {command}" for command in following(case)),
    ]


def statement(case: Dossier) -> str | None:
    return case.candidate.statement if case.candidate else None


def difference(draft: Draft, parts: Parts) -> str:
    """The unified diff of the live file as it was and as it would be: by its name in the project, or by
    its whole path where it is the person's own."""
    store, path = parts.store, parts.place(draft.target)
    name = path.relative_to(draft.target.project or "/").as_posix()
    old = b"" if draft.before is None else store.blob(draft.before)
    new = store.blob(draft.after)
    try:
        before, after = _lines(old), _lines(new)
    except UnicodeDecodeError:
        return f"--- a/{name}\n+++ b/{name}\n(no text in UTF-8)\n"
    made_from = "/dev/null" if draft.before is None else f"a/{name}"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, made_from, f"b/{name}")
    )


def _lines(content: bytes) -> list[str]:
    # Lines of a file end with a newline alone: splitlines would also cut at form feeds and the like.
    return list(io.StringIO(content.decode(), newline="\n"))


def curve(path: Sequence[float], width: int = CURVE_WIDTH) -> str:
    """A wealth from pair to pair as a row of bars, in powers as it grows; of many pairs every n-th."""
    if not path:
        return ""
    every = -(-len(path) // width)
    # The last one always stands at the end: it is the one that decides.
    heights = [math.log(max(value, 1e-6)) for value in path[::-1][::every][::-1]]
    low = min(0.0, *heights)
    span = max(0.0, *heights) - low or 1.0
    return "".join(BARS[round((height - low) / span * (len(BARS) - 1))] for height in heights)


def following(case: Dossier) -> tuple[str, ...]:
    """What to type next."""
    name = case.draft.id
    match case.status:
        case Status.IN_REVIEW | Status.SUGGESTED | Status.APPROVED:
            return (adopting(case), f"nightschool reject {name} --reason WHY")
        case Status.PUBLISHED:
            return (f"nightschool undo {name}",)
        case Status.ROLLED_BACK:
            return (adopting(case),)
    return ("nightschool proposals",)


def adopting(case: Dossier) -> str:
    """The command that adopts it: without a certificate it takes a reason."""
    verdict = _verdict(case)
    certified = verdict is not None and verdict.kind is VerdictKind.ACCEPT
    return f"nightschool adopt {shlex.quote(case.draft.id)}" + ("" if certified else " --reason WHY")


def _verdict(case: Dossier) -> Verdict | None:
    return case.verdicts[-1] if case.verdicts else None


def _edit(edit: Edit) -> Pieces:
    said = edit.moment
    when = f", {said.at:%Y-%m-%d}" if said.at else ""
    marked = {"add": (("+", edit.rule),), "delete": (("-", edit.anchor),)}
    changes = marked.get(edit.op, (("-", edit.anchor), ("+", edit.rule)))
    return [
        *(Line(f"  {sign} {text}", "green" if sign == "+" else "red") for sign, text in changes),
        f"      you said: {said.quote!r} (session {said.session}, turn {said.turn}{when})",
        *([f"      why: {edit.why}"] if edit.why else []),
    ]


def _refused(refused: Sequence[RefusedEdit]) -> Iterable[Piece | str]:
    if refused:
        yield Table(
            title="Edits that were not taken",
            columns=("edit", "why not", "text"),
            rows=[
                (f"{item.edit.op} {item.edit.rule or item.edit.anchor}", item.code, item.text)
                for item in refused
            ],
        )


def _examined(case: Dossier) -> Pieces:
    verdict = _verdict(case)
    if verdict is None:
        return [Line("Gate: it has not spoken of this revision yet", "bold")]
    asked = "no loss beyond a margin" if case.draft.certify is Certify.NOT_WORSE else "a gain"
    told: Pieces = [
        Line(f"Gate: {verdict.kind}. {verdict.why} [{verdict.code}]", "bold"),
        f"  asked for {asked}, mode {verdict.mode}",
        f"  {verdict.pairs} pairs, {verdict.decided} of them told the arms apart",
        f"  won in {verdict.clusters_won} of {verdict.target_clusters} kinds of work",
    ]
    if verdict.wealth is not None:
        # With alpha the gate accepts at 1/alpha, however often it looks.
        needed = f" of {1 / verdict.alpha:.3g} that it needs" if verdict.alpha else ""
        told.append(f"  wealth {curve(verdict.path)} {verdict.wealth:.3g}{needed} (starts at 1)")
    rows = [_score("base", verdict.base), _score("with it", verdict.proposal)]
    told.append(Table(columns=("arm", "score", "95 % interval", "fresh trials"), rows=rows))
    if verdict.guards:
        guards = [(g.task, g.pairs, g.harm, g.total, g.unseen_loss) for g in verdict.guards]
        told.append(
            Table(
                title="Guards: other work that must not suffer",
                columns=("task", "pairs", "harm", "gain", "loss that could go unseen"),
                rows=guards,
            )
        )
    else:
        told.append("  guards: none; whether other work suffers was not tried")
    told.append(f"  trials lost: base {verdict.losses_base}, with it {verdict.losses_draft}")
    return told


def _score(arm: str, value: Estimate | None) -> tuple[object, ...]:
    if value is None:
        return (arm, None, None, 0)
    return (arm, f"{value.mean:.2f}", f"{value.low:.2f} to {value.high:.2f}", value.n)


def _safety(case: Dossier) -> Pieces:
    if not case.safety:
        return [Line("Safety: not checked yet", "bold")]
    newest = case.safety[-1]
    if newest.passed:
        return [Line("Safety: nothing found", "bold")]
    rows = [(finding.code, finding.risk, finding.text) for finding in newest.findings]
    return [Table(title="Safety: found", columns=("finding", "risk", "what and where"), rows=rows)]


def _history(case: Dossier) -> Iterable[Piece | str]:
    if case.reviews:
        yield Table(
            title="Reviews",
            columns=("when", "who", "decision", "reason"),
            rows=[
                (f"{r.at:{TIME}}", r.reviewer, _decided(r.decision), r.reason or None) for r in case.reviews
            ],
        )
    if case.releases:
        yield Table(
            title="Releases",
            columns=("release", "when", "who", "step", "file", "what"),
            rows=[(r.number, f"{r.at:{TIME}}", r.actor, r.step, r.path, _what(r)) for r in case.releases],
        )


def _decided(decision: Decision) -> str:
    return "approved" if decision is Decision.APPROVE else "rejected"


def _what(release: Release) -> str:
    what = "publishes" if release.undoes is None else f"undoes {release.undoes}"
    return f"{what}: {release.reason}" if release.reason else what


def shown_diff(case: Dossier, parts: Parts) -> Pieces:
    return [Line("Diff", "bold"), readable(difference(case.draft, parts)), ""]


def readable(diff: str) -> Diff:
    """A diff for the eyes, in which the line ends of Windows do not show."""
    return Diff(diff.replace("\r\n", "\n"))

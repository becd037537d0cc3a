"""How a proposal is explained: each condition of the gate, each demand of adopting. Relieves `explain`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nightschool.cli import dossiers
from nightschool.cli.exits import ExitCode
from nightschool.cli.output import Output
from nightschool.cli.render import Line, Piece, Table
from nightschool.rules.came_to import in_short

if TYPE_CHECKING:
    from nightschool.core.proposals import Dossier
    from nightschool.rules.conditions import Condition
    from nightschool.wiring import Parts

HOLDS = {True: "yes", False: "NO", None: "not known yet"}
DEMANDS = (
    (("wrong-state",), "it waits for your word"),
    (("no-actor",), "somebody is named who decides"),
    (("safety-missing", "safety-failed"), "the safety check of this revision found nothing"),
    (("unsafe-",), "looked at again now, nothing unsafe is in it"),
    (("verdict-", "waiver-missing"), "the gate accepted it, or you give a reason of your own"),
    (("content-missing", "digest-differs"), "what would be written is what was examined, byte for byte"),
    (("pinned",), "the file is not pinned"),
    (("live-changed",), "the file is still the one that it was made from"),
)
"""What adopting asks, by the codes (or their beginnings) of what speaks against it."""


def explain(name: str, out: Output) -> ExitCode:
    """A proposal by its id or the beginning of it."""
    from nightschool.cli.opening import opening  # noqa: PLC0415 - few commands need it
    from nightschool.stages.publish import objections  # noqa: PLC0415
    from nightschool.stages.releases import dossier  # noqa: PLC0415
    from nightschool.stages.silences import silences  # noqa: PLC0415

    with opening(fleeting=True, forgiving=True) as parts:
        case = dossier(parts.store, name)
        asked = _conditions(case, parts)
        against = objections(
            case.draft.id,
            store=parts.store,
            live=parts.live,
            place=parts.place,
            vet=parts.vet(),
            actor=parts.actor,
        )
        demands = list(_demands(against))
        verdict = case.verdict
        document = {
            "proposal": case.draft.id,
            "status": case.status,
            "stale": dossiers.is_stale(case, parts),
            "verdict": verdict and {"kind": verdict.kind, "code": verdict.code, "why": verdict.why},
            "gate": asked,
            "silent": silences(verdict, parts.store, parts.policy()),
            "adopting": [{"asked": text, "holds": not found, "found": found} for text, found in demands],
            "next": dossiers.following(case, parts),
        }
        return out.result(document, _told(case, asked, demands, parts))


def _conditions(case: Dossier, parts: Parts) -> Sequence[Condition]:
    from nightschool.core.trials import LostPair, Pair  # noqa: PLC0415
    from nightschool.rules.conditions import conditions  # noqa: PLC0415
    from nightschool.rules.pairing import Losses  # noqa: PLC0415
    from nightschool.stages.examine import EXAMINED  # noqa: PLC0415

    verdict = case.verdict
    if verdict is None:
        return ()
    pairs: list[Pair] = []
    lost: list[LostPair] = []
    if verdict.wealth_key is not None:
        pairs += [p for p in parts.store.find(Pair, verdict.wealth_key) if p.role in EXAMINED]
        lost += [p for p in parts.store.find(LostPair, verdict.wealth_key) if p.role in EXAMINED]
    return conditions(case.draft, verdict, Losses.of(pairs, lost), parts.policy())


def _demands(against: Sequence[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Each demand with what speaks against it, and what speaks against adopting for another reason."""
    rest = list(against)
    for codes, text in DEMANDS:
        found = [one for one in rest if one[0].startswith(codes)]
        rest = [one for one in rest if one not in found]
        yield text, [why for _, why in found]
    for code, why in rest:
        yield code, [why]


def _told(
    case: Dossier,
    asked: Sequence[Condition],
    demands: Sequence[tuple[str, list[str]]],
    parts: Parts,
) -> list[Piece | str]:
    verdict = case.verdict
    told: list[Piece | str] = [
        Line(f"{case.draft.id}: {dossiers.shown_status(case, parts)}", "bold"),
        f"your words: {dossiers.words(case, parts.store) or 'not known any more'}",
        "",
    ]
    if verdict is None:
        told += [Line("Gate: it has not spoken of this revision yet", "bold"), ""]
    else:
        rows = [(HOLDS[one.holds], one.asked, one.found) for one in asked]
        title = f"What the gate asks of it. Its verdict: {in_short(verdict.kind)}"
        told += [Table(title=title, columns=("holds", "asked", "found"), rows=rows)]
        told += [f"in its words: {verdict.why}", *dossiers.silent(case, parts), ""]
    rows = [
        (HOLDS[not found], text, "; ".join(found) or "nothing speaks against it") for text, found in demands
    ]
    told.append(Table(title="What adopting it asks now", columns=("holds", "asked", "found"), rows=rows))
    return [*told, *(f"next: {command}" for command in dossiers.following(case, parts))]

"""The report of a cycle as Markdown: what was read, tried, and come to, with the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from nightschool.core.cycles import CycleReport, Learned, Spend
from nightschool.core.harness import Absent, Target
from nightschool.core.proposals import Edit
from nightschool.core.trials import AlphaEntry, Estimate
from nightschool.rules.came_to import in_full
from nightschool.rules.limits import limits_told
from nightschool.rules.telling import counted, dollars, left_out, no_task, took

YEAR = timedelta(days=365)

ARMS = {"base": "without the edit", "draft": "with the edit"}
MADE_FOR = {
    "train": "to practise",
    "target": "in exams",
    "side": "in exams",
    "suggest": "in exams",
    "report": "for the figures after an exam",
    "probe": "to find guards (other work, that must not suffer)",
    "guard": "with guards",
}
"""What a trial's purpose is called."""


def place_of(target: Target) -> str:
    return target.place


def markdown(report: CycleReport, file: Callable[[Target], str] = place_of) -> str:
    """The whole report. All texts in it are redacted already. `file` tells where a target lies."""
    lines = [
        f"# Cycle {report.cycle}",
        "",
        inline(setting(report)),
        "",
        "## Read",
        "",
        *(f"* {inline(line)}" for line in read_lines(report)),
        "",
        "## Learned",
        "",
        *(line for item in report.learned for line in _learned(item, file)),
        *([] if report.learned else ["Nothing was tried.", ""]),
        *_missing(report.missing),
        "## Cost",
        "",
        *(f"* {inline(line)}" for line in job_lines(report)),
        *(f"* {line}" for line in limits_told(report)),
        "",
        *(["## Notes", "", *(f"* {inline(note)}" for note in report.notes), ""] if report.notes else []),
        *([f"**Broke off:** {inline(report.failed)}", ""] if report.failed else []),
    ]
    return "\n".join(lines)


def read_lines(report: CycleReport) -> list[str]:
    """What a cycle stood on: what it knew of its projects, what was new of that, and what gave no task."""
    return [
        f"{stands_on(report)}; {counted(report.sessions_known, 'session')} known in all projects",
        *read_along(report.sessions_elsewhere),
        *(left_out(count, reason) for reason, count in report.left_out),
        *([f"{report.postponed} postponed to the next run"] if report.postponed else []),
        f"{counted(report.corrections, 'correction')}, {report.candidates} worth an edit; "
        f"{counted(report.tasks_train, 'task')} to practise on, {report.tasks_holdout} held out for the exam",
        *(no_task(count, code) for code, count in report.skipped),
        *(["which these are: nightschool tasks --none"] if report.skipped else []),
    ]


def stands_on(report: CycleReport) -> str:
    """How many sessions there are to learn from. A run goes by all of them, not by what is new alone."""
    new = f"{counted(report.sessions_read, 'session')} with something new"
    turns = counted(report.human_turns, "human turn")
    if report.sessions_own is None:
        return f"{new}, {turns}"
    whose, last = "all projects", "the last cycle"
    if report.roots is not None:
        whose, last = ("its project", "its last cycle") if len(report.roots) == 1 else ("its projects", last)
    known = counted(report.sessions_own, "session")
    return f"{known} of {whose} known, {report.sessions_read} of them with something new since {last}" + (
        f", {turns} in these" if report.sessions_read else ""
    )


def setting(report: CycleReport) -> str:
    """When, where and with what a cycle ran, in one line."""
    return (
        f"{report.started_at:%Y-%m-%d %H:%M} UTC, {took(report.ended_at - report.started_at)}. "
        f"Project: {report.project or 'all'}. Runner: {report.runner} {report.runner_version}, "
        f"model: {model_of(report)}, sandbox: {report.sandbox}, gate: {report.mode}."
    )


def model_of(report: CycleReport) -> str:
    return report.model or "the agent's own choice"


def read_along(sessions: int) -> list[str]:
    """What was read of other projects than the run's own."""
    if not sessions:
        return []
    return [f"of other projects {counted(sessions, 'session')} with something new, kept for their own runs"]


def unread(files: int, since: datetime | None) -> list[str]:
    """What a look back left out, and how to have it read."""
    if not files or since is None:
        return []
    older = counted(files, "older transcript")
    return [
        f"{older} left unread: this run looked back to {since:%Y-%m-%d}, which gave enough to learn from; "
        "`nightschool corrections` reads all, and the next run knows them"
    ]


def missing_line(missing: Sequence[Absent]) -> str:
    """How many of what kind, in one line."""
    counts = Counter(absent.kind for absent in missing)
    told = ", ".join(f"{count} x {kind}" for kind, count in sorted(counts.items()))
    return f"of your configuration and projects not there in the practice: {told}"


def _missing(missing: Sequence[Absent]) -> list[str]:
    if not missing:
        return []
    return [
        "## Not there in the practice",
        "",
        "Of your configuration and your projects; no try had it, without or with the edit:",
        "",
        *(f"* {inline(f'{absent.kind}: {absent.name} ({absent.place})')}" for absent in missing),
        "",
    ]


def _learned(item: Learned, file: Callable[[Target], str]) -> list[str]:
    came_to = f"**{in_full(item.code)}**: {inline(item.why)}"
    lines = [
        f"### {inline(item.statement)}",
        "",
        f"Said in {counted(item.sessions, 'session')}. {came_to}",
        "",
    ]
    if item.target is not None:
        lines += [
            f"File: {inline(file(item.target))}{f', since {inline(item.aim)}' if item.aim else ''}",
            "",
        ]
    if item.draft is not None:
        lines += [f"Proposal `{item.draft}`: `nightschool show {item.draft} --diff`", ""]
    if item.base is not None or item.proposal is not None:
        lines += [
            "| tried | passed | likely between | fresh tries |",
            "| --- | --- | --- | --- |",
            _row("without the edit", item.base),
            _row("with the edit", item.proposal),
            "",
        ]
    if item.edits:
        lines += ["Edits:", ""]
        lines += [f"* {_edit(one)}{f' ({inline(one.why)})' if one.why else ''}" for one in item.edits]
        lines += [""]
    if item.findings:
        lines += ["It would make worse:", "", *(f"* {inline(one.text)}" for one in item.findings), ""]
    if item.refused:
        lines += ["Refused edits:", ""]
        lines += [f"* {_edit(one.edit)}: {inline(one.text)}" for one in item.refused]
        lines += [""]
    return lines


def _edit(edit: Edit) -> str:
    match edit.op:
        case "add":
            return f"add: {inline(edit.rule)}"
        case "replace":
            return f"replace: {inline(edit.anchor)} by: {inline(edit.rule)}"
        case "delete":
            return f"delete: {inline(edit.anchor)}"


def promise(ledger: Iterable[AlphaEntry], accepts: Iterable[datetime], now: datetime) -> str | None:
    """How many false accepts a year's exams may hold: the sum of alpha over the hold-out versions on which
    a draft was examined in the last 365 days. None where none passed then."""
    passed = sum(now - at <= YEAR for at in accepts)
    versions: dict[str, float] = {}
    for entry in ledger:
        if now - entry.at <= YEAR:
            versions[entry.holdout] = max(entry.alpha, versions.get(entry.holdout, 0.0))
    if not versions or not passed:
        return None
    return (
        f"in the last 365 days edits passed an exam {counted(passed, 'time')}. Luck alone makes a useless "
        f"one pass now and then: in such a year that is to be expected of {sum(versions.values()):.2f} edits "
        f"at most (exams were held on {counted(len(versions), 'set')} of held-out tasks)"
    )


def _row(arm: str, value: Estimate | None) -> str:
    if value is None:
        return f"| {arm} | unknown | | 0 |"
    return f"| {arm} | {value.mean:.0%} | {value.low:.0%} and {value.high:.0%} | {value.n} |"


def cycle_line(report: CycleReport) -> str:
    """What a cycle read and tried, and how long it took, in one line."""
    return (
        f"{stands_on(report)}; {counted(report.tasks_train, 'task')} to practise on, "
        f"{report.tasks_holdout} held out for the exam; {took(report.ended_at - report.started_at)}"
    )


def job_lines(report: CycleReport) -> list[str]:
    """What a cycle's jobs were for, so that each figure is a part of another one that is told."""
    kinds: Counter[str] = Counter()
    for purpose, count in report.tries:
        kinds[MADE_FOR.get(purpose, purpose)] += count
    parts = ", ".join(f"{count} {what}" for what, count in kinds.items())
    written = f"; beside them {counted(report.edit_jobs, 'job')} that wrote edits" if report.edit_jobs else ""
    tried = counted(report.trials, "scored try", "scored tries")
    lost = ", ".join(f"{count} {ARMS.get(arm, arm)}" for arm, count in report.lost_by_arm)
    stayed = f"tries that stayed lost, though each was started again: {lost}; they count in no exam"
    return [
        spend_line(report.spend),
        f"{tried}{f': {parts}' if parts else ''}{written}",
        *([stayed] if lost else []),
    ]


def spend_line(spend: Spend) -> str:
    """Jobs, tokens and money in one line. Unknown is said, never counted as nothing."""
    tokens = counted(spend.tokens, "token")
    if spend.unknown_tokens:
        tokens += f" known, {counted(spend.unknown_tokens, 'job')} did not tell"
    cost = dollars(spend.cost)
    if spend.unknown_cost:
        cost = f"{cost} known, {counted(spend.unknown_cost, 'job')} did not tell"
    return (
        f"{counted(spend.jobs, 'job')} started, {spend.reused} answered from finished ones, "
        f"{spend.lost} lost; {tokens}; {cost}"
    )


def inline(text: str) -> str:
    """One line of Markdown that cannot open a row, a tag or a heading."""
    folded = " ".join(text.split())
    for mark in "\\`*_{}[]<>|#":
        folded = folded.replace(mark, "\\" + mark)
    return folded

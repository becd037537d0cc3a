"""`nightschool tasks protect`, `withhold` and `retire`: a person's word on one task."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.opening import opening
from nightschool.cli.options import Json, as_utf8
from nightschool.cli.output import Output
from nightschool.cli.render import Line, Piece
from nightschool.cli.tasks import Named
from nightschool.rules.telling import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from nightschool.core.ports import Store
    from nightschool.core.tasks import Task, TaskAct

Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept with it, and shown.")]
MayWhy = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, if you like; kept with it.")]
Off = Annotated[bool, typer.Option("--off", help="Protect it no longer.")]
OUT_OF_EXAM = (
    "what is examined from now on is examined on the other tasks; an edit that was half examined begins "
    "anew there, as one more edit of the same exam"
)


def protect(task: Named, *, off: Off = False, reason: MayWhy = "", json: Json = False) -> ExitCode:
    """Have a task tried in each exam before an edit is accepted, so that it can't be harmed unseen.

    Without this, guards are drawn at random among the tasks that an edit is not about. Only a task of the
    exam can guard, and only one that your agent does right without the edit: what fails anyway cannot suffer.

    \b
    Example:
      nightschool tasks protect t-1f2e3d4c5b6a
      nightschool tasks protect t-1f2e --off
    """
    from nightschool.core.tasks import TaskAct  # noqa: PLC0415 - help needs no core

    if off:
        return _say(task, TaskAct.RELEASE, reason, "protected no longer", json=json)
    told = "protected: each edit is tried on it"
    return _say(task, TaskAct.PROTECT, reason, told, json=json, known=_known)


def _known(task: Task, store: Store) -> str:
    """Whether it can guard, as far as tries without any edit told."""
    from nightschool.core.trials import Arm, Trial  # noqa: PLC0415 - help needs no core

    scores = [
        trial.score
        for trial in store.find(Trial)
        if trial.task == task.id and trial.arm is Arm.BASE and trial.score is not None
    ]
    if not scores:
        return (
            "whether your agent does it right as things are is not known yet: the next exam that comes to "
            "its guards tries it up to 5 times, and gives it no pairs where it never passes: then it cannot "
            "suffer"
        )
    passed = sum(score >= 1 for score in scores)
    told = f"tried without an edit so far it passed {passed} of {counted(len(scores), 'time')}"
    return told if passed else f"{told}: what never passes cannot suffer, and guards nothing"


def withhold(task: Named, *, reason: Why = "", json: Json = False) -> ExitCode:
    """Take a task out of the exam, for a reason that is not how it came out.

    A good reason is one that you could give before any edit was tried: the code it works on is gone, its
    check asks for what you no longer want. To take out the tasks that an edit fails would make the exam
    say what you like. So it takes a reason, which stays with the task, and it gives nothing back: what is
    examined on other tasks counts as one more edit of the same exam. It stays out.

    \b
    Example:
      nightschool tasks withhold t-1f2e3d4c5b6a --reason "the importer was removed"
    """
    from nightschool.core.tasks import TaskAct  # noqa: PLC0415 - help needs no core

    return _say(task, TaskAct.WITHHOLD, reason, f"taken out of the exam; {OUT_OF_EXAM}", json=json)


def retire(task: Named, *, reason: Why = "", json: Json = False) -> ExitCode:
    """Use a task no more, neither to practise nor in an exam.

    Of a task of the exam the same holds as for `tasks withhold`: the reason should be one that you could
    give before any edit was tried. It stays out, since who could bring it back by how an exam came out could
    make it say what one likes. To have its work again, write it as a new task: `nightschool tasks import`.

    \b
    Example:
      nightschool tasks retire t-1f2e3d4c5b6a --reason "we moved to another build tool"
    """
    from nightschool.core.tasks import TaskAct  # noqa: PLC0415 - help needs no core

    return _say(task, TaskAct.RETIRE, reason, "retired: it serves no more", json=json)


def _say(
    which: str,
    act: TaskAct,
    reason: str,
    told: str,
    *,
    json: bool,
    known: Callable[[Task, Store], str] | None = None,
) -> ExitCode:
    from nightschool.core.tasks import TaskMark  # noqa: PLC0415
    from nightschool.stages.mark import find_task, mark  # noqa: PLC0415

    with opening() as parts:
        task = find_task(parts.store, which)
        before = {known.id for known in parts.store.find(TaskMark, task.id)}
        said = mark(
            task.id,
            act,
            store=parts.store,
            clock=parts.clock,
            redact=parts.redact,
            actor=parts.actor,
            reason=as_utf8("--reason", reason),
        )
        tried = "" if known is None else known(task, parts.store)
    written = said is not None and said.id not in before
    told = told if written else "it is so already; nothing was written"
    document = {"task": task.id, "act": act, "mark": said, "written": written}
    if tried:
        document["tries"] = tried
    shown = f"next: nightschool tasks show {shlex.quote(task.id)}"
    lines: list[Piece | str] = [Line(f"{task.id}: {told}", "bold"), *([tried] if tried else []), shown]
    return Output(json=json).result(document, lines)

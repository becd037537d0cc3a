"""Words on tasks are kept as they were said, and an exam holds to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in
from exam_builders import AT, GUARDS, TARGETS, exam, helpful, sit
from gate_builders import ScriptedPractice
from nightschool.core.errors import NotAllowed, NotFound
from nightschool.core.ports import Store
from nightschool.core.proposals import Verdict, VerdictKind
from nightschool.core.tasks import Split, TaskAct, TaskMark, task_digest
from nightschool.core.trials import AlphaEntry, Draw
from nightschool.rules.marks import sitting
from nightschool.stages.examine import Exam
from nightschool.stages.mark import find_task, mark
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    made = MemoryStore()
    made.commit(*TARGETS, *GUARDS)
    return made


def say(store: Store, which: str, act: TaskAct, reason: str = "") -> TaskMark | None:
    return mark(
        which,
        act,
        store=store,
        clock=FakeClock(AT),
        redact=lambda text: text.replace("hunter2", "[secret]"),
        actor="sam",
        reason=reason,
    )


def test_a_word_is_kept_with_who_when_and_why_redacted(store: MemoryStore) -> None:
    """And said again it is the same word; nothing is written."""
    first = say(store, TARGETS[0].id, TaskAct.WITHHOLD, "its key hunter2 is gone")
    assert first is not None
    assert (first.actor, first.at, first.reason) == ("sam", AT, "its key [secret] is gone")
    assert say(store, TARGETS[0].id, TaskAct.WITHHOLD, "another reason") == first
    assert store.find(TaskMark) == (first,)


def test_a_refused_word_leaves_nothing(store: MemoryStore) -> None:
    """Every reason at once, and no record."""
    say(store, TARGETS[0].id, TaskAct.PROTECT)
    with pytest.raises(NotAllowed) as refused:
        say(store, TARGETS[0].id, TaskAct.RETIRE)
    assert {code for code, _ in refused.value.reasons} == {"reason-missing", "protected"}
    assert len(store.find(TaskMark)) == 1
    say(store, TARGETS[0].id, TaskAct.RELEASE)
    assert say(store, TARGETS[0].id, TaskAct.RELEASE) is None
    assert say(store, TARGETS[0].id, TaskAct.RETIRE, "the folder is gone") is not None


def test_a_task_is_named_by_its_id_or_its_beginning(store: MemoryStore) -> None:
    """Never by a likeness: what names none, or several, is refused."""
    assert find_task(store, TARGETS[3].id[:9]) == TARGETS[3]
    with pytest.raises(NotFound, match="nightschool tasks"):
        find_task(store, "t-none")
    with pytest.raises(NotFound):
        find_task(store, "t-")
    with pytest.raises(NotFound):
        find_task(store, "")


def test_taking_a_task_out_begins_a_new_k_of_the_same_alpha(store: MemoryStore) -> None:
    """The wealth on the other tasks starts anew as the next draft of the same ledger: no alpha is given
    back, and the task is drawn no more."""
    begun = sit(exam(), ScriptedPractice(helpful, jobs=14), store)
    assert (begun.kind, begun.k) == (VerdictKind.UNDECIDED, 1)
    say(store, TARGETS[0].id, TaskAct.WITHHOLD, "its project was rewritten")
    practice = ScriptedPractice(helpful)
    verdict = sit(_sat(store), practice, store, cycle="next")
    assert (verdict.holdout, verdict.k) == (begun.holdout, 2)
    assert verdict.alpha is not None
    assert begun.alpha is not None
    assert verdict.alpha < begun.alpha
    assert len(verdict.path) == verdict.pairs + 1
    assert TARGETS[0].id not in {request.task.id for request in practice.asked}
    assert [entry.k for entry in store.find(AlphaEntry)] == [1, 2]


def test_what_a_person_protects_is_among_the_guards(store: MemoryStore) -> None:
    """Whatever is drawn: each protected task gets its five pairs before an accept."""
    say(store, GUARDS[7].id, TaskAct.PROTECT)
    verdict = sit(_sat(store), ScriptedPractice(helpful), store)
    assert verdict.kind is VerdictKind.ACCEPT
    assert GUARDS[7].id in {guard.task for guard in verdict.guards if guard.pairs >= 5}


def _sat(store: MemoryStore) -> Exam:
    """The exam of the builders on what sits in it by the words that were said."""
    whole = exam()
    sat = sitting(whole.holdout, whole.tasks, store.find(TaskMark))
    key = replace(whole.key, checks=task_digest(sat.tasks))
    return replace(whole, tasks=sat.tasks, out=sat.out, protected=sat.protected, key=key)


def test_a_cycle_holds_to_what_was_said(tmp_path: Path) -> None:
    """A protected target is tried as a guard too, and what was taken out is drawn by no exam."""
    with cycle_in(Place.made(tmp_path), runner=QuickRunner()) as (parts, cycle), cycle.held():
        prepared = cycle.prepare(parts.harvest_request(everything=True))
        held = [task for task in prepared.mined.tasks if task.split is Split.HOLDOUT and task.concerns]
        kept, gone = held[0].id, held[1].id
        for which, act in ((kept, TaskAct.PROTECT), (gone, TaskAct.WITHHOLD)):
            say(parts.store, which, act, "for the test")
        cycle.practise(prepared)
        verdicts = [one for one in parts.store.find(Verdict) if one.kind is VerdictKind.ACCEPT]
        assert verdicts
        assert kept in {guard.task for one in verdicts for guard in one.guards}
        assert gone not in {draw.task for draw in parts.store.find(Draw)}

"""Tasks of a file: validated against what is known, each on one side of the split, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import agent, human, session
from gate_builders import CANDIDATE, task
from nightschool.core.errors import UserError
from nightschool.core.forgetting import IgnoreList
from nightschool.core.harness import Absent
from nightschool.core.sessions import Session
from nightschool.core.tasks import (
    Assignment,
    FilesSource,
    Footprint,
    GitSource,
    Split,
    Task,
    TaskAct,
    TaskMark,
)
from nightschool.rules.ignoring import Ignoring
from nightschool.rules.splits import asks_alike
from nightschool.rules.task_file import ShownFile, TaskFile, WrittenTask
from nightschool.stages.bring import Bringing, Brought
from nightschool.stages.mine import mine
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore

APP = "/home/me/app"
COMMIT = "c" * 40
NOTHING_IGNORED = Ignoring()
CONCERN = replace(CANDIDATE, correction="c-0123456789", project=APP)
REQUESTS = (
    "Parse the uploaded invoices and index their totals by month",
    "Render a cache page for the schema of every queue we own",
    "Route tokens from the login form into the session table",
    "Translate all labels of the settings dialog into Danish",
    "Draw a histogram of response times below the status banner",
)


class Repository:
    """The `Projects` port: one repository with one commit."""

    def root(self, directory: str) -> str:
        return directory

    def commit_at(self, root: str, *, branch: str | None, at: datetime) -> str | None:
        return COMMIT

    def holds(self, root: str, commit: str) -> bool:
        return (root, commit) == (APP, COMMIT)

    def tracks(self, path: Path) -> bool:
        return False

    def text_at(self, root: str, commit: str, path: str) -> bytes | None:
        return None

    def absent(self, root: str, commit: str) -> Sequence[Absent]:
        return ()


def one(prompt: str = REQUESTS[0], *, concerns: Sequence[str] = (), reviewed: bool = True) -> WrittenTask:
    return WrittenTask(
        reviewed=reviewed,
        prompt=prompt,
        commit=COMMIT,
        concerns=tuple(concerns),
        check=(Footprint(wanted="pnpm"),),
    )


def bring(store: MemoryStore, *tasks: WrittenTask, project: str = APP, reviewed: bool = True) -> Brought:
    file = TaskFile(format="nightschool-tasks-1", project=project, reviewed=reviewed, task=tasks)
    return bringing(store).bring(file)


def bringing(store: MemoryStore, ignoring: Ignoring = NOTHING_IGNORED) -> Bringing:
    return Bringing(
        store=store,
        projects=Repository(),
        clock=FakeClock(datetime(2026, 4, 1, tzinfo=UTC)),
        redact=lambda text: text.replace("hunter2", "[secret]"),
        ignoring=ignoring,
        actor="sam",
        project=APP,
        where="my.toml",
    )


def known(prompt: str = REQUESTS[0], split: Split = Split.HOLDOUT) -> Task:
    """A task that a session gave."""
    made = task(prompt, split=split)
    start = GitSource(repository=APP, commit=COMMIT)
    return replace(made, prompt=prompt, project=APP, workspace=start, concerns=())


def as_written(known: Task) -> WrittenTask:
    return WrittenTask(
        reviewed=True,
        id=known.id,
        split=known.split.value,
        prompt=known.prompt,
        commit=COMMIT,
        check=known.checks,
    )


def test_a_file_that_nobody_edited_changes_nothing() -> None:
    """Its tasks are the known ones, and a task of a session needs no review."""
    store = MemoryStore()
    store.commit(known())
    brought = bring(store, as_written(known()))
    assert brought == Brought(tasks=(known(),), new=(), edited=(), reviewed=())
    assert (*store.find(Assignment), *store.find(TaskMark)) == ()


@pytest.mark.parametrize("split", list(Split))
def test_an_edited_task_is_a_new_one_beside_the_old(split: Split) -> None:
    """On the same side and of the same kind, also where its request is another; the old one stays."""
    store = MemoryStore()
    store.commit(known(split=split))
    for prompt in (REQUESTS[0] + " and year", REQUESTS[1]):
        brought = bring(store, replace(as_written(known(split=split)), prompt=prompt))
        (made,) = brought.tasks
        assert brought.edited == ((known(split=split).id, made.id),)
        assert (made.split, made.cluster) == (split, known().cluster)
        assert made.imported
    assert len(store.find(Task)) == 3


def test_an_imported_task_names_the_session_that_it_was_made_of() -> None:
    """That of the task that was edited, however often; else one that asked the same; else none."""
    store = MemoryStore()
    store.commit(known())
    (first,) = bring(store, replace(as_written(known()), prompt=REQUESTS[1])).tasks
    (second,) = bring(store, replace(as_written(first), prompt=REQUESTS[2])).tasks
    alike, own = bring(store, one(REQUESTS[2] + " please"), one(REQUESTS[3])).tasks
    assert [made.made_of for made in (first, second, alike, own)] == [*[known().session] * 3, ""]
    (of_own,) = bring(store, replace(as_written(own), prompt=REQUESTS[4])).tasks
    assert of_own.made_of == ""
    asked = session("s1", human("Sort the drawers of the archive by colour"), agent())
    store.commit(asked, Assignment(cluster="s-1", split=Split.TRAIN, sessions=(asked.id,)))
    (same,) = bring(store, one("Sort the drawers of the archive by colour")).tasks
    assert same.made_of == asked.id


def test_a_task_that_an_ignore_list_names_is_not_taken() -> None:
    """As a session it is left out before it is stored, and the word is not told."""
    store = MemoryStore()
    rules = Ignoring(own=IgnoreList(words=("invoices",)))
    file = TaskFile(format="nightschool-tasks-1", project=APP, reviewed=True, task=(one(), one(REQUESTS[1])))
    with pytest.raises(UserError, match=r"task 1: is left out by ignore\.words of your list") as refused:
        bringing(store, rules).bring(file)
    assert "nvoices" not in str(refused.value)
    assert store.find(Task) == ()


def test_all_that_is_wrong_with_each_task_is_told_at_once() -> None:
    """So that nobody mends one fault after the other; nothing of the file is taken."""
    store = MemoryStore()
    wrong = replace(one(concerns=("k-0000000000", "k-1111111111")), commit="d" * 40)
    with pytest.raises(UserError) as refused:
        bring(store, wrong, one(REQUESTS[1], concerns=("k-2222222222",)))
    told = [line.strip().partition(";")[0] for line in str(refused.value).splitlines()[1:]]
    assert told == [
        f"task 1: commit: {APP} has no commit {'d' * 40}",
        "task 1: concerns: there is no correction k-0000000000",
        "task 1: concerns: there is no correction k-1111111111",
        "task 2: concerns: there is no correction k-2222222222",
    ]
    assert store.find(Task) == ()


def test_what_reading_found_wrong_is_told_with_what_the_store_does() -> None:
    """One round for both, in the order of the file, of a task that is wrong by itself too. Where the file is
    of another project, what the store would say of its tasks says nothing."""
    store = MemoryStore()
    bad = ((1, "task 1: prompt: missing; add it"), (2, "task 2: check: 0 of them"))
    half = replace(one(), check=(), commit="d" * 40)
    tasks = (one(), half, one(REQUESTS[1], concerns=("k-2222222222",)))
    file = TaskFile(format="nightschool-tasks-1", project=APP, reviewed=True, task=tasks)
    with pytest.raises(UserError) as refused:
        bringing(store).bring(file, bad)
    told = [line.strip().partition(";")[0] for line in str(refused.value).splitlines()[1:]]
    assert told == [
        "task 1: prompt: missing",
        "task 2: check: 0 of them",
        f"task 2: commit: {APP} has no commit {'d' * 40}",
        "task 3: concerns: there is no correction k-2222222222",
    ]
    with pytest.raises(UserError, match="the file is of /elsewhere") as refused:
        bringing(store).bring(replace(file, project="/elsewhere"), bad)
    assert "task 2: check" in str(refused.value)
    assert "k-2222222222" not in str(refused.value)
    with pytest.raises(UserError, match="task 2: check"):
        bringing(store).bring(replace(file, task=(one(), one(REQUESTS[1]))), bad)
    assert store.find(Task) == ()


def test_what_a_task_concerned_stays_its_word_once_that_is_forgotten() -> None:
    """An exported task comes back as it is, whatever became of the correction; a new one may not name it."""
    store = MemoryStore()
    held = replace(known(), concerns=("k-0123456789",))
    store.commit(held)
    assert bring(store, replace(as_written(held), concerns=held.concerns)).tasks == (held,)
    with pytest.raises(UserError, match="there is no correction"):
        bring(store, one(REQUESTS[1], concerns=held.concerns))


def test_a_task_that_begins_with_nothing_comes_back() -> None:
    """Its session made all its files: that start is written and read as what it is."""
    store = MemoryStore()
    held = replace(known(), workspace=FilesSource())
    store.commit(held)
    assert bring(store, replace(as_written(held), commit=None, empty=True)).tasks == (held,)
    (made,) = bring(store, replace(one(REQUESTS[1]), commit=None, empty=True)).tasks
    assert made.workspace == FilesSource()


def test_where_the_work_begins_comes_with_a_task() -> None:
    """A task in another folder is another task; the one of a session keeps its own."""
    store = MemoryStore()
    here = replace(known(), folder="packages/web")
    store.commit(here)
    assert bring(store, replace(as_written(here), folder="packages/web")).tasks == (here,)
    there = bring(store, replace(as_written(here), folder="packages/api"), one(REQUESTS[1]))
    assert [made.folder for made in there.tasks] == ["packages/api", ""]
    assert there.edited == ((here.id, there.tasks[0].id),)


def test_a_file_read_twice_gives_the_same_tasks() -> None:
    """The second time nothing is new; a review that was missing is added, and none is said twice."""
    store = MemoryStore()
    first = bring(store, one(reviewed=False), one(REQUESTS[1]))
    assert len(first.new) == 2
    assert first.reviewed == (first.tasks[1].id,)
    again = bring(store, one(), one(REQUESTS[1]))
    assert again.tasks == first.tasks
    assert again.new == ()
    assert again.reviewed == (first.tasks[0].id,)
    assert bring(store, one(), one(REQUESTS[1])).reviewed == ()
    assert [mark.act for mark in store.find(TaskMark)] == [TaskAct.REVIEW] * 2


def test_a_task_is_reviewed_only_in_a_reviewed_file() -> None:
    """One `reviewed` alone is none."""
    assert bring(MemoryStore(), one(), reviewed=False).reviewed == ()


@given(st.lists(st.tuples(st.sampled_from(REQUESTS), st.integers(0, 2)), max_size=8))
def test_requests_alike_stand_on_one_side(asked: list[tuple[str, int]]) -> None:
    """Whatever is brought, in whatever order and files: no two tasks alike are parted by the split. One that
    is like a task of each side is refused."""
    store = MemoryStore()
    for request, more in asked:
        with suppress(UserError):
            bring(store, one(request + " please" * (more > 0) + f" and {more}" * (more > 1)))
    tasks = store.find(Task)
    assert not [
        (left, right)
        for left in tasks
        for right in tasks
        if left.split is not right.split and asks_alike(left.prompt, right.prompt)
    ]


@pytest.mark.parametrize("split", list(Split))
def test_what_a_session_asks_alike_shares_its_side_and_cluster(split: Split) -> None:
    """So that an edit's words never come from a session that asks what an exam asks."""
    store = MemoryStore()
    asked = session("s1", human(REQUESTS[0]), agent())
    store.commit(asked, Assignment(cluster="s-1", split=split, sessions=(asked.id,)))
    (made,) = bring(store, one(REQUESTS[0])).tasks
    assert (made.cluster, made.split) == ("s-1", split)


def test_a_later_session_that_asks_alike_joins_the_tasks_cluster() -> None:
    """The side of a brought task is decided before anything is mined: sessions follow it."""
    store = MemoryStore()
    brought = bring(store, *(one(request) for request in REQUESTS)).tasks
    later: list[Session] = [
        session(f"s{number}", human(request), agent(), day=number, project=APP)
        for number, request in enumerate(REQUESTS)
    ]
    mined = mine(later, store=store, projects=Repository(), scope=APP)
    homes = {name: a for a in mined.assignments for name in a.sessions}
    for number, made in enumerate(brought):
        home = homes[f"claude-code:s{number}"]
        assert (home.cluster, home.split) == (made.cluster, made.split)


def test_what_would_stand_on_both_sides_is_refused() -> None:
    """A request like one for training and like one of the exam can be neither."""
    words = [f"word{number}" for number in range(40)]
    store = MemoryStore()
    left = replace(known(" ".join(words[:37]), Split.TRAIN), session="a")
    right = replace(known(" ".join(words[3:]), Split.HOLDOUT), session="b")
    store.commit(left, right)
    assert not asks_alike(left.prompt, right.prompt)
    with pytest.raises(UserError, match=r"task 1: prompt: .*for training, and in one of the exam"):
        bring(store, one(" ".join(words)))
    assert len(store.find(Task)) == 2


def test_the_first_tasks_of_a_correction_are_for_training() -> None:
    """Two clusters to learn from are enough; what comes then is for the exam."""
    store = MemoryStore()
    store.commit(CONCERN)
    brought = bring(store, *(one(request, concerns=[CONCERN.id]) for request in REQUESTS))
    assert [made.split for made in brought.tasks] == [Split.TRAIN] * 2 + [Split.HOLDOUT] * 3


def test_an_unreviewed_task_is_in_no_hold_out() -> None:
    """Until a person has read it, mining opens no version with it."""
    store = MemoryStore()
    store.commit(CONCERN)
    tasks = [one(request, concerns=[CONCERN.id], reviewed=False) for request in REQUESTS]
    bring(store, *tasks)
    mined = mine([], store=store, projects=Repository(), scope=APP)
    assert mined.tasks == ()
    assert mined.holdout is None
    brought = bring(store, *(replace(each, reviewed=True) for each in tasks))
    mined = mine([], store=store, projects=Repository(), scope=APP)
    assert mined.tasks == brought.tasks
    assert mined.holdout is not None
    assert len(mined.holdout.tasks) == 3


def test_secrets_do_not_come_in_with_a_file() -> None:
    """In requests and files a stand-in takes their place; a check or a path that holds one is refused."""
    store = MemoryStore()
    shown = (ShownFile(path="a.txt", text="key = hunter2"),)
    (made,) = bring(store, replace(one("log in with hunter2"), commit=None, file=shown)).tasks
    assert "hunter2" not in repr(made)
    for check in (Footprint(wanted="hunter2"), Footprint(unwanted="hunter2")):
        with pytest.raises(UserError, match="secret") as refused:
            bring(store, replace(one(), check=(check,)))
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (replace(one(), id="t-0123456789ab"), "id: /home/me/app has no task t-0123456789ab"),
        (replace(one(), commit="d" * 40), f"commit: /home/me/app has no commit {'d' * 40}"),
        (one(concerns=["k-0123456789"]), "concerns: there is no correction k-0123456789"),
        (replace(as_written(known()), split="train"), 'split: it is "holdout" and stays so'),
        (one(REQUESTS[4]), "is the same as another one"),
    ],
)
def test_one_wrong_task_keeps_all_out(wrong: WrittenTask, told: str) -> None:
    """What the store, the repository or the split speaks against is told with its place; nothing is kept."""
    store = MemoryStore()
    store.commit(known())
    with pytest.raises(UserError) as refused:
        bring(store, one(REQUESTS[4]), wrong)
    assert str(refused.value).startswith("my.toml")
    assert f"task 2: {told}" in str(refused.value)
    assert store.find(Task) == (known(),)
    assert (*store.find(Assignment), *store.find(TaskMark)) == ()


def test_a_file_of_another_project_is_refused() -> None:
    """Its tasks would be looked for in a repository that they are not of."""
    with pytest.raises(UserError, match="the file is of /elsewhere"):
        bring(MemoryStore(), one(), project="/elsewhere")
    store = MemoryStore()
    other = replace(known(), project="/elsewhere")
    store.commit(other)
    with pytest.raises(UserError, match="has no task"):
        bring(store, as_written(other))

"""Mining: split first, candidates from train moments, tasks with checks, idempotent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations import agent, bash, corrected, edit, human, read, session, write
from mine_builders import APP, COMMIT, REQUESTS, Repositories
from nightschool.core.sessions import Session
from nightschool.core.tasks import (
    Assignment,
    Candidate,
    Correction,
    FilesSource,
    Footprint,
    GitSource,
    HoldoutVersion,
    Split,
    Task,
    Touched,
)
from nightschool.rules.gate import overlap
from nightschool.rules.prose import is_acknowledgement
from nightschool.rules.voice import plain
from nightschool.stages.mine import NEW_VERSION, Mined, mine
from nightschool.testing.memory_store import MemoryStore


def run(
    sessions: Sequence[Session],
    store: MemoryStore | None = None,
    projects: Repositories | None = None,
    *,
    scope: str | None = None,
    max_tasks: int = 40,
) -> Mined:
    return mine(
        sessions,
        store=MemoryStore() if store is None else store,
        projects=Repositories() if projects is None else projects,
        scope=scope,
        max_tasks=max_tasks,
    )


def told(number: int, text: str = "use pnpm, not npm", *, project: str = APP) -> Session:
    return corrected(f"t{number}", REQUESTS[number], text, project=project, day=number)


def quiet(number: int, request: str | None = None) -> Session:
    made = write(f"{APP}/src/part{number}.py", f"value = {number}\n")
    asked = request or f"Feature{number} " + " ".join(f"word{number}x{n}" for n in range(9))
    return session(f"q{number}", human(asked), agent("Done.", made), day=number)


def codes(mined: Mined, one: Session) -> set[str]:
    return {code for name, code, _ in mined.skipped if name == one.id}


def test_a_recurring_correction_becomes_a_candidate_with_tasks() -> None:
    """The request before the correction is the prompt, and the correction's form its check."""
    mined = run([told(n) for n in range(6)])
    (candidate,) = mined.candidates
    assert candidate.check == Footprint(wanted="pnpm", unwanted="npm")
    assert candidate.project == APP
    assert len(candidate.sessions) == 6
    assert sorted(task.prompt for task in mined.tasks) == sorted(REQUESTS[:6])
    assert all(task.checks == (candidate.check,) and task.concerns == (candidate.id,) for task in mined.tasks)
    assert all(task.workspace == GitSource(repository=APP, commit=COMMIT) for task in mined.tasks)
    assert [task.split for task in mined.tasks].count(Split.TRAIN) == 2
    assert mined.holdout is not None
    assert len(mined.holdout.tasks) == 4


def test_nothing_of_a_held_out_session_reaches_an_editor() -> None:
    """Evidence and statement of a candidate are words of train sessions; the others lend only their ids."""
    sessions = [told(n, f"No! Use pnpm, not npm. Remark{n}") for n in range(6)]
    store = MemoryStore()
    mined = run(sessions, store)
    (candidate,) = mined.candidates
    train = {s for a in store.find(Assignment) if a.split is Split.TRAIN for s in a.sessions}
    assert {moment.session for moment in candidate.evidence} == train
    assert candidate.statement in {plain(moment.quote) for moment in candidate.evidence}
    assert set(candidate.sessions) == {one.id for one in sessions}


def test_the_statement_is_never_a_held_out_one() -> None:
    """Also where the clearest words were said in a hold-out session, an editor sees those of a train one."""
    store = MemoryStore()
    first = [
        told(0, "I asked you to use pnpm, not npm in this repository"),
        told(1, "we use pnpm here, not npm"),
    ]
    run(first, store)
    later = [*first, told(2, "use pnpm, not npm")]
    mined = run(later, store)
    assert mined.corrections[0].statement == "use pnpm, not npm"
    assert mined.candidates[0].statement == "we use pnpm here, not npm"


def test_one_session_is_no_candidate_and_holds_nothing_out() -> None:
    """B31: one mined session never serves training and validation: no hold-out target is left."""
    mined = run([told(0)])
    assert mined.candidates == ()
    assert [(one.statement, one.code) for one in mined.waiting] == [("use pnpm, not npm", "seen-once")]
    assert mined.holdout is None
    two = run([told(0), told(1)])
    assert {task.split for task in two.tasks} == {Split.TRAIN}
    assert two.holdout is None


def test_headless_and_sidechain_runs_are_left_out_and_counted() -> None:
    """B03: machine-started copies of a session add no recurrence, no task, and the report counts them."""
    one = told(0)
    headless = [replace(told(0), session_id=f"h{n}", headless=True) for n in range(9)]
    sidechain = [replace(told(0), session_id=f"s{n}", sidechain=True) for n in range(14)]
    mined = run([*headless, one, *sidechain])
    assert [c.sessions for c in mined.corrections] == [(one.id,)]
    assert mined.candidates == ()
    assert mined.tasks == ()
    found = [code for _, code, _ in mined.skipped]
    assert (found.count("headless"), found.count("sub-agent")) == (9, 14)


def test_injected_rows_make_no_cluster_and_no_task() -> None:
    """B02: sessions that open with an AGENTS.md row are known by what the person asked."""
    injected = human("# AGENTS.md instructions for /home/me/app\n\nAlways use pnpm, never npm.")
    sessions = [session(f"i{n}", injected, *told(n).turns, day=n, project=f"/home/me/p{n}") for n in range(3)]
    mined = run(sessions)
    assert len({a.cluster for a in mined.assignments}) == 3
    assert {task.prompt for task in mined.tasks} <= set(REQUESTS[:3])
    assert mined.tasks


def test_short_replies_commands_and_pastes_are_no_prompt() -> None:
    """ "yes", a slash command or a pasted log before the correction is passed over for the request."""
    log = "2026-03-01 10:00:00 ERROR boom\n2026-03-01 10:00:01 ERROR bang\n2026-03-01 10:00:02 ERROR"
    sessions = [
        session(
            f"y{n}",
            human(REQUESTS[n]),
            agent("Shall I?"),
            human("yes"),
            agent("Running.", bash("npm install a")),
            human(log),
            agent("I see."),
            human("/compact"),
            human("use pnpm, not npm"),
            agent("Done.", bash("pnpm add a")),
            day=n,
        )
        for n in range(2)
    ]
    assert sorted(task.prompt for task in run(sessions).tasks) == sorted(REQUESTS[:2])
    assert is_acknowledgement("commit/push")
    only = session("z", human("yes"), agent("Done.", write(f"{APP}/a.py", "a")))
    assert codes(run([only]), only) == {"no-request"}


def test_sessions_that_went_well_become_guards() -> None:
    """Where nobody corrected and files changed, the task is the first request and its check the files."""
    one = quiet(1)
    (task,) = run([one]).tasks
    assert task.checks == (Touched(paths=("src/part1.py",)),)
    assert task.concerns == ()


def test_stopped_and_fruitless_sessions_are_no_guards() -> None:
    """An interruption, or work that changed no file, gives no guard, with the reason."""
    stopped = session("a", human(REQUESTS[0]), agent("", write(f"{APP}/a.py", "a"), interrupted=True))
    talk = session("b", human(REQUESTS[1]), agent("It depends."))
    mined = run([stopped, talk])
    assert mined.tasks == ()
    assert codes(mined, stopped) == {"stopped"}
    assert codes(mined, talk) == {"no-files"}


def test_uncorrected_sessions_concern_a_candidate_by_what_they_did() -> None:
    """Work that holds the wanted or the unwanted term is a target, whether or not it was corrected there."""
    right = session("r", human(REQUESTS[5]), agent("Done.", bash("pnpm add x")), day=8)
    wrong = session("w", human(REQUESTS[6]), agent("Done.", bash("npm install x")), day=9)
    both = session("v", human(REQUESTS[7]), agent("Done.", bash("npm i x"), bash("pnpm add x")), day=10)
    mined = run([told(0), told(1), right, wrong, both])
    (candidate,) = mined.candidates
    concerned = {task.session for task in mined.tasks if candidate.id in task.concerns}
    assert {right.id, wrong.id} <= concerned
    assert codes(mined, both) == {"reference-fails"}


def test_a_check_that_the_corrected_work_passes_is_no_check() -> None:
    """What was corrected must fail its check, and the work after it must show what was wanted."""
    passes = [
        session(
            f"p{n}", human(REQUESTS[n]), agent("", bash("pnpm add x")), human("use pnpm, not npm"), agent()
        )
        for n in range(2)
    ]
    mined = run(passes)
    assert mined.tasks == ()
    assert codes(mined, passes[0]) == {"not-told-apart"}
    ignored = [
        session(
            f"i{n}",
            human(REQUESTS[n]),
            agent("", bash("npm i x")),
            human("use pnpm, not npm"),
            agent("", bash("ls")),
        )
        for n in range(2)
    ]
    assert codes(run(ignored), ignored[0]) == {"reference-fails"}


def test_work_that_builds_on_earlier_work_is_no_task() -> None:
    """A later request whose start state the session made itself cannot be replayed."""
    late = [
        session(
            f"l{n}",
            human(REQUESTS[n]),
            agent("", write(f"{APP}/a.py", "a")),
            human("Now add the left pad package to it"),
            agent("", bash("npm i x")),
            human("use pnpm, not npm"),
            agent("", bash("pnpm add x")),
        )
        for n in range(2)
    ]
    mined = run(late)
    assert mined.tasks == ()
    assert codes(mined, late[0]) == {"built-on-earlier-work"}


def test_a_dirty_tree_gives_the_files_that_the_session_shows() -> None:
    """A file that is shown before the first edit and differs from the commit: the commit is not the start."""
    old, new = "value = 1\n", "value = 2\n"
    one = session("d", human(REQUESTS[0]), agent("", read(f"{APP}/a.py", old), edit(f"{APP}/a.py", "1", "3")))
    (clean,) = run([one], projects=Repositories(texts={"a.py": old.encode()})).tasks
    assert clean.workspace == GitSource(repository=APP, commit=COMMIT)
    (dirty,) = run([one], projects=Repositories(texts={"a.py": new.encode()})).tasks
    assert isinstance(dirty.workspace, FilesSource)
    assert [(f.path, f.content) for f in dirty.workspace.files] == [("a.py", old.encode())]
    (bare,) = run([one], projects=Repositories(commit=None)).tasks
    assert bare.workspace == dirty.workspace


def test_a_commit_that_is_gone_is_replaced_by_the_nearest_in_time() -> None:
    """A squash or a rebase took the commit that the session names: no task of it could ever be tried."""
    one = replace(session("g", human(REQUESTS[0]), agent("", write(f"{APP}/a.py", "1\n"))), commit="e" * 40)
    (task,) = run([one]).tasks
    assert task.workspace == GitSource(repository=APP, commit=COMMIT)
    (kept,) = run([one], projects=Repositories(commit="e" * 40)).tasks
    assert kept.workspace == GitSource(repository=APP, commit="e" * 40)


def test_what_a_session_wrote_is_no_start_state() -> None:
    """Without git, a session that shows no file in full gives no task, and says why."""
    wrote = quiet(1)
    unseen = session("u", human(REQUESTS[0]), agent("", edit(f"{APP}/a.py", "1", "2")))
    mined = run([wrote, unseen], projects=Repositories(commit=None))
    assert mined.tasks == ()
    assert codes(mined, wrote) == codes(mined, unseen) == {"no-workspace"}


def test_worktrees_are_one_project() -> None:
    """Sessions in two worktrees of a repository are of one project, and their paths relative to it."""
    one = session(
        "w", human(REQUESTS[0]), agent("", write("/home/me/app-wt/src/a.py", "a")), project="/home/me/app-wt"
    )
    (task,) = run([one], projects=Repositories(worktrees={"/home/me/app-wt": APP})).tasks
    assert task.project == APP
    assert task.checks == (Touched(paths=("src/a.py",)),)


def test_a_correction_of_several_projects_is_the_users() -> None:
    """Seen in one project it belongs to that project, seen in several to the person."""
    mined = run([told(0), told(1, project="/home/me/web"), told(2, project="/home/me/web")])
    assert [candidate.project for candidate in mined.candidates] == [""]


def test_scope_takes_texts_and_tasks_of_one_project_alone() -> None:
    """With a scope nothing that was said or asked in another project is mined; each can train."""
    sessions = [*(told(n) for n in range(3)), *(told(n, project="/home/me/web") for n in range(3, 6))]
    mined = run(sessions, scope=APP)
    assert {task.project for task in mined.tasks} == {APP}
    assert {task.split for task in mined.tasks} == {Split.TRAIN, Split.HOLDOUT}
    inside = {one.id for one in sessions[:3]}
    assert {m.session for candidate in mined.candidates for m in candidate.evidence} <= inside
    assert len(mined.assignments) == 6


def snapshot(store: MemoryStore) -> list[object]:
    kinds = (Assignment, Correction, Candidate, Task, HoldoutVersion)
    return [tuple(store.find(kind)) for kind in kinds]


@settings(max_examples=25, deadline=None)
@given(st.permutations([*(told(n) for n in range(5)), *(quiet(n) for n in range(6))]), st.integers(0, 11))
def test_mining_again_changes_nothing(order: list[Session], cut: int) -> None:
    """Mining the same sessions twice stores nothing new, and what was assigned or made before stays."""
    store = MemoryStore()
    run(order[:cut], store)
    tasks, splits = set(store.find(Task)), set(store.find(Assignment))
    first = run(order, store)
    assert tasks <= set(store.find(Task))
    assert splits <= set(store.find(Assignment))
    before = snapshot(store)
    again = run(list(reversed(order)), store)
    assert snapshot(store) == before
    assert again == replace(first, new_tasks=0)


def test_caps_postpone_and_never_lose() -> None:
    """What the cap leaves is mined in the next run; targets come before guards."""
    sessions = [*(told(n) for n in range(3)), *(quiet(n) for n in range(3))]
    store = MemoryStore()
    first = run(sessions, store, max_tasks=2)
    assert (first.new_tasks, first.postponed) == (2, 4)
    assert all(task.concerns for task in first.tasks)
    second = run(sessions, store, max_tasks=2)
    third = run(sessions, store, max_tasks=2)
    assert (second.postponed, third.postponed) == (2, 0)
    assert len(third.tasks) == 6


def test_a_rewritten_history_makes_no_second_task() -> None:
    """A task that is known stays as it is when its commit would be found differently today."""
    store = MemoryStore()
    first = run([told(0), told(1)], store).tasks
    assert run([told(0), told(1)], store, Repositories(commit="d" * 40)).tasks == first


def test_a_request_never_stands_on_both_sides() -> None:
    """Sessions are parted by their first requests. Where a later one is asked again in a session of the
    other side, only one of them becomes a task: an overlap would make every exam invalid."""
    again = "Now upgrade all the packages of the project to their latest versions, please"
    sessions = [
        session(
            f"t{n}",
            human(REQUESTS[n]),
            agent("Read.", read(f"{APP}/a.txt", "x\n")),
            human(again + "!" * n),
            agent("Installed.", bash("npm update")),
            human("use pnpm, not npm"),
            agent("Done.", bash("pnpm update")),
            day=n,
        )
        for n in range(6)
    ]
    mined = run(sessions)
    assert {task.prompt.rstrip("!") for task in mined.tasks} == {again}
    assert len({task.split for task in mined.tasks}) == 1
    assert ["straddles" in codes(mined, one) for one in sessions].count(True) == 6 - len(mined.tasks) > 0
    held = [task for task in mined.tasks if task.split is Split.HOLDOUT]
    train = [task for task in mined.tasks if task.split is Split.TRAIN]
    assert overlap(held, train, []) is None


def test_a_new_holdout_version_starts_by_count_alone() -> None:
    """New hold-out tasks wait until ten, or half as many as there are, have come."""
    store = MemoryStore()
    sessions: list[Session] = []
    number = 0

    def grow(wanted: int) -> HoldoutVersion | None:
        nonlocal number
        found = None
        while sum(t.split is Split.HOLDOUT for t in store.find(Task)) < wanted:
            sessions.append(quiet(number))
            number += 1
            found = run(sessions, store).holdout
        return found

    one = grow(1)
    assert one is not None
    assert (one.number, len(one.tasks)) == (1, 1)
    assert grow(NEW_VERSION) == one
    two = grow(NEW_VERSION + 1)
    assert two is not None
    assert (two.number, len(two.tasks)) == (2, NEW_VERSION + 1)
    assert [version.number for version in store.find(HoldoutVersion)] == [1, 2]


def test_a_large_holdout_version_waits_for_half_as_many() -> None:
    """Ten new tasks start a version after a small one; after one of thirty it takes fifteen."""
    store = MemoryStore()
    store.commit(HoldoutVersion(pool="", number=1, tasks=tuple(f"t-{n}" for n in range(30))))
    sessions = [quiet(number) for number in range(15)]
    found = run(sessions, store)
    held = sum(task.split is Split.HOLDOUT for task in found.tasks)
    assert NEW_VERSION <= held < 15
    assert found.holdout is not None
    assert found.holdout.number == 1
    later = run([*sessions, *(quiet(number) for number in range(15, 30))], store)
    assert later.holdout is not None
    assert later.holdout.number == 2


def test_corrections_that_are_no_longer_heard_are_dropped() -> None:
    """Where all its sessions were read again and give it no more, a correction leaves the list."""
    store = MemoryStore()
    run([told(0, "use pnpm, not npm")], store)
    run([told(0, "use yarn, not npm")], store)
    assert [one.key for one in store.find(Correction)] == ["use yarn not npm"]
    run([told(1, "use uv, not pip")], store)
    assert len(store.find(Correction)) == 2

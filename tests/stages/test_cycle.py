"""The whole loop, over the demo's real transcripts in a temporary HOME."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, killed_at, run_cycle, tree
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.core.cycles import CycleReport, Learned
from nightschool.core.errors import AuthenticationFailed, Busy, NothingAnswers
from nightschool.core.jobs import Failed, Finished, Job, Outcome, Reason, Reservation, Role
from nightschool.core.proposals import Draft, Status, Verdict
from nightschool.core.sessions import Offset, Roots, Session, Window
from nightschool.core.tasks import Task
from nightschool.core.trials import Pair
from nightschool.rules.report import markdown
from nightschool.stages.cycle import Cycle
from nightschool.stages.harvest import HarvestRequest
from nightschool.stages.publish import adopt, reject
from nightschool.stages.releases import drafts
from nightschool.stages.undo import undo
from nightschool.testing.demo import apprentice
from nightschool.testing.scripted_runner import ScriptedRunner
from nightschool.wiring import Parts

OS_PATH = "use pathlib, not os.path"
"""The words that `corrections` shows, whoever else said it otherwise."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.made(tmp_path)


def about(report: CycleReport, statement: str = OS_PATH) -> Learned:
    return next(item for item in report.learned if item.statement == statement)


def test_the_loop_end_to_end(place: Place) -> None:
    """B05, B23: a correction in real sessions becomes an accepted proposal; nothing of the person's moves.

    Repository, index, hooks and the agents' folders stay the same: no replay's session is there. The
    apprentice takes no lots: a rule of its script that is likely is certain.
    """
    before = tree(place.person)
    with cycle_in(place) as (parts, cycle), cycle.held():
        known = apprentice()
        rules = tuple(replace(rule, probability=float(rule.probability > 0.5)) for rule in known.rules)
        cycle.door.runner = ScriptedRunner(
            script=replace(known, rules=rules), sandbox=parts.sandbox(), surface=parts.surface("scripted")
        )
        report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
    assert tree(place.person) == before
    assert {name.split("/")[0] for name in before} == {"ledger", ".claude", ".codex"}
    learned = about(report)
    assert learned.code == "accept", learned.why
    assert learned.base is not None
    assert learned.proposal is not None
    assert learned.base.mean < learned.proposal.mean
    assert (report.sessions_read, report.spend.unsettled, report.failed) == (15, 0, None)
    assert report.spend.jobs > report.trials // 2
    with cycle_in(place) as (parts, _):
        assert parts.store.get(CycleReport, report.cycle) == report
        (case,) = [case for case in drafts(parts.store) if case.draft.id == learned.draft]
        assert case.status is Status.IN_REVIEW
        after = parts.store.blob(case.draft.after)
        assert b"pathlib" in after
        assert (place.project / "CLAUDE.md").read_bytes() != after, "only adopt touches the live file"
    assert not list((place.ours / "work" / "jobs").iterdir()), "no workspace is left"


def test_the_report_lists_what_no_arm_had(place: Place) -> None:
    """What the person's configuration names and a replay has not stands in the report, names alone and
    redacted; where nothing is named nothing is listed."""
    assert run_cycle(place, runner=QuickRunner(), jobs=1).missing == ()
    token = "ghp_" + "a1B2" * 9
    servers = {"mail": {"env": {"TOKEN": token}}, token: {"url": "x"}}
    (place.person / ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    report = run_cycle(place, runner=QuickRunner(), jobs=1)
    named = {(absent.kind, absent.name, absent.place) for absent in report.missing}
    assert ("MCP server", "mail", str(place.person / ".claude.json")) in named
    assert len(named) == 2
    text = markdown(report)
    assert "* MCP server: mail (" in text
    assert token not in text
    assert token not in repr(report)


def test_a_user_level_draft_is_of_the_file_that_is_read(place: Place) -> None:
    """A draft of the person's own memory starts from the file in the folder that they moved, in both arms."""
    moved = place.person.parent / "moved"
    moved.mkdir()
    (moved / "CLAUDE.md").write_text("# Mine\n")
    runner = QuickRunner()
    with cycle_in(place, runner=runner) as (_, cycle), cycle.held():
        surface = ClaudeCodeSurface(environment={"CLAUDE_CONFIG_DIR": str(moved)})
        cycle.aiming = replace(cycle.aiming, surface=surface, scope="user")
        harvest = HarvestRequest(
            roots=Roots(home=str(place.person)), sources=("claude-code", "codex"), everything=True
        )
        cycle.practise(cycle.prepare(harvest))
    memories = {
        file.content.decode()
        for job in runner.jobs
        for file in job.harness.files
        if file.path == "user/.claude/CLAUDE.md"
    }
    assert "# Mine\n" in memories
    assert any("pathlib" in memory and memory.startswith("# Mine\n") for memory in memories)
    assert (moved / "CLAUDE.md").read_text() == "# Mine\n", "only adopt touches the live file"


def test_a_second_cycle_waits_for_the_person(place: Place) -> None:
    """B04: a cycle leaves nothing new to harvest, and what waits for review costs no further job."""
    first = run_cycle(place, runner=QuickRunner())
    assert about(first).code == "accept", about(first).why
    runner = QuickRunner()
    second = run_cycle(place, runner=runner, everything=False)
    assert (second.sessions_read, second.human_turns) == (0, 0)
    assert second.sessions_known == first.sessions_known
    learned = about(second)
    assert (learned.code, learned.draft) == ("waits-for-review", about(first).draft)
    assert learned.draft is not None
    assert learned.draft in learned.why
    assert (runner.jobs, second.spend.jobs) == ([], 0)


@pytest.mark.parametrize("lost", [False, True])
def test_a_file_changed_during_a_cycle_is_told_when_it_ends(place: Place, lost: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """The report says that a proposal is stale already, and what leads on from it."""
    live = place.project / "CLAUDE.md"
    with cycle_in(place, runner=QuickRunner()) as (parts, cycle), cycle.held():
        prepared = cycle.prepare(parts.harvest_request(everything=True))
        report = cycle.practise(prepared)
        assert not any("stale" in note for note in report.notes)
        draft = about(report).draft
        assert draft is not None
        (case,) = [case for case in drafts(parts.store) if case.draft.id == draft]
        live.write_bytes(parts.store.blob(case.draft.after) if lost else live.read_bytes() + b"\nmine\n")
        notes = cycle.report(prepared, report.learned).notes
    (note,) = [note for note in notes if draft in note]
    assert note.startswith(f"{live} was changed since {draft} was made, which is stale already: ")
    wanted = "the next run proposes anew" if lost else f"`nightschool rebase {draft}` makes it anew"
    assert wanted in note


def test_what_two_files_would_say_is_told_when_it_is_staged(place: Place) -> None:
    """A proposal for the person's own file beside one for the project's: the report names both, and says that
    one will do."""
    first = about(run_cycle(place, runner=QuickRunner())).draft
    with cycle_in(place, runner=QuickRunner()) as (parts, cycle), cycle.held():
        cycle.aiming = replace(cycle.aiming, scope="user")
        report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
    second = about(report).draft
    assert first is not None
    assert second is not None
    assert first != second
    own = place.person / ".claude" / "CLAUDE.md"
    (note,) = [note for note in report.notes if note.startswith(f"{second} says in {own} what {first} (")]
    assert "one of them will do" in note
    assert str(place.project / "CLAUDE.md") in note


def test_two_cycles_at_once_are_one_too_many(place: Place) -> None:
    """B56: the second is told that another runs, at once, and reads and writes nothing."""
    with cycle_in(place) as (_, running), running.held(), cycle_in(place) as (parts, second):
        with pytest.raises(Busy), second.held():
            pytest.fail("two cycles ran at once")
        assert parts.store.find(Session) == ()
    with cycle_in(place) as (_, third), third.held():
        pass


def test_a_killed_cycle_goes_on_where_it_was(place: Place) -> None:
    """B56: after a kill -9 no lock is left, no finished job runs again, and the verdict is the same. Each job
    of the exam that had finished is counted as one that answered, those of whole pairs too."""
    undisturbed = place.beside("undisturbed")
    expected = about(run_cycle(undisturbed, runner=QuickRunner()))
    began = killed_at(place, 14)
    with cycle_in(place) as (parts, _):
        finished = {record.key for record in parts.store.find(Finished)}
        answers = sum(record.draw is not None for record in parts.store.find(Finished))
        booked = {record.key for record in parts.store.find(Reservation)}
        assert parts.store.find(Pair)
        assert parts.store.find(CycleReport) == ()
    assert finished < set(began) <= booked, "the job that was killed stays booked"
    runner = QuickRunner()
    report = run_cycle(place, runner=runner)
    learned = about(report)
    assert report.spend.reused == answers
    keys = [job.key for job in runner.jobs]
    assert not finished & set(keys)
    assert len(keys) == len(set(keys))
    assert set(began) - finished <= set(keys), "what was broken off is made again, on its own draw"
    assert (learned.code, learned.draft, learned.pairs) == (expected.code, expected.draft, expected.pairs)
    with cycle_in(place) as (one, _), cycle_in(undisturbed) as (other, _):
        paths = [
            [(verdict.kind, verdict.code, verdict.path) for verdict in parts.store.find(Verdict)]
            for parts in (one, other)
        ]
        assert paths[0] == paths[1]


def _refuse(_job: Job) -> Outcome:
    raise AuthenticationFailed("the key is refused: log in again")


def test_a_refused_login_moves_no_cursor(place: Place) -> None:
    """A refused login is loud, moves no cursor and stages nothing; the next run sees all sessions."""
    with pytest.raises(AuthenticationFailed, match="log in again"):
        run_cycle(place, runner=QuickRunner(before=_refuse), everything=False)
    with cycle_in(place) as (parts, _):
        for kind in (Offset, Window, Draft):
            assert parts.store.find(kind) == (), kind
    fresh = run_cycle(place.beside("fresh"), runner=QuickRunner(), everything=False)
    again = run_cycle(place, runner=QuickRunner(), everything=False)
    assert again.sessions_read == fresh.sessions_read > 0
    assert about(again).code == about(fresh).code


def test_a_login_refused_later_keeps_the_cursors_of_before(place: Place) -> None:
    """Cursors go back to where they stood, not to the start: what an earlier run read stays read."""
    run_cycle(place, runner=QuickRunner())
    with cycle_in(place) as (parts, _):
        before = parts.store.find(Offset), parts.store.find(Window)
    (transcript,) = list((place.person / ".claude/projects").rglob("406c10d6*.jsonl"))
    copy = transcript.with_name("11111111-2222-4333-8444-555555555555.jsonl")
    copy.write_text(transcript.read_text().replace(transcript.stem, copy.stem))
    with cycle_in(place) as (parts, cycle):
        with pytest.raises(AuthenticationFailed):
            _read_one_and_be_refused(parts, cycle)
        assert (parts.store.find(Offset), parts.store.find(Window)) == before


def test_a_cycle_that_broke_off_is_told_the_morning_after(place: Place) -> None:
    """No further job could succeed: the reason is raised, and kept in a report that `status` shows."""

    def refused(job: Job) -> Outcome | None:
        raise AuthenticationFailed("the key is refused")

    with cycle_in(place, runner=QuickRunner(before=refused)) as (parts, cycle):
        with pytest.raises(AuthenticationFailed), cycle.held():
            cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
        (report,) = parts.store.find(CycleReport)
    assert report.failed == "the key is refused"
    assert (report.learned, report.cycle) == ((), cycle.number)


def _read_one_and_be_refused(parts: Parts, cycle: Cycle) -> None:
    with cycle.held():
        assert len(cycle.prepare(parts.harvest_request(everything=True)).harvested.sessions) == 1
        assert len(parts.store.find(Offset)) > 0
        raise AuthenticationFailed("the key is refused")


def test_nothing_to_learn_is_a_calm_report(tmp_path: Path) -> None:
    """Without sessions there is a report that says so, no job and no error."""
    runner = QuickRunner()
    report = run_cycle(Place.made(tmp_path, empty=True), runner=runner)
    assert (report.sessions_read, report.candidates, report.learned) == (0, 0, ())
    assert (runner.jobs, report.failed) == ([], None)
    assert report.notes[0].startswith("nothing to learn yet")


def test_a_cycle_that_lost_everything_explains_itself(place: Place) -> None:
    """Where every job is lost the run breaks off, the report says what they died of, redacted, and nothing
    is proposed."""
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    lost = Failed(reason=Reason.INFRASTRUCTURE, message=f"503 from the server for {secret}")
    with pytest.raises(NothingAnswers, match="503 from the server"):
        run_cycle(place, runner=QuickRunner(before=lambda _: lost))
    with cycle_in(place) as (parts, _):
        (report,) = parts.store.find(CycleReport)
        assert parts.store.find(Draft) == ()
    assert report.trials == 0
    assert report.failed is not None
    assert "503 from the server" in report.failed
    assert secret not in repr(report)
    assert report.spend.lost == report.spend.jobs > 0
    assert report.notes[0].startswith(
        f"{report.spend.lost} tries were lost: infrastructure: 503 from the server"
    )


def test_a_damaged_memory_file_is_named(place: Place) -> None:
    """A file that cannot be edited stops its own candidate alone: the report names file and way out."""
    (place.project / "CLAUDE.md").write_text("<!-- nightschool:begin -->\n- x\n")
    runner = QuickRunner()
    report = run_cycle(place, runner=runner)
    assert {item.code for item in report.learned} == {"needs-you"}
    assert str(place.project / "CLAUDE.md") in about(report).why
    assert "Nothing was changed" in about(report).why
    assert (runner.jobs, report.spend.jobs) == ([], 0)


def test_a_budget_that_ends_is_named(place: Place) -> None:
    """The limit on jobs is never passed, and each candidate that it left undone says so."""
    runner = QuickRunner()
    report = run_cycle(place, runner=runner, jobs=1)
    assert len(runner.jobs) <= 1
    assert {item.code for item in report.learned} == {"budget-ended"}
    assert report.ended_by == about(report).why
    assert f"* ended by: {report.ended_by}" in markdown(report)
    assert "* jobs: 0 of 1, 1 left" in markdown(report)
    assert "budget" in about(report).why


def test_what_a_budget_broke_off_goes_on(place: Place) -> None:
    """A later cycle takes up the draft where the budget ended the first, and repeats no finished job."""
    first, second = QuickRunner(), QuickRunner()
    broken_off = about(run_cycle(place, runner=first, jobs=8))
    assert broken_off.code in {"undecided", "budget-ended", "underpowered"}
    learned = about(run_cycle(place, runner=second))
    assert learned.code == "accept", learned.why
    assert not {job.key for job in first.jobs} & {job.key for job in second.jobs}


def test_a_rejected_proposal_is_not_made_again(place: Place) -> None:
    """What a person rejected is shown to the editor with the reason, and not proposed a second time."""
    first = about(run_cycle(place, runner=QuickRunner()))
    assert first.draft is not None
    with cycle_in(place) as (parts, _):
        reject(first.draft, store=parts.store, clock=parts.clock, actor="sam", reason="not in this project")
    runner = QuickRunner()
    learned = about(run_cycle(place, runner=runner))
    assert (learned.code, learned.draft) == ("no-edit", None)
    assert [item.code for item in learned.refused] == ["repeats-rejected"]
    assert "a person rejected it: not in this project" in shown_as_rejected(runner)


def test_what_is_adopted_is_not_learned_again(place: Place) -> None:
    """What is adopted, or was taken back by the person, is reported as that and not proposed again."""
    first = about(run_cycle(place, runner=QuickRunner()))
    assert first.draft is not None
    live = place.project / "CLAUDE.md"
    before = live.read_bytes()
    with cycle_in(place) as (parts, _):
        adopt(
            first.draft,
            store=parts.store,
            clock=parts.clock,
            live=parts.live,
            place=parts.place,
            vet=parts.vet(),
            actor="sam",
        )
    assert live.read_bytes() != before
    assert about(run_cycle(place, runner=QuickRunner())).code == "already-published"
    with cycle_in(place) as (parts, _):
        undo(None, store=parts.store, clock=parts.clock, live=parts.live, actor="sam")
    assert live.read_bytes() == before
    runner = QuickRunner()
    learned = about(run_cycle(place, runner=runner))
    assert (learned.code, learned.draft, runner.jobs) == ("taken-back", first.draft, [])


def test_what_was_taken_back_is_not_proposed_again_from_another_file(place: Place) -> None:
    """After an undo nothing is practised for it again, whatever became of the file since; the person's own
    word (`rebase`) takes it up."""
    first = about(run_cycle(place, runner=QuickRunner()))
    assert first.draft is not None
    with cycle_in(place) as (parts, _):
        ports = {"store": parts.store, "clock": parts.clock, "live": parts.live}
        adopt(first.draft, **ports, place=parts.place, vet=parts.vet(), actor="sam")  # type: ignore[arg-type]  # ports by name
        undo(None, **ports, actor="sam")  # type: ignore[arg-type]  # ports by name
    with (place.project / "CLAUDE.md").open("a") as live:
        live.write("\nWritten by hand.\n")
    runner = QuickRunner()
    learned = about(run_cycle(place, runner=runner))
    assert (learned.code, learned.draft) == ("taken-back", first.draft)
    assert f"nightschool rebase {first.draft}" in learned.why


def shown_as_rejected(runner: QuickRunner) -> str:
    """What the editor was told of rejected edits on pathlib."""
    (shown,) = [
        file.content.decode()
        for job in runner.jobs
        if job.role is Role.EDIT
        for file in job.files
        if file.path == "evidence/rejected.json" and b"pathlib" in file.content
    ]
    return shown


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("# l\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (None, "is no regular file"),
    ],
)
def test_a_memory_file_that_cannot_be_edited_is_said_before_a_job_is_spent(
    place: Place, content: bytes | None, why: str
) -> None:
    """Another encoding, a folder in its place: the report names file and way out."""
    live = place.project / "CLAUDE.md"
    live.unlink()
    if content is None:
        live.mkdir()
    else:
        live.write_bytes(content)
    runner = QuickRunner()
    report = run_cycle(place, runner=runner)
    assert {item.code for item in report.learned} == {"needs-you"}
    assert why in about(report).why
    assert str(live) in about(report).why
    assert runner.jobs == []


def test_an_editor_sees_no_held_out_request(place: Place) -> None:
    """B35: of all that editors were given in a cycle nothing is of a held-out task's session."""
    runner = QuickRunner()
    run_cycle(place, runner=runner)
    with cycle_in(place) as (parts, _):
        held_out = [task for task in parts.store.find(Task) if task.split == "holdout"]
    seen = "\n".join(
        job.prompt + "\n".join(file.path + "\n" + file.content.decode() for file in job.files)
        for job in runner.jobs
        if job.role is Role.EDIT
    )
    assert held_out
    assert "pathlib" in seen
    for task in held_out:
        assert task.prompt not in seen
        assert task.session not in seen
        assert task.id not in seen

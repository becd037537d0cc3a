"""Proposing an edit: what the editor is shown, how its answer is read, what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from job_builders import (
    CANDIDATE,
    CHECK,
    FREE,
    LOST,
    MOMENT,
    TARGET,
    FakeRunner,
    did,
    door_of,
    replay_of,
    requests_of,
    runs_of,
    task_of,
)
from nightschool.core.errors import UserError
from nightschool.core.harness import File, Harness
from nightschool.core.jobs import Delivered, Failed, Job, JobOptions, Outcome, Reason, Role
from nightschool.core.proposals import Certify, Edit, RefusedEdit
from nightschool.core.sessions import ToolCall
from nightschool.core.tasks import Split
from nightschool.core.values import digest_bytes
from nightschool.rules.memory_block import apply
from nightschool.stages.consolidate import Consolidate, Material, Proposed, parse_reply, proposed_harness
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore

RULE = "Use pnpm, not npm."
ADD: dict[str, Any] = {
    "op": "add",
    "rule": RULE,
    "anchor": "",
    "session": MOMENT.session,
    "turn": MOMENT.turn,
    "why": "said twice",
}
LIVE = b"# House rules\n"


def reply(*edits: dict[str, Any]) -> str:
    return json.dumps({"edits": edits})


def material(
    *prompts: str, live: bytes | None = LIVE, rejected: Sequence[RefusedEdit] = (), mode: int | None = 0o640
) -> Material:
    files = () if live is None else (File(path=TARGET.place, content=live),)
    return Material(
        candidate=CANDIDATE,
        tasks=tuple(task_of(prompt) for prompt in prompts or ("Set it up",)),
        base=Harness(files=files),
        target=TARGET,
        path="/home/sam/shop/CLAUDE.md",
        live_content=live,
        live_mode=mode if live is not None else None,
        rejected=tuple(rejected),
    )


def agent(*replies: str, attempt: Outcome | None = None) -> FakeRunner:
    """Fails at attempts, unless told otherwise, and answers edits with one reply after the other."""
    left = list(replies)

    def answer(job: Job, _before: int) -> Outcome:
        if job.role is Role.EDIT:
            return Delivered(reply=left.pop(0) if len(left) > 1 else left[0], usage=FREE)
        return attempt or did("npm install", reply="I ran it")

    return FakeRunner(answer)


def propose(runner: FakeRunner, given: Material, store: MemoryStore, *, budget: int = 4) -> Proposed:
    replay = replay_of(door_of(runner, store), store)
    return Consolidate(
        ask=replay.ask,
        known=replay.door.known,
        practice=replay,
        store=store,
        clock=FakeClock(),
        runner=runner.name,
        runner_version="1",
        options=JobOptions(),
        edit_budget=budget,
        cycle="n-0001",
    ).propose(given)


def edit_jobs(runner: FakeRunner) -> list[Job]:
    return [job for job in runner.jobs if job.role is Role.EDIT]


def shown(job: Job) -> dict[str, str]:
    return {file.path: file.content.decode() for file in job.files}


def test_an_edit_becomes_a_draft_of_the_live_bytes() -> None:
    """What is taken is applied to the live file as it is, and the draft binds to what it was made from."""
    store = MemoryStore()
    given = material()
    proposed = propose(agent(reply(ADD)), given, store)
    draft = proposed.draft
    assert draft is not None
    assert (proposed.code, proposed.refused) == ("proposed", ())
    after = store.blob(draft.after)
    assert after == apply(LIVE, draft.edits).content
    assert after.startswith(LIVE)
    assert RULE.encode() in after
    assert (draft.base, draft.live, draft.live_mode) == (given.base.digest, digest_bytes(LIVE), 0o640)
    assert draft.before is not None
    assert store.blob(draft.before) == LIVE
    assert draft.edits[0].moment == MOMENT
    placed = proposed_harness(draft, given.base, store).get(TARGET.place)
    assert placed == File(path=TARGET.place, content=after, mode=0o640)


def test_a_file_that_is_not_there_yet_is_made() -> None:
    """Without a live file the draft says so with None, not with an empty file."""
    store = MemoryStore()
    draft = propose(agent(reply(ADD)), material(live=None), store).draft
    assert draft is not None
    assert (draft.live, draft.live_mode, draft.before) == (None, None, None)
    assert RULE.encode() in store.blob(draft.after)


def test_the_editor_sees_what_was_said_and_what_was_done() -> None:
    """The evidence holds the person's words, the memory file, and each failure in full."""
    runner = agent(reply(ADD))
    propose(runner, material("Set it up"), MemoryStore())
    (job,) = edit_jobs(runner)
    files = shown(job)
    said = json.loads(files["evidence/candidate.json"])
    assert said["statement"] == CANDIDATE.statement
    assert said["evidence"] == [{"session": MOMENT.session, "turn": MOMENT.turn, "quote": MOMENT.quote}]
    assert files["evidence/memory.md"] == LIVE.decode()
    assert files["evidence/failures/1/request.md"] == "Set it up"
    assert files["evidence/failures/1/reply.md"] == "I ran it"
    assert files["evidence/failures/1/changed.txt"] == "setup.sh\nnpm install"
    assert job.harness == Harness(), "an editor works without the harness that it edits"


def test_the_editor_never_sees_how_it_is_judged() -> None:
    """B35: no check, no word of the judge, no task id and nothing of the hold-out is in the editor's job."""
    store, runner = MemoryStore(), agent(reply(ADD))
    hidden = task_of("A held-out request", split=Split.HOLDOUT)
    (seen,) = requests_of("unused")
    replay = replay_of(door_of(runner, store), store)
    trials = [
        *replay.trials([replace(seen, task=hidden, purpose="target", draw=1)]),
        *replay.trials([replace(seen, task=task_of())]),
    ]
    propose(runner, material(), store)
    (job,) = edit_jobs(runner)
    everything = "\n".join([job.prompt, *shown(job).values(), *shown(job)])
    notes = [trial.note for trial in trials]
    for word in (
        *notes,
        hidden.prompt,
        hidden.id,
        task_of().id,
        "footprint",
        "unwanted",
        "wanted",
        "holdout",
        "score",
        *CANDIDATE.sessions[1:],
    ):
        assert word, "an empty word would show nothing"
        assert word not in everything
    assert job.task is None
    assert repr(CHECK) not in repr(job)


def test_only_failures_are_shown() -> None:
    """What the agent did right is no evidence of a failure."""
    runner = FakeRunner(
        lambda job, _: (
            Delivered(reply=reply(ADD))
            if job.role is Role.EDIT
            else did("pnpm install" if job.prompt == "good" else "npm install")
        )
    )
    propose(runner, material("good", "bad"), MemoryStore())
    (job,) = edit_jobs(runner)
    requests = [text for path, text in shown(job).items() if path.endswith("request.md")]
    assert requests == ["bad"]


def test_a_reply_that_cannot_be_read_is_asked_for_once_more() -> None:
    """A bad reply is answered with the exact error, once; the second reply then counts."""
    bad = json.dumps({"edits": [ADD | {"turn": "two", "mood": "good"}]})
    runner = agent(bad, reply(ADD))
    proposed = propose(runner, material(), MemoryStore())
    first, second = edit_jobs(runner)
    with pytest.raises(ValueError, match=r"edits\.0\.turn") as error:
        parse_reply(bad, CANDIDATE)
    assert "edits.0.mood" in str(error.value)
    assert str(error.value) in second.prompt
    assert str(error.value) not in first.prompt
    assert first.key != second.key
    assert proposed.draft is not None


def test_two_bad_replies_give_no_draft() -> None:
    """After the second bad reply there is no draft, and the report says what was wrong with it."""
    runner = agent("I would rather talk about it")
    proposed = propose(runner, material(), MemoryStore())
    assert len(edit_jobs(runner)) == 2
    assert (proposed.draft, proposed.code) == (None, "no-edit")
    assert "twice" in proposed.why
    assert 'no JSON object with the key "edits"' in proposed.why
    assert "Answer again" not in proposed.why, "that is for the model"


@pytest.mark.parametrize("bad", ["no list", reply(), reply(ADD | {"turn": 99})])
def test_a_bad_answer_does_not_stand_for_ever(bad: str) -> None:
    """The next run asks anew where an answer could not be read, was empty, or was not taken, up to a bound;
    what was bought is not bought again."""
    store, runner = MemoryStore(), agent(bad)
    told = [propose(runner, material(), store) for _ in range(4)]
    a_run = 2 if bad == "no list" else 1
    assert len(edit_jobs(runner)) == 3 * a_run, "the fourth run asks no more"
    assert ["asks anew" in one.why for one in told] == [True, True, False, False]
    assert "3 runs asked" in told[3].why
    store, runner = MemoryStore(), agent(*[bad] * a_run, reply(ADD))
    assert propose(runner, material(), store).draft is None
    assert propose(runner, material(), store).draft is not None


@pytest.mark.parametrize(
    "text",
    [
        reply(ADD),
        f"Here you are:\n\n```json\n{reply(ADD)}\n```\nI hope that helps.",
        f"```\n{reply(ADD)}\n```",
        f"Given {{that}}, I propose {reply(ADD)}.",
        f"```json\n{json.dumps({'edits': [ADD]}, indent=2)}\n```",
        f'```json\n{{"thoughts": 1}}\n```\n```json\n{reply(ADD)}\n```',
    ],
)
def test_a_reply_is_read_however_it_is_wrapped(text: str) -> None:
    """The JSON object is found bare, fenced, or in prose."""
    (edit,) = parse_reply(text, CANDIDATE)
    assert edit == Edit(op="add", rule=RULE, moment=MOMENT, why="said twice")


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "{" * 5_000, '{"edits": 3}', '{"edits": [{"op": "rewrite"}]}']
)
def test_what_is_no_reply_is_a_plain_error(text: str) -> None:
    """What holds no list of edits is a `ValueError` with a text, whatever it is."""
    with pytest.raises(ValueError, match=r"."):
        parse_reply(text, CANDIDATE)


def test_an_editor_may_change_nothing() -> None:
    """An empty list of edits is an answer: no draft, and the report says so."""
    proposed = propose(agent(reply()), material(), MemoryStore())
    assert (proposed.draft, proposed.code) == (None, "no-edit")
    assert proposed.why.startswith("the editor saw nothing to change")


def test_refused_edits_are_kept_with_their_reasons() -> None:
    """An edit without its moment, without a match or over the limit is on record with a code."""
    edits = [
        ADD | {"turn": 99},
        {**ADD, "op": "delete", "rule": "", "anchor": "There is no such rule."},
        ADD,
        ADD | {"rule": "Install with pnpm, please."},
    ]
    store = MemoryStore()
    proposed = propose(agent(reply(*edits)), material(), store, budget=2)
    assert proposed.draft is not None
    assert [edit.rule for edit in proposed.draft.edits] == [RULE]
    assert sorted(item.code for item in proposed.refused) == ["no-match", "no-moment", "over-budget"]
    assert store.find(RefusedEdit, owner=CANDIDATE.id) == proposed.refused


def test_no_edit_left_says_why() -> None:
    """Where every edit is refused there is no draft, and the reasons stand in the report."""
    proposed = propose(agent(reply(ADD | {"session": "claude-code:other"})), material(), MemoryStore())
    assert (proposed.draft, proposed.code) == (None, "no-edit")
    assert "does not name one of the candidate's moments" in proposed.why
    assert [one.code for one in proposed.refused] == ["no-moment"]


def test_a_rejected_edit_is_shown_and_not_taken_again() -> None:
    """The editor is told what was turned down and why; the same edit is refused although it proposes it."""
    turned_down = RefusedEdit(
        edit=Edit(op="add", rule=RULE, moment=MOMENT),
        code="repeats-rejected",
        text="a person rejected it: too narrow",
        candidate=CANDIDATE.id,
        cycle="n-0000",
    )
    runner = agent(reply(ADD))
    proposed = propose(runner, material(rejected=[turned_down]), MemoryStore())
    (job,) = edit_jobs(runner)
    assert json.loads(shown(job)["evidence/rejected.json"]) == [
        {"op": "add", "rule": RULE, "anchor": "", "reason": "a person rejected it: too narrow"}
    ]
    assert proposed.draft is None
    assert [item.code for item in proposed.refused] == ["repeats-rejected"]


def test_an_agent_that_does_it_right_needs_no_edit() -> None:
    """Where every train task passes as it is, no editor is asked."""
    runner = agent(reply(ADD), attempt=did("pnpm install"))
    proposed = propose(runner, material(), MemoryStore())
    assert (proposed.code, edit_jobs(runner)) == ("already-followed", [])


def test_lost_attempts_are_no_failures_and_say_why() -> None:
    """Where every attempt was lost no editor is asked, and the last message of what lost them is named."""
    runner = agent(reply(ADD), attempt=LOST)
    proposed = propose(runner, material(), MemoryStore())
    assert (proposed.draft, proposed.code, edit_jobs(runner)) == (None, "lost", [])
    assert isinstance(LOST, Failed)
    assert LOST.message in proposed.why


def test_no_train_task_starts_no_job() -> None:
    """Without a task to practise on nothing is spent."""
    runner = agent(reply(ADD))
    proposed = propose(runner, replace(material(), tasks=()), MemoryStore())
    assert (proposed.code, runner.jobs) == ("no-train-task", [])


def test_an_editor_that_fails_is_named() -> None:
    """Where the editor itself fails, the report says how."""
    failed = Failed(reason=Reason.TIMEOUT, message="no answer after 600 s")
    runner = FakeRunner(lambda job, _: failed if job.role is Role.EDIT else did("npm install"))
    proposed = propose(runner, material(), MemoryStore())
    assert (proposed.draft, proposed.code) == (None, "no-edit")
    assert "timeout: no answer after 600 s" in proposed.why


def test_a_draft_that_only_shortens_must_not_be_worse() -> None:
    """Adding has to show a gain; deleting alone has to show that nothing is lost."""
    live = apply(LIVE, [Edit(op="add", rule="Be nice to npm.", moment=MOMENT)]).content
    delete = {**ADD, "op": "delete", "rule": "", "anchor": "Be nice to npm."}
    kinds = []
    for edits in ([ADD], [delete], [ADD, delete]):
        draft = propose(agent(reply(*edits)), material(live=live), MemoryStore()).draft
        assert draft is not None
        kinds.append(draft.certify)
    assert kinds == [Certify.GAIN, Certify.NOT_WORSE, Certify.GAIN]


def test_a_file_that_cannot_be_edited_costs_nothing() -> None:
    """A damaged block is an error that names the file, before a job is started."""
    runner = agent(reply(ADD))
    with pytest.raises(UserError, match=r"/home/sam/shop/CLAUDE\.md is damaged"):
        propose(runner, material(live=b"<!-- nightschool:begin -->\n- x\n"), MemoryStore())
    assert runner.jobs == []


def test_the_same_material_is_not_bought_twice() -> None:
    """Asked again with the same material, attempts and edit are answered from what finished before."""
    store, runner = MemoryStore(), runs_of(did("npm install"))
    runner.answer = agent(reply(ADD)).answer
    first = propose(runner, material(), store)
    before = len(runner.jobs)
    again = propose(runner, material(), store)
    assert len(runner.jobs) == before
    assert first.draft is not None
    assert again.draft is not None
    assert again.draft.digest == first.draft.digest


def test_attempts_of_before_are_shown_as_they_were() -> None:
    """B33: an attempt that finished in an earlier cycle comes back with its reply, its files and all that it
    did, not with its score alone: another editor is shown the very failure that the first was shown."""
    store, call = MemoryStore(), ToolCall(call_id="1", name="Bash", command="npm install", result="added 9")
    attempt = replace(did("npm install", reply="I ran it"), trajectory=(call,))
    first = agent(reply(), attempt=attempt)
    propose(first, material(), store)
    later = replace(agent(reply(), attempt=did("pnpm install")), name="another")
    door = door_of(first, store)
    replay = replay_of(door, store)
    Consolidate(
        ask=replay_of(door_of(later, MemoryStore()), MemoryStore()).ask,
        known=lambda _: None,
        practice=replay,
        store=store,
        clock=FakeClock(),
        runner=later.name,
        runner_version="1",
        options=JobOptions(),
        edit_budget=4,
        cycle="n-0002",
    ).propose(material())
    assert (door.spend.jobs, door.spend.reused) == (0, 1)
    (before,), (now,) = edit_jobs(first), edit_jobs(later)
    assert shown(now) == shown(before)
    assert all(word in "".join(shown(now).values()) for word in ("npm install", "added 9", "I ran it"))

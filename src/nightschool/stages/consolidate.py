"""Proposes an edit of a memory file or a skill: failures of train tasks go to an editor, its edits are
screened. A procedure becomes a new skill in the person's own words, and needs no editor.

The editor sees what the person said in train sessions and what the agent did on train tasks. It never sees
a hold-out task or its outcome, a check, or a word of the judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import TypeAdapter, ValidationError

from nightschool.core.errors import UserError
from nightschool.core.harness import File, Harness, LiveFile, Target
from nightschool.core.jobs import Failed, Finished, Job, JobOptions, LostTry, Outcome, Role
from nightschool.core.ports import Clock, Practice, Store
from nightschool.core.proposals import Draft, Edit, RefusedEdit
from nightschool.core.tasks import Candidate, Moment, Task
from nightschool.core.trials import Arm, Trial, TrialRequest
from nightschool.core.values import Value, digest_bytes
from nightschool.prompts import Prompt, load
from nightschool.rules.editing import aim, screen
from nightschool.rules.memory_block import Applied
from nightschool.rules.new_skill import NewSkill
from nightschool.rules.skill_body import edited, rules_of
from nightschool.stages.aiming import Aim

MEMORY, SKILL = "evidence/memory.md", "evidence/skill.md"
"""The live file, as an editor finds it."""
TRAIN_TASKS = 4
"""So many train tasks are practised for one candidate: enough to see it fail, cheap on every run."""
REPLY_CHARACTERS = 200_000
"""An answer that is longer is no list of a few edits."""
SITTINGS = 3
"""So many runs ask the editor about the same material, until an answer gives an edit."""
TRACE_CHARACTERS = 40_000
"""What of one trace an editor is given; the whole outcome stays in the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed(Value):
    """A draft, or why there is none; the refused edits in either case."""

    draft: Draft | None
    code: str
    why: str
    refused: tuple[RefusedEdit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Material(Value):
    """All that an editor may know of one candidate."""

    candidate: Candidate
    tasks: tuple[Task, ...]
    """Train tasks that concern the candidate."""
    base: Harness
    target: Target
    path: str
    """Where the live file lies, for messages."""
    live_content: bytes | None
    live_mode: int | None
    rejected: tuple[RefusedEdit, ...]
    why: str = ""
    """Why it is this target."""
    new: NewSkill | None = None
    """What the file becomes; None where it is edited."""

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        tasks: Sequence[Task],
        *,
        aim: Aim,
        target: Target,
        live: LiveFile,
        rejected: Sequence[RefusedEdit],
    ) -> Material:
        return cls(
            candidate=candidate,
            tasks=tuple(tasks[:TRAIN_TASKS]),
            base=aim.base,
            target=target,
            path=str(live.path),
            why=aim.why,
            new=aim.new,
            live_content=live.content,
            live_mode=live.mode,
            rejected=tuple(rejected),
        )

    def check(self) -> None:
        """Raises `UserError` where the live file cannot be edited."""
        if self.new is not None and self.live_content is not None:
            raise UserError(f"{self.path} is there already. Nothing was changed.")
        if self.new is None:
            self.edited(())

    def rules(self) -> tuple[str, ...]:
        """The rules that an editor may replace or delete."""
        return rules_of(self.target, self.live_content, where=self.path)

    def edited(self, edits: Sequence[Edit]) -> Applied:
        return edited(self.target, self.live_content, edits, where=self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidate:
    """The improver that edits one memory file or skill."""

    ask: Callable[[Job], Outcome]
    known: Callable[[Job], Outcome | None]
    """What a job of before answered."""
    practice: Practice
    store: Store
    clock: Clock
    runner: str
    runner_version: str
    options: JobOptions
    edit_budget: int
    cycle: str

    def propose(self, material: Material) -> Proposed:
        """Practise on train tasks, ask the editor, screen its edits, apply the rest to the live bytes.

        Raises `UserError` where the live file cannot be edited, before anything is spent.
        """
        material.check()
        if not material.tasks:
            return Proposed(
                draft=None, code="no-train-task", why="no train session gave a task to practise on"
            )
        self.practice.tell("practising the train tasks, to see where the agent fails")
        trials = self.practice.trials([_request(task, material.base) for task in material.tasks])
        scored = [trial for trial in trials if trial.score is not None]
        if not scored:
            why = f"every attempt at a train task was lost outside of it: {self._last_loss(trials)}"
            return Proposed(draft=None, code="lost", why=why)
        failures = [trial for trial in scored if trial.score == 0]
        if not failures:
            return Proposed(
                draft=None, code="already-followed", why="the agent does it right on the train tasks as it is"
            )
        if material.new is not None:
            return self._made(material, material.new)
        return self._asked(material, failures, trials)

    def _asked(self, material: Material, failures: Sequence[Trial], trials: Sequence[Trial]) -> Proposed:
        """A bad answer of an earlier run does not stand for ever: this one asks anew. What a person turned
        down is another thing: who says it again is asked no more."""
        proposed = Proposed(draft=None, code="no-edit", why="")
        for sitting in range(SITTINGS):
            edits, complaint, fresh = self._edits(material, failures, sitting)
            if complaint is None:
                proposed = self._draft(material, edits, trials)
            else:
                proposed = Proposed(draft=None, code="no-edit", why=complaint)
            again = proposed.refused and {item.code for item in proposed.refused} == {"repeats-rejected"}
            if proposed.draft is not None or again:
                return proposed
            if fresh and sitting + 1 < SITTINGS:
                return replace(proposed, why=f"{proposed.why}; the next run asks anew")
        ended = (
            f"{SITTINGS} runs asked, so it is asked no more: another model may know better (`--model NAME`)"
        )
        return replace(proposed, why=f"{proposed.why}; {ended}")

    def _last_loss(self, trials: Sequence[Trial]) -> str:
        """What the last of the lost tries died of, in the words that the door redacted."""
        jobs = {trial.job for trial in trials}
        lost = [one for one in self.store.find(LostTry, owner=self.cycle) if one.key in jobs]
        return f"{lost[-1].reason}: {lost[-1].message}" if lost else "no try is on record"

    def _edits(
        self, material: Material, failures: Sequence[Trial], sitting: int
    ) -> tuple[tuple[Edit, ...], str | None, bool]:
        """The editor's edits, or why there are none, and whether it was asked now. One retry with the exact
        error."""
        prompt = load("edit")
        complaint, wrong, fresh = "", "", False
        for repeat in range(2):
            self.practice.tell(
                "editing: rules are written from your words" + (", once more" if repeat else "")
            )
            job = self._job(material, failures, prompt, complaint, 2 * sitting + repeat)
            fresh = self.known(job) is None or fresh
            outcome = self.ask(job)
            if isinstance(outcome, Failed):
                return (), f"the editor failed: {outcome.reason}: {outcome.message}", fresh
            try:
                edits = parse_reply(outcome.reply, material.candidate)
            except ValueError as error:
                wrong = str(error)
                complaint = f"\nYour last answer could not be read: {error}\nAnswer again.\n"
                continue
            return edits, None if edits else "the editor saw nothing to change", fresh
        return (), f"the editor's answer could not be read, twice: {wrong}", fresh

    def _job(
        self, material: Material, failures: Sequence[Trial], prompt: Prompt, complaint: str, repeat: int
    ) -> Job:
        return Job(
            role=Role.EDIT,
            prompt=prompt.render(budget=self.edit_budget, complaint=complaint, **_words(material.target)),
            agent=self.runner,
            agent_version=self.runner_version,
            harness=Harness(),
            files=tuple(evidence(material, failures, self.store)),
            options=self.options,
            prompt_version=prompt.version,
            repeat=repeat,
        )

    def _made(self, material: Material, new: NewSkill) -> Proposed:
        """The draft of a skill that is not there yet."""
        moments = material.candidate.evidence
        moment = next(m for m in reversed(moments) if m.procedure is not None)
        steps = () if moment.procedure is None else moment.procedure.steps
        edit = Edit(op="add", rule="\n".join(steps), moment=moment, why=material.why)
        turned_down = {one.edit.rule for one in material.rejected}
        if edit.rule in turned_down:
            return Proposed(
                draft=None, code="no-edit", why="these steps were proposed before and turned down"
            )
        return Proposed(draft=self._drafted(material, (edit,), new.content), code="proposed", why="")

    def _draft(self, material: Material, edits: Sequence[Edit], trials: Sequence[Trial]) -> Proposed:
        candidate = material.candidate
        screened = screen(
            edits,
            candidate=candidate,
            rejected=material.rejected,
            checks=(candidate.check, *(check for task in material.tasks for check in task.checks)),
            task_ids=[task.id for task in material.tasks],
            judge_texts=[trial.note for trial in trials if trial.note],
            limit=self.edit_budget,
        )
        applied = material.edited(screened.accepted)
        refused = tuple(
            RefusedEdit(edit=edit, code=code, text=text, candidate=candidate.id, cycle=self.cycle)
            for edit, code, text in (*screened.refused, *applied.refused)
        )
        if refused:
            self.store.commit(*refused)
        if not applied.taken or applied.content == (material.live_content or b""):
            why = "; ".join(item.text for item in refused) or "the edits change nothing"
            return Proposed(draft=None, code="no-edit", why=f"no edit was left: {why}", refused=refused)
        draft = self._drafted(material, applied.taken, applied.content)
        return Proposed(draft=draft, code="proposed", why="", refused=refused)

    def _drafted(self, material: Material, edits: tuple[Edit, ...], content: bytes) -> Draft:
        live = material.live_content
        return Draft(
            candidate=material.candidate.id,
            target=material.target,
            aim=material.why,
            edits=edits,
            base=material.base.digest,
            live=None if live is None else digest_bytes(live),
            live_mode=material.live_mode,
            before=None if live is None else self.store.put_blob(live),
            after=self.store.put_blob(content),
            certify=aim(edits),
            cycle=self.cycle,
            created_at=self.clock.now(),
        )


def _words(target: Target) -> dict[str, str]:
    """How an editor is told of the file."""
    if target.skill is None:
        return {"what": "the memory file", "file": MEMORY, "own": "", "place": "the list of rules"}
    own = (
        " Its head, between the lines `---`, is not yours to touch. Each item of a list and each paragraph "
        "of its body is a rule that can be replaced or deleted by its whole text, also where a person wrote "
        "it."
    )
    what = f"the skill `{target.skill}`"
    return {"what": what, "file": SKILL, "own": own, "place": "the rules in its body"}


def proposed_harness(draft: Draft, base: Harness, store: Store) -> Harness:
    """The base with the draft's file in its place."""
    mode = 0o644 if draft.live_mode is None else draft.live_mode
    return base.having(File(path=draft.target.place, content=store.blob(draft.after), mode=mode))


def evidence(material: Material, failures: Sequence[Trial], store: Store) -> list[File]:
    """The editor's folder. Everything in it is from train sessions and redacted."""
    candidate = {
        "statement": material.candidate.statement,
        "evidence": [
            {"session": moment.session, "turn": moment.turn, "quote": moment.quote}
            for moment in material.candidate.evidence
        ],
        "rules": list(material.rules()),
    }
    rejected = [
        {"op": item.edit.op, "rule": item.edit.rule, "anchor": item.edit.anchor, "reason": item.text}
        for item in material.rejected
    ]
    files = [
        _text("evidence/candidate.json", json.dumps(candidate, ensure_ascii=False, indent=1)),
        _text("evidence/rejected.json", json.dumps(rejected, ensure_ascii=False, indent=1)),
        File(path=MEMORY if material.target.skill is None else SKILL, content=material.live_content or b""),
    ]
    prompts = {task.id: task.prompt for task in material.tasks}
    for number, trial in enumerate(failures, start=1):
        finished = store.get(Finished, trial.job)
        if finished is not None:
            files += _failure(f"evidence/failures/{number}", prompts[trial.task], finished.outcome)
    return files


def _failure(folder: str, prompt: str, outcome: Outcome) -> list[File]:
    calls = "\n\n".join(
        f"[{call.name}] {call.command or call.arguments}\n-> {_shown(call.result)}"
        for call in outcome.trajectory
    )
    changed = "\n\n".join(f"{change.path}\n{change.added}" for change in outcome.files)
    reply = outcome.message if isinstance(outcome, Failed) else outcome.reply
    texts = {"request.md": prompt, "trace.txt": calls, "reply.md": reply, "changed.txt": changed}
    return [_text(f"{folder}/{name}", _cut(text)) for name, text in texts.items()]


def _shown(result: str | None) -> str:
    return "(no result)" if result is None else result


def _cut(text: str) -> str:
    if len(text) <= TRACE_CHARACTERS:
        return text
    return text[:TRACE_CHARACTERS] + f"\n[cut: {len(text) - TRACE_CHARACTERS} more characters]"


def _text(path: str, text: str) -> File:
    return File(path=path, content=text.encode("utf-8", "replace"))


def _request(task: Task, base: Harness) -> TrialRequest:
    return TrialRequest(task=task, harness=base, arm=Arm.BASE, purpose="train")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditReply(Value):
    op: Literal["add", "replace", "delete"]
    rule: str = ""
    anchor: str = ""
    session: str
    turn: int
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorReply(Value):
    """What an editor answers. The example in prompts/edit.md is read by this type in a test."""

    edits: tuple[EditReply, ...]
    FENCE: ClassVar[re.Pattern[str]] = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)


_REPLY = TypeAdapter(EditorReply)


def parse_reply(reply: str, candidate: Candidate) -> tuple[Edit, ...]:
    """The edits in a reply: a JSON object, bare, fenced or in prose. `ValueError` says what is wrong."""
    try:
        answer = _REPLY.validate_python(_json_object(reply))
    except ValidationError as error:
        raise ValueError("; ".join(f"{_where(e['loc'])}: {e['msg']}" for e in error.errors())) from None
    return tuple(_edit(item, candidate) for item in answer.edits)


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "the answer"


def _json_object(reply: str) -> object:
    decoder = json.JSONDecoder()
    bounded = reply[:REPLY_CHARACTERS]
    for text in (*EditorReply.FENCE.findall(bounded), bounded):
        for start in (match.start() for match in re.finditer(r"\{", text)):
            try:
                found, _ = decoder.raw_decode(text, start)
            except (json.JSONDecodeError, RecursionError):
                continue
            if isinstance(found, dict) and "edits" in found:
                return found
    raise ValueError('there is no JSON object with the key "edits" in it')


def _edit(item: EditReply, candidate: Candidate) -> Edit:
    known = next((m for m in candidate.evidence if (m.session, m.turn) == (item.session, item.turn)), None)
    moment = known or Moment(session=item.session, turn=item.turn, quote="")
    edit = Edit(op=item.op, rule=item.rule.strip(), anchor=item.anchor, moment=moment, why=item.why)
    return edit if item.op != "delete" else replace(edit, rule="")

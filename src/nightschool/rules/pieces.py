"""The piece of work in a session that a task can be made of: which prompt, which turns, and why not.

Relieves mining of the rules about prompts.
"""

from __future__ import annotations

from dataclasses import dataclass

from nightschool.core.jobs import Delivered
from nightschool.core.sessions import Session, Speaker, Turn
from nightschool.core.signals import SignalKind
from nightschool.core.tasks import Footprint
from nightschool.core.values import Value
from nightschool.rules.checking import judge
from nightschool.rules.footprints import left_behind, right, wrong
from nightschool.rules.prose import is_acknowledgement, is_injected, is_paste, is_slash_command, request_text
from nightschool.rules.recorded import did_something, looked_at, newly_made, outcome_of, spoken_of, used
from nightschool.rules.reference import refers_back
from nightschool.rules.statements import explicit


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Value):
    """A session as mining sees it: where it ran, which turns are its own, where it was corrected."""

    session: Session
    directory: str
    root: str
    fresh: frozenset[int]
    """Human turns that are no copies of rows of an older session."""
    told: frozenset[int]
    """Human turns that correct the agent."""
    heard: frozenset[SignalKind] = frozenset()
    """Kinds of signals in it."""

    def requests(self) -> tuple[int, ...]:
        """Human turns that ask for work of their own."""
        return tuple(
            index
            for index, turn in enumerate(self.session.turns)
            if turn.speaker is Speaker.HUMAN and index not in self.told and is_request(turn)
        )

    def unclear(self, end: int | None = None) -> Unfit | None:
        """That all it asks up to a turn speaks of what stood before, if so."""
        asked = (
            request_text(turn.text)
            for index, turn in enumerate(self.session.turns[:end])
            if turn.speaker is Speaker.HUMAN and index not in self.told
        )
        words = next((text for text in asked if refers_back(text) and not is_acknowledgement(text)), None)
        if words is None:
            return None
        return Unfit(code="refers-back", text=f"its request, {words!r}, speaks of what stood before it")

    def piece(self, prompt: int) -> tuple[Turn, ...]:
        """The turns from a prompt to the next request."""
        behind = [index for index in self.requests() if index > prompt]
        return self.session.turns[prompt : behind[0] if behind else None]

    def work(self, turns: tuple[Turn, ...]) -> Work:
        outcome = outcome_of(turns, directory=self.directory, root=self.root)
        return Work(outcome=outcome, text=left_behind(outcome))

    def first_work(self) -> Work:
        """What was done for the first request; nothing where there is none."""
        requests = self.requests()
        return self.work(self.piece(requests[0]) if requests else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Value):
    """What some turns of a session left behind, to be judged like the outcome of a job."""

    outcome: Delivered
    text: str

    def passes(self, check: Footprint) -> bool:
        return judge((check,), self.outcome).score == 1.0

    def right(self, check: Footprint) -> bool:
        return right(check, self.text)

    def wrong(self, check: Footprint) -> bool:
        return wrong(check, self.text, self.outcome)

    def empty(self) -> bool:
        return not did_something(self.outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit(Value):
    """Why no task is made of a session: a code and a sentence."""

    code: str
    text: str


def is_request(turn: Turn) -> bool:
    """Whether a human turn can be the prompt of a task. Acknowledgements, slash commands, pasted logs,
    injected rows and what means nothing without the conversation ("ok fix it") cannot."""
    return not (
        is_injected(turn.text)
        or is_slash_command(turn.text)
        or is_acknowledgement(turn.text)
        or is_paste(turn.text)
        or refers_back(request_text(turn.text))
    )


def prompt_of(turn: Turn) -> str:
    return request_text(turn.text)


def corrected_piece(history: History, moments: tuple[int, ...], check: Footprint) -> int | Unfit:
    """The prompt whose work was corrected, or why it is no task.

    The work before the correction must not pass the check (else the check does not tell right from wrong
    here), and the work after it, where there is any, must show what was wanted.
    """
    first, last = moments[0], moments[-1]
    before = [index for index in history.requests() if index < first]
    if not before:
        unclear = history.unclear(first)
        return unclear or Unfit(
            code="told-in-request", text="the request itself says it, or there is none before it"
        )
    prompt = before[-1]
    turns = history.session.turns
    unfit = _says_so(turns[prompt], check) or start_known(history, prompt)
    if unfit is not None:
        return unfit
    if history.work(turns[prompt:first]).passes(check):
        return Unfit(code="not-told-apart", text="what was corrected would have passed the check")
    after = history.work(turns[last:])
    # Undoing the wrong thing names it, so what is unwanted may still stand in the work that mends it.
    mended = after.right(check) if check.wanted is not None else not after.wrong(check)
    if not after.empty() and not mended:
        return Unfit(
            code="reference-fails", text="the session's own work after the correction does not show it"
        )
    return prompt


def concerned_piece(history: History, work: Work, check: Footprint) -> int | Unfit | None:
    """The prompt of a piece of work that the check is about though nobody corrected it; None where the
    check is about nothing that was done for the first request (`work`). Where the agent did what is wanted,
    its work is the reference and has to pass; where it did only what is unwanted, nobody showed the right
    way and none is known."""
    requests = history.requests()
    if not requests:
        return None
    prompt = requests[0]
    if not work.right(check) and not work.wrong(check):
        return None
    unfit = _says_so(history.session.turns[prompt], check) or start_known(history, prompt)
    if unfit is not None:
        return unfit
    if work.right(check) and not work.passes(check):
        return Unfit(code="reference-fails", text="the session's own work does not pass the check")
    return prompt


def _says_so(turn: Turn, check: Footprint) -> Unfit | None:
    """A request that gives the rule itself: an agent passes it with the edit and without."""
    ask = (check.wanted, check.unwanted)
    if any((said.wanted, said.unwanted) == ask for said in explicit(turn.text)):
        return Unfit(code="told-in-request", text="the request itself says it, or there is none before it")
    return None


def skilled_piece(history: History, skill: str) -> int | Unfit | None:
    """The prompt of the first piece of work for which a skill was loaded; None where it never was. Nobody
    corrected it and nobody showed the right way there: an edit of the skill holds there too."""
    for prompt in history.requests():
        if any(skill in turn.loaded for turn in history.piece(prompt)):
            return start_known(history, prompt) or prompt
    return None


def guard_piece(history: History, work: Work) -> tuple[int, tuple[str, ...]] | Unfit:
    """The prompt and the files of a session in which all went well."""
    if history.told or SignalKind.CORRECTION in history.heard:
        return Unfit(code="corrected", text="it was corrected, and not by words that make a check yet")
    if history.heard - {SignalKind.APPROVAL}:
        return Unfit(
            code="stopped", text="the person interrupted it, took it back, asked again or turned a call down"
        )
    requests = history.requests()
    if not requests:
        return history.unclear() or Unfit(
            code="no-request", text="it holds no request: only commands, pastes or short replies"
        )
    unfit = start_known(history, requests[0])
    if unfit is not None:
        return unfit
    if not work.outcome.files:
        return Unfit(code="no-files", text="its work changed no file of the project by an editing tool")
    return requests[0], tuple(sorted(change.path for change in work.outcome.files))


def start_known(history: History, prompt: int) -> Unfit | None:
    """Whether the project's state at this prompt is the one at the session's start."""
    if prompt not in history.fresh:
        return Unfit(code="copied", text="the request is a copy of an older session's row")
    earlier = history.session.turns[:prompt]
    if outcome_of(earlier, directory=history.directory, root=history.root).files:
        return Unfit(
            code="built-on-earlier-work", text="the request builds on files that the session changed before"
        )
    return None


def inputs(history: History) -> frozenset[str]:
    """Files that a session's work reads, or that its first request names, and that it did not make."""
    at = {"directory": history.directory, "root": history.root}
    turns = history.session.turns
    made = newly_made(turns, **at) | {change.path for change in outcome_of(turns, **at).files}
    asked = history.requests()[:1]
    named = {path for index in asked for path in spoken_of(request_text(turns[index].text), **at)}
    return (used(turns, **at) | named) - made


_NO_GIT = frozenset({"", "HEAD"})
"""What stands for the branch of a folder without git."""


def began_empty(history: History) -> bool:
    """Whether a session of a project without git began with nothing that it needed: all files that it changed
    it made itself, as the transcript tells, and it opened no other one."""
    session = history.session
    if session.commit is not None or (session.branch or "") not in _NO_GIT:
        return False
    at = {"directory": history.directory, "root": history.root}
    made = newly_made(session.turns, **at)
    changed = {change.path for change in outcome_of(session.turns, **at).files}
    return bool(changed) and changed | looked_at(session.turns, **at) <= made

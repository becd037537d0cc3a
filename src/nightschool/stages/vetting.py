"""Looks at what a draft would bring before it is staged, and again before it is published.

Relieves `staging` and `publish` of the same look: secrets, hidden text, foreign words, and what the
agent's surface finds wrong with the harness that the draft makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nightschool.core.harness import File, Harness
from nightschool.core.jobs import Finished
from nightschool.core.ports import Redact, SecondOpinion, Store, Surface
from nightschool.core.proposals import Draft, Finding, Risk
from nightschool.core.sessions import Session
from nightschool.core.tasks import Candidate
from nightschool.core.trials import Trial
from nightschool.rules.fitness import worse
from nightschool.rules.safety import findings

NEW_FILE_MODE = 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class Vetting:
    """A `Vet`: called with a draft, it gives all that is found, on the live files as they are now."""

    store: Store
    redact: Redact
    second_opinion: SecondOpinion | None
    surface: Callable[[str], Surface]
    """The surface of an agent by its name."""
    person_home: Path

    def __call__(self, draft: Draft) -> tuple[Finding, ...]:
        human, tool = _texts(draft, self.store)
        return (
            *findings(
                before=b"" if draft.before is None else self.store.blob(draft.before),
                after=self.store.blob(draft.after),
                added_rules=[edit.rule for edit in draft.edits if edit.rule],
                human_texts=human,
                tool_texts=tool,
                redact=self.redact,
                second_opinion=self.second_opinion,
            ),
            *self._on_surface(draft),
        )

    def _on_surface(self, draft: Draft) -> Sequence[Finding]:
        """What the agent would read worse than now: not at all, cut, in the shadow of another file."""
        target = draft.target
        surface = self.surface(target.agent)
        now = surface.load(Path(target.project) if target.project else None, self.person_home)
        mode = NEW_FILE_MODE if draft.live_mode is None else draft.live_mode
        then = now.having(File(path=target.place, content=self.store.blob(draft.after), mode=mode))
        return (*_unread(draft, surface, then), *worse(surface.problems(now), surface.problems(then)))


def _unread(draft: Draft, surface: Surface, then: Harness) -> Iterator[Finding]:
    """Whether another file came to stand before the one that is to be edited."""
    instead = surface.read_instead(draft.target.place, then)
    if instead is not None:
        text = (
            f"{surface.name} reads {instead} and not {draft.target.place}, where both are there: delete "
            f"{instead} (its words go into {draft.target.place}), or reject this: the next `nightschool run` "
            "aims at the file that is read"
        )
        yield Finding(code="not-read", risk=Risk.HIGH, text=text)


def _texts(draft: Draft, store: Store) -> tuple[Sequence[str], Sequence[str]]:
    """What people said, and what tools printed, in the train sessions and on their replays.

    What a tool printed after the draft was made is no source of it: an agent that prints its own memory
    file would make every adopted rule a foreign one.
    """
    until = _written(draft, store)
    candidate = store.get(Candidate, draft.candidate)
    moments = () if candidate is None else candidate.evidence
    sessions = [store.get(Session, name) for name in {moment.session for moment in moments}]
    human = [moment.quote for moment in moments]
    tool: list[str] = []
    for session in sessions:
        if session is not None:
            human += [turn.text for turn in session.human_turns]
            tool += _printed(session, until)
    for trial in store.find(Trial):
        if trial.purpose == "train":
            finished = store.get(Finished, trial.job)
            if finished is not None and finished.ended_at <= until:
                tool += [call.result for call in finished.outcome.trajectory if call.result]
    return human, tool


def _written(draft: Draft, store: Store) -> datetime:
    """When its edits were: one that was made anew has those of the draft that it was made from."""
    while draft.made_from is not None and (older := store.get(Draft, draft.made_from)) is not None:
        draft = older
    return draft.created_at


def _printed(session: Session, until: datetime) -> list[str]:
    later = {
        call.call_id
        for turn in session.turns
        if turn.at is not None and turn.at > until
        for call in turn.calls
    }
    return [call.result for call in session.calls if call.result and call.call_id not in later]

"""What a run would do with each correction, asked as the run itself asks. Relieves `run` of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from nightschool.core.tasks import Candidate
    from nightschool.stages.aiming import Aiming
    from nightschool.wiring import Parts

WORDS = {
    "waits-for-review": "waits for your review",
    "already-published": "already published",
    "taken-back": "you took it back",
    "needs-you": "needs you first",
    "switched-off": "your settings forbid it",
}
"""Why there is nothing to do; a pinned file is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What becomes of one candidate."""

    candidate: Candidate
    file: Path | None = None
    """That an edit would change; None where none may be, or no agent is there to say."""
    why: str | None = None
    """Why that file, or why nothing is done."""
    code: str | None = None
    """Why no job is started for it, as a report says it; None: it would be practised."""
    draft: str | None = None

    @property
    def shown(self) -> object:
        """Where the plan shows the file."""
        if self.code == "pinned":
            return f"{self.file} (pinned: left alone)"
        return self.file if self.code is None else WORDS.get(self.code, self.code)

    @property
    def document(self) -> dict[str, object]:
        return {"candidate": self.candidate.id, "code": self.code, "why": self.why, "draft": self.draft}


def courses(parts: Parts, found: Iterable[Candidate], aiming: Aiming | None) -> list[Course]:
    """Those that the run is about. Without an agent nothing is known but that they are there."""
    if aiming is None:
        return [Course(candidate=one) for one in found]
    return [_course(parts, one, aiming) for one in aiming.chosen(tuple(found))]


def _course(parts: Parts, candidate: Candidate, aiming: Aiming) -> Course:
    from nightschool.stages.settling import stand  # noqa: PLC0415 - help needs no stage

    try:
        aim = aiming.aim(candidate)
        if aim.target is None:
            return Course(candidate=candidate, why=aim.why, code="switched-off")
        there = stand(candidate, aim, aim.target, aiming=aiming, store=parts.store, live=parts.live)
    except UserError as error:
        return Course(candidate=candidate, why=parts.redact(str(error)), code="needs-you")
    file = parts.place(aim.target)
    if there.done is None:
        return Course(candidate=candidate, file=file, why=aim.why)
    code, why, draft = there.done
    return Course(candidate=candidate, file=file, why=why, code=code, draft=draft)

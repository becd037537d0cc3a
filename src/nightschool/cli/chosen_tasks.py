"""`run --tasks FILE`: what a file of tasks asks of a run. Relieves `run` of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightschool.rules.task_file import TaskFile, Wrong
    from nightschool.stages.prepare import Preparation, Prepared
    from nightschool.wiring import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The file of tasks that a run is to practise, read and validated."""

    path: Path
    file: TaskFile
    wrong: Sequence[Wrong]
    """What is wrong with it: told with what is found wrong when it is taken."""
    root: str

    @classmethod
    def of(cls, path: Path | None, root: str | None) -> Self | None:
        """None where no file was named."""
        if path is None:
            return None
        from nightschool.core.tasks import only_root  # noqa: PLC0415 - few runs need it

        if root is None or root != only_root(root):
            raise UserError("--tasks: a file is of one project: name one, and leave --all-projects away")
        from nightschool.cli.task_files import read_tasks  # noqa: PLC0415

        file, wrong = read_tasks(path)
        return cls(path=path, file=file, wrong=wrong, root=root)

    def permit(self, parts: Parts) -> list[str]:
        """Refuses a file that nobody has reviewed, unless what works on it costs nothing. Gives what the
        report says of it."""
        from nightschool.cli.task_files import refuse_unreviewed  # noqa: PLC0415
        from nightschool.wiring import SCRIPTED  # noqa: PLC0415

        name, _ = parts.runner_name()
        if name != SCRIPTED and not self.wrong:
            refuse_unreviewed(self.path, self.file, name)
        return [f"practised were the tasks of {self.path} alone; no transcript was read"]

    def prepared(self, parts: Parts, preparation: Preparation) -> Prepared:
        """Takes the tasks, as `tasks import` does, and no session."""
        from nightschool.cli.task_files import bringing  # noqa: PLC0415

        if not self.wrong and not any(one.concerns for one in self.file.task):
            raise UserError(
                f"{self.path}: no task of it concerns a correction, so there is nothing to practise; an "
                "exported file lists the corrections, and `concerns` of a task names them"
            )
        return preparation.taken(bringing(parts, self.root, self.path).bring(self.file, self.wrong).tasks)

    def unreviewed(self) -> list[str]:
        """What a plan says of it."""
        if not self.file.unreviewed:
            return []
        return [f"{self.path} is not reviewed: a run with an agent that costs anything would stop here"]

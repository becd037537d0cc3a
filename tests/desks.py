"""A person with a project whose memory file has proposals, and command lines typed there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.proposals import Draft, Edit, VerdictKind
from nightschool.rules.memory_block import apply, parse
from publish_builders import BEFORE, CANDIDATE, MODE, draft_of, safety_of, verdict_of


class Desk:
    """A person with a project whose memory file has proposals."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = folder / "school"
        self.file = folder / "a project" / "CLAUDE.md"
        self.file.parent.mkdir()
        self.file.write_bytes(BEFORE)
        self.file.chmod(MODE)
        self._capsys = capsys

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        store = SqliteStore.open(self.home)
        yield store
        store.close()

    def propose(self, *edits: Edit, kind: VerdictKind = VerdictKind.ACCEPT) -> Draft:
        """A draft of these edits on the file as it is, by default accepted by the gate."""
        content = self.file.read_bytes()
        with self.store() as store:
            draft = draft_of(store, content, apply(content, edits).content)
            target = replace(draft.target, project=str(self.file.parent))
            draft = replace(draft, target=target, edits=edits)
            store.commit(CANDIDATE, draft, safety_of(draft), verdict_of(draft, kind))
        return draft

    def says(self, *arguments: str, code: int = 0) -> str:
        assert run(arguments) == code, self._capsys.readouterr()
        printed = self._capsys.readouterr()
        return printed.out + printed.err

    def undoes(self, *arguments: str, code: int = 0) -> str:
        """`undo` as typed in the project."""
        with chdir(self.file.parent):
            return self.says("undo", *arguments, code=code)

    def gives(self, *arguments: str, code: int = 0) -> Any:
        assert run([*arguments, "--json"]) == code
        return json.loads(self._capsys.readouterr().out)

    @property
    def held(self) -> tuple[str, ...]:
        return parse(self.file.read_bytes()).rules

"""`proposals`, `show`, `adopt`, `reject` and `undo`, each as one command line over a store on disk."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.cli.verdicts import curve
from nightschool.core.harness import Scope
from nightschool.core.proposals import Draft, SafetyReport, Verdict, VerdictKind
from nightschool.core.trials import Estimate, GuardReport
from publish_builders import AFTER, BEFORE, CANDIDATE, FINDING, MODE, draft_of, safety_of, verdict_of

WEALTH = tuple(1.25 ** min(at, 12) for at in range(21))


class Desk:
    """A person with a home, a project with a memory file, and one proposal for it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = folder / "school"
        self.project = folder / "project"
        self.project.mkdir()
        self.file = self.project / "CLAUDE.md"
        self.file.write_bytes(BEFORE)
        self.file.chmod(MODE)
        self._capsys = capsys

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        store = SqliteStore.open(self.home)
        yield store
        store.close()

    def propose(
        self,
        kind: VerdictKind = VerdictKind.ACCEPT,
        after: bytes = AFTER,
        *,
        new: bool = False,
        safe: bool = True,
        own: bool = False,
    ) -> Draft:
        with self.store() as store:
            draft = draft_of(store, None if new else BEFORE, after)
            target = replace(draft.target, project=str(self.project))
            if own:
                target = replace(target, scope=Scope.USER, project="", place="user/.claude/CLAUDE.md")
            draft = replace(draft, target=target)
            verdict = replace(_full(verdict_of(draft, kind)), draft=draft.digest)
            store.commit(CANDIDATE, draft, _safety(draft, safe=safe), verdict)
        return draft

    def says(self, *arguments: str, code: int = 0) -> str:
        """What a command prints to both streams."""
        assert run(arguments) == code, self._capsys.readouterr()
        printed = self._capsys.readouterr()
        return printed.out + printed.err

    def undoes(self, *arguments: str, code: int = 0) -> str:
        """`undo` as typed in the project."""
        with chdir(self.project):
            return self.says("undo", *arguments, code=code)

    def gives(self, *arguments: str, code: int = 0) -> Any:
        """The one document of a command."""
        assert run([*arguments, "--json"]) == code
        return json.loads(self._capsys.readouterr().out)


def _full(verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        alpha=0.06,
        wealth=WEALTH[-1],
        path=WEALTH,
        pairs=20,
        decided=12,
        base=Estimate(mean=0.25, low=0.1, high=0.5, n=12),
        proposal=Estimate(mean=0.92, low=0.65, high=0.99, n=12),
        guards=(GuardReport(task="t-guard", pairs=8, harm=0.5, total=0.0, unseen_loss=0.3),),
        losses_base=1,
    )


def _safety(draft: Draft, *, safe: bool) -> SafetyReport:
    return safety_of(draft) if safe else safety_of(draft, FINDING)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    person = tmp_path / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person / ".config"))
    monkeypatch.delenv("NIGHTSCHOOL_CONFIG", raising=False)
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("USER", "ada")
    monkeypatch.chdir(person)
    return Desk(tmp_path, capsys)


def test_proposals_are_listed_with_their_status(desk: Desk) -> None:
    """What is certified is in review, what is not is called a suggestion; what failed is only counted."""
    certified = desk.propose()
    suggested = desk.propose(VerdictKind.UNDECIDED, AFTER + b"more\n")
    failed = desk.propose(VerdictKind.REJECT, AFTER + b"worse\n")
    told = desk.gives("proposals")
    assert {row["id"]: row["status"] for row in told["proposals"]} == {
        certified.id: "in review",
        suggested.id: "suggestion",
    }
    assert told["not_listed"] == 1
    assert "1 more, rejected or failed: nightschool proposals --all" in desk.says("proposals")
    everything = {row["id"]: row["status"] for row in desk.gives("proposals", "--all")["proposals"]}
    assert everything[failed.id] == "evaluation failed"


def test_no_proposal_says_what_to_do(desk: Desk) -> None:
    """An empty list is no error and names the next step."""
    assert desk.gives("proposals") == {"proposals": [], "not_listed": 0}
    assert "next: nightschool run" in desk.says("proposals")


def test_show_tells_all_evidence(desk: Desk) -> None:
    """A proposal is shown with its file, the person's words, verdict, wealth, scores, guards and losses."""
    draft = desk.propose()
    told = desk.says("show", draft.id)
    for text in (
        f"{draft.id}: in review",
        str(desk.file),
        "+ use pnpm, not npm",
        "you said: 'use pnpm, not npm' (session s1, turn 2)",
        "Gate: passed. With this edit your agent does what you asked for more often.\n  20 pairs",
        "better with it in 12, worse in 0, alike in 8\n",
        curve(WEALTH),
        "16.7 is needed to pass",
        "65% and 99%",
        "unharmed",
        "Could go unseen: ",
        "not counted: 1 without the edit, 0 with it",
        "Safety: nothing found",
        f"next: nightschool adopt {draft.id}\n",
    ):
        assert text in told
    assert "@@" not in told
    assert "\n+* use pnpm, not npm\n" in desk.says("show", draft.id, "--diff")


def test_show_as_a_document_holds_everything(desk: Desk) -> None:
    """--json is one document with draft, evidence and diff, found by the beginning of an id too."""
    draft = desk.propose(safe=False)
    told = desk.gives("show", draft.id[:6])
    assert told["id"] == draft.id
    assert told["status"] == "safety failed"
    assert told["safety"][0]["findings"][0]["code"] == "secret"
    assert told["verdicts"][0]["path"] == list(WEALTH)
    assert told["draft"]["edits"][0]["moment"]["quote"] == "use pnpm, not npm"
    assert told["diff"].startswith("--- a/CLAUDE.md\n+++ b/CLAUDE.md\n")
    assert "a token in line 3" in desk.says("show", draft.id)


def test_an_unknown_id_is_wrong_use(desk: Desk) -> None:
    """A name that is none gives exit code 2 and where the names are."""
    assert "`nightschool proposals` lists them" in desk.says("show", "d-0000000000", code=2)


def test_adopt_and_undo_give_the_file_back(desk: Desk) -> None:
    """adopt says what it wrote and how to take it back; undo restores bytes and mode and says so."""
    draft = desk.propose()
    told = desk.says("adopt", draft.id)
    assert f"adopted {draft.id} as r-0001: wrote {desk.file}" in told
    assert f"next: nightschool undo {draft.id}" in told
    assert desk.file.read_bytes() == AFTER
    again = desk.gives("adopt", draft.id)
    assert (again["written"], again["release"]["number"]) == (False, "r-0001")
    told = desk.says("undo", draft.id)
    assert f"{desk.file} has the bytes and the mode (0640) back" in told
    assert (desk.file.read_bytes(), desk.file.stat().st_mode & 0o777) == (BEFORE, MODE)
    assert "r-0001 was undone already as r-0002; nothing was written" in desk.says("undo", "r-0001")
    shown = desk.says("show", draft.id)
    assert "undid r-0001" in shown
    assert [shown.count(f"\n{number} ") for number in ("r-0001", "r-0002")] == [1, 1]
    assert "rolled back" in shown
    assert "ada" in shown


def test_the_persons_own_file_is_the_one_that_they_moved(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown, written and undone is the file in the folder that the variable names."""
    file = tmp_path / "moved/CLAUDE.md"
    file.parent.mkdir()
    file.write_bytes(BEFORE)
    file.chmod(MODE)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(file.parent))
    draft = desk.propose(own=True)
    assert f"file: {file}\n" in desk.says("show", draft.id)
    assert f"+++ b{file}\n" in desk.says("show", draft.id, "--diff")
    assert f"wrote {file}" in desk.says("adopt", draft.id)
    assert file.read_bytes() == AFTER
    assert not (tmp_path / "person/.claude").exists()
    desk.says("undo", draft.id)
    assert file.read_bytes() == BEFORE


def test_no_file_of_a_project_keeps_from_undoing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings file that a pull brought and that is wrong stops a run there; a list only tells of it, and
    the way back stays."""
    draft = desk.propose()
    desk.says("adopt", draft.id)
    (desk.project / ".nightschool.toml").write_text('runner = "codex"\n', encoding="utf-8")
    monkeypatch.chdir(desk.project)
    assert "may not be set by a project" in desk.says("proposals")
    desk.undoes()
    assert desk.file.read_bytes() == BEFORE


def test_undo_removes_a_file_that_was_new(desk: Desk) -> None:
    """Where there was no file before, undo removes the one that was made, and says so."""
    desk.file.unlink()
    draft = desk.propose(new=True)
    assert "--- /dev/null" in desk.says("show", draft.id, "--diff")
    desk.gives("adopt", draft.id)
    assert "is removed, since there was no such file before" in desk.undoes()
    assert not desk.file.exists()
    assert "nothing is published that could be undone" in desk.undoes(code=2)


def test_a_suggestion_needs_a_reason(desk: Desk) -> None:
    """A suggestion is refused with the code and the command to type, and adopted with a reason, kept."""
    draft = desk.propose(VerdictKind.UNDERPOWERED)
    told = desk.says("adopt", draft.id[:7], code=4)
    assert f"To take it all the same: nightschool adopt {draft.id} --reason WHY\n" in told
    assert told.count("--reason") == 1
    (reason,) = desk.gives("adopt", draft.id, code=4)["error"]["reasons"]
    assert reason["code"] == "waiver-missing"
    assert desk.file.read_bytes() == BEFORE
    desk.gives("adopt", draft.id, "--reason", "I always say it")
    assert desk.file.read_bytes() == AFTER
    assert desk.gives("show", draft.id)["reviews"][0]["reason"] == "I always say it"


def test_reject_keeps_the_reason(desk: Desk) -> None:
    """A rejected proposal cannot be adopted; rejecting without a reason is wrong use."""
    draft = desk.propose()
    desk.says("reject", draft.id, code=2)
    assert "--reason is missing or empty" in desk.says("reject", draft.id, "--reason", " ", code=2)
    assert f"rejected {draft.id}: one project only" in desk.says(
        "reject", draft.id, "--reason", "one project only"
    )
    assert "rejected already by ada" in desk.says("reject", draft.id, "--reason", "again")
    assert "cannot adopt a proposal that you turned down" in desk.says("adopt", draft.id, code=4)
    assert desk.file.read_bytes() == BEFORE
    assert draft.id not in desk.says("proposals")


def test_no_verdict_is_listed_and_can_be_turned_down(desk: Desk) -> None:
    """A proposal whose exam could say nothing has a word of its own, is listed, and takes the person's no
    with its reason; no reason of theirs carries it into the file."""
    draft = desk.propose(kind=VerdictKind.INVALID)
    listed = " ".join(desk.says("proposals").split())
    assert f"{draft.id} no verdict" in listed
    assert "No verdict: the exam could say nothing about it" in listed
    assert f"nightschool reject {draft.id} --reason WHY" in desk.says("show", draft.id)
    refused = desk.says("adopt", draft.id, "--reason", "please", code=4)
    assert refused.count("exam could say nothing about it") == 1, "a reason is told once"
    assert f"rejected {draft.id}: too broad" in desk.says("reject", draft.id, "--reason", "too broad")
    assert desk.gives("show", draft.id)["reviews"][0]["reason"] == "too broad"
    assert draft.id not in desk.says("proposals")


def test_adopt_shows_a_file_that_changed(desk: Desk) -> None:
    """A live file that changed since is left alone: both changes are shown, and how to go on."""
    draft = desk.propose()
    desk.file.write_bytes(BEFORE + b"mine\n")
    told = desk.says("adopt", draft.id, code=4)
    for text in (
        "+mine",
        "+* use pnpm, not npm",
        f"nightschool rebase {draft.id}\n",
        f"nightschool reject {draft.id} --reason",
    ):
        assert text in told
    error = desk.gives("adopt", draft.id, code=4)["error"]
    assert error["code"] == "stale-live-file"
    assert error["path"] == str(desk.file)
    assert "+mine" in error["diff"]
    assert desk.file.read_bytes() == BEFORE + b"mine\n"


def test_undo_shows_a_file_that_changed(desk: Desk) -> None:
    """What was written after adopting is never lost to an undo: it is shown, exit code 4, and where its edits
    can't be taken out of it either, no command is named that is refused."""
    draft = desk.propose()
    desk.gives("adopt", draft.id)
    desk.file.write_bytes(AFTER + b"mine\n")
    told = desk.undoes(code=4)
    assert "+mine" in told
    assert "put the adopted words back and undo again" in told
    assert "--keep-later" not in told
    assert desk.file.read_bytes() == AFTER + b"mine\n"


@pytest.mark.parametrize(
    ("path", "shown"),
    [((), ""), ((1.0, 1.0), "▁▁"), ((1.0, 2.0, 4.0, 8.0), "▁▃▆█"), ((0.5,), "▁"), ((0.0, 1.0), "▁█")],
)
def test_the_curve(path: tuple[float, ...], shown: str) -> None:
    """Equal factors are equal steps, 1 is always on the scale, and a wealth of zero has a bar too."""
    assert curve(path) == shown


def test_a_long_curve_ends_with_the_last_wealth() -> None:
    """Of more pairs than fit every n-th is shown, and the last one always."""
    told = curve([1.0] * 200 + [math.e])
    assert len(told) <= 60
    assert told.endswith("▁█")

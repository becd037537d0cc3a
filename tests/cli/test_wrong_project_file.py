"""A project's settings file that is wrong: what only reads the store goes on and says so."""

from __future__ import annotations

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from nightschool.cli import app
from nightschool.core.proposals import Draft
from nightschool.core.sessions import Session
from nightschool.core.tasks import Task
from nightschool.settings import project_ignore

WRONG = "[limits]\nmax_job = 3\n"


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A person with a store that holds a cycle and its proposals."""
    place = Place.made(tmp_path_factory.mktemp("person"))
    for _ in range(2):
        assert run_cycle(place, runner=QuickRunner()).learned
    (place.project / ".nightschool.toml").write_text(WRONG)
    return place


@pytest.fixture
def ids(learned: Place, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("HOME", str(learned.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(learned.ours))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(learned.person / "config.toml"))
    (learned.person / "config.toml").write_text('runner = "scripted"\n')
    monkeypatch.chdir(learned.project)
    with cycle_in(learned) as (parts, _):
        store = parts.store
        return {
            "DRAFT": store.find(Draft)[0].id,
            "TASK": store.find(Task)[0].id,
            "SESSION": store.find(Session)[0].id,
        }


READS = (
    "status", "proposals", "show DRAFT", "history", "diff", "report", "tasks", "tasks show TASK",
    "tasks export tasks.toml --force", "explain SESSION", "explain DRAFT", "releases", "schedule",
    "schedule print", "forget SESSION --dry-run", "uninstall --dry-run",
)  # fmt: skip
WRITES = (
    "run --yes",
    "run --dry-run",
    "adopt DRAFT",
    "reject DRAFT --reason no",
    "pin CLAUDE.md",
    "gate calibrate --yes",
)


def called(command: str, ids: dict[str, str]) -> list[str]:
    return [ids.get(word, word) for word in command.split()]


@pytest.mark.parametrize("command", READS)
def test_what_only_reads_goes_on_and_warns(
    command: str, ids: dict[str, str], learned: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file, the key and the way out are named on stderr, and the answer comes all the same."""
    code = app.run(called(command, ids))
    written = capsys.readouterr()
    assert code in {0, 3, 4}, written.err
    warning = f"warning: {learned.project}/.nightschool.toml: unknown setting 'limits.max_job'"
    assert warning in written.err
    assert "did you mean limits.max_jobs?" in written.err
    assert "mended or moved away" in written.err


@pytest.mark.parametrize("command", WRITES)
def test_what_practises_or_writes_refuses(
    command: str, ids: dict[str, str], learned: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is done under settings that nobody can read."""
    assert app.run(called(command, ids)) == 2
    assert f"{learned.project}/.nightschool.toml: unknown setting" in capsys.readouterr().err


def test_a_wrong_file_lets_nothing_be_forgotten(ids: dict[str, str], learned: Place) -> None:
    """Whose list cannot be read may have named a session, and may not: what is stored of it stays."""
    assert ids
    with cycle_in(learned) as (parts, _):
        before = parts.store.find(Session)
        assert parts.forgetting().forget_due(parts.ignoring()) == ()
        assert parts.store.find(Session) == before


def test_a_wrong_file_of_the_persons_own_stops_everything(
    ids: dict[str, str], learned: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """That file says where the store is: without it nothing is read."""
    assert ids
    (learned.person / "config.toml").write_text(WRONG)
    assert app.run(["status"]) == 2
    assert "config.toml: unknown setting" in capsys.readouterr().err


def test_a_file_where_a_folder_was_is_no_settings_file(
    ids: dict[str, str], learned: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """A session's folder may be a file by now: it has no settings then, and is no error."""
    assert ids
    assert not project_ignore(learned.project / "README.md")

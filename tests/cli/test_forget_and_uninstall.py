"""`forget` and `uninstall`: told beforehand, asked, done, and nothing of the agents touched."""

from __future__ import annotations

import html
import json
import shlex
import shutil
import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle, tree
from nightschool.cli import app
from nightschool.core.cycles import CycleReport
from nightschool.core.forgetting import Unfinished
from nightschool.core.proposals import Status
from nightschool.core.sessions import Session
from nightschool.core.tasks import Correction, Task
from nightschool.stages import releases
from nightschool.testing.demo import lay_out

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def learned(make_folder: Callable[[str], Path]) -> Place:
    """A person after a whole cycle."""
    place = Place.made(make_folder("school"))
    run_cycle(place, runner=QuickRunner())
    return place


@pytest.fixture
def place(learned: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The same person, standing in the project, with a copy of what that cycle stored."""
    place = replace(learned, ours=Path(shutil.copytree(learned.ours, tmp_path / "ns")))
    config = tmp_path / "nightschool" / "config.toml"
    config.parent.mkdir()
    config.write_text('runner = "scripted"\n', encoding="utf-8")
    monkeypatch.setenv("HOME", str(place.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(place.ours))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(config))
    monkeypatch.chdir(place.project)
    return place


def sessions(place: Place) -> list[str]:
    with cycle_in(place) as (parts, _):
        return [session.id for session in parts.store.find(Session)]


def told(capsys: Captured) -> Any:
    return json.loads(capsys.readouterr().out)


def adopted(place: Place) -> tuple[str, Path, bytes]:
    """Adopt what the gate accepted; its id, its file, and what stood there before."""
    with cycle_in(place) as (parts, _):
        case = next(case for case in releases.drafts(parts.store) if case.status is Status.IN_REVIEW)
        path = parts.place(case.draft.target)
    before = path.read_bytes()
    assert app.run(["adopt", case.draft.id]) == 0
    return case.draft.id, path, before


def test_it_tells_what_goes_before_it_asks(place: Place, capsys: Captured) -> None:
    """Without anyone to ask nothing is forgotten, and the counts stand on stderr; exit code 4."""
    first = sessions(place)[0]
    assert app.run(["forget", first]) == 4
    said = capsys.readouterr().err
    assert "sessions" in said
    assert "--yes" in said
    assert first in sessions(place)


def test_a_dry_run_changes_nothing(place: Place, capsys: Captured) -> None:
    """`--dry-run` counts what would go, by kind, and names the transcripts that stay with the agent."""
    before = sessions(place)
    assert app.run(["forget", before[0], "--dry-run", "--json"]) == 0
    document = told(capsys)
    assert document["done"] is False
    assert document["goes"]["sessions"] == 1
    assert len(document["transcripts"]) == 1
    assert Path(document["transcripts"][0]).is_file()
    assert sessions(place) == before


def test_a_session_is_forgotten_and_not_read_again(place: Place, capsys: Captured) -> None:
    """After `--yes` it is gone, a harvest of everything leaves it out, and `--allow` lets it come back."""
    first = sessions(place)[0]
    agents = tree(place.person)
    assert app.run(["forget", first, "--yes", "--json"]) == 0
    assert told(capsys)["done"] is True
    assert app.run(["harvest", "--all", "--json"]) == 0
    document = told(capsys)
    assert first not in [row["id"] for row in document["sessions"]]
    assert [out["reason"] for out in document["left_out"]] == ["forgotten"]
    assert app.run(["corrections", "--json"]) == 0
    assert first not in capsys.readouterr().out
    assert app.run(["forget", first, "--allow"]) == 0
    assert app.run(["harvest", "--all", "--json"]) == 0
    capsys.readouterr()
    assert first in sessions(place)
    assert tree(place.person) == agents, "the agents' own files are never touched"


@pytest.mark.parametrize("name", ["ledger", ".", "{root}", "{root}/ledger"])
def test_a_project_is_named_by_folder_or_name(place: Place, name: str, capsys: Captured) -> None:
    """A project's folder, one inside it, or its name as it stands in lists."""
    assert app.run(["forget", name.format(root=place.project), "--dry-run", "--json"]) == 0
    document = told(capsys)
    assert (document["thing"], document["name"]) == ("project", str(place.project))
    assert document["goes"]["sessions"] == 15


def own_words(place: Place) -> tuple[str, str]:
    """A session that a correction was heard in, and a text that a person said in it alone."""
    with cycle_in(place) as (parts, _):
        known = parts.store.find(Session)
        heard = {name for item in parts.store.find(Correction) for name in item.sessions}
        said = Counter(turn.text for session in known for turn in session.human_turns)
        for session in known:
            for turn in session.human_turns:
                alone = not any(turn.text in text for text in said if text != turn.text)
                if session.id in heard and said[turn.text] == 1 and alone:
                    return session.id, turn.text
    raise AssertionError("no session says anything of its own")


@pytest.mark.parametrize("way", ["forgotten", "project", "words", "projects", "paths"])
def test_no_command_shows_what_was_made_unread(place: Place, way: str, capsys: Captured) -> None:
    """Whether forgotten or named by an ignore list since, no command that shows text shows any of it."""
    session, text = own_words(place)
    assert app.run(["report"]) == 0
    assert app.run(["explain", session]) == 0
    assert text[:20] in capsys.readouterr().out
    with cycle_in(place) as (parts, _):
        (whole,) = [one for one in parts.store.find(Session) if one.id == session]
    config = place.ours.parent / "nightschool" / "config.toml"
    lists = {"words": text, "projects": "ledger", "paths": whole.path}
    if way in lists:
        listed = f'runner = "scripted"\n[ignore]\n{way} = [{json.dumps(lists[way])}]\n'
        config.write_text(listed, encoding="utf-8")
    else:
        assert app.run(["forget", session if way == "forgotten" else str(place.project), "--yes"]) == 0
    with cycle_in(place) as (parts, _):
        drafts = [case.draft.id for case in releases.drafts(parts.store)]
        tasks = [task.id for task in parts.store.find(Task)]
        cycles = [report.cycle for report in parts.store.find(CycleReport)]
    capsys.readouterr()
    out = place.ours.parent / "out.toml"
    commands = [
        ["corrections"],
        ["tasks", "--all-projects"],
        ["tasks", "export", str(out)],
        ["proposals", "--all"],
        ["status"],
        ["history", "--all-projects"],
        ["explain", session],
        *(["tasks", "show", task] for task in tasks[:3]),
        *([name, draft] for draft in drafts for name in ("show", "explain", "report")),
        *(
            ["report", cycle, "--format", kind, "--output", "-"]
            for cycle in cycles
            for kind in ("html", "md")
        ),
        *(["diff", cycle, cycle] for cycle in cycles),
    ]
    assert app.run(["explain", session]) == 2
    for command in commands:
        for form in ([], ["--json"]):
            app.run([*command, *form])
            shown = "".join(capsys.readouterr())
            assert text not in html.unescape(shown), command
            assert json.dumps(text)[1:-1] not in shown, command
    files = [path for path in (place.ours / "reports").rglob("*") if path.is_file()]
    kept = (
        [] if way in lists else files
    )  # a page that lies there is the person's, until they have it forgotten
    assert not [path for path in (*kept, *([out] if out.exists() else [])) if text in path.read_text()]


def test_what_to_type_next_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """A project whose path has a blank in it is quoted in the command that lets it be read again."""
    person = tmp_path / "two words"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    project = lay_out(person)
    monkeypatch.chdir(project)
    assert app.run(["harvest", "--all"]) == 0
    assert app.run(["forget", str(project), "--yes"]) == 0
    assert f"unless: nightschool forget {shlex.quote(str(project))} --allow\n" in capsys.readouterr().out


def test_the_beginning_of_an_id_is_enough_if_it_is_one(place: Place, capsys: Captured) -> None:
    """Eight letters that begin one session name it; those of several are refused with their names."""
    known = sessions(place)
    own = next(one for one in known if one.startswith("claude-code:"))
    assert app.run(["forget", own.partition(":")[2][:8], "--dry-run", "--json"]) == 0
    assert told(capsys)["name"] == own
    assert app.run(["forget", "codex:01a22ae0", "--dry-run"]) == 2
    assert "several sessions" in capsys.readouterr().err


def test_what_is_neither_is_refused(place: Place, capsys: Captured) -> None:
    """A name that is no session and no project changes nothing and says how they are named."""
    assert app.run(["forget", "nothing-of-this-name", "--yes"]) == 2
    assert "no session and no project" in capsys.readouterr().err


def test_a_session_that_was_not_read_yet_is_never_read(place: Place, capsys: Captured) -> None:
    """Named in full, a session may be put on the list before it was ever read."""
    first = sessions(place)[0]
    shutil.rmtree(place.ours)
    assert app.run(["forget", first, "--yes"]) == 0
    assert app.run(["harvest", "--all"]) == 0
    assert first not in sessions(place)


def test_what_is_told_to_type_is_quoted(place: Place, tmp_path: Path, capsys: Captured) -> None:
    """A folder with a space in its name stands in the told command as a shell takes it."""
    folder = tmp_path / "cli tool"
    folder.mkdir()
    assert app.run(["forget", str(folder), "-y"]) == 0
    command = capsys.readouterr().out.split("unless: ")[1].strip().replace("\n", "")
    assert shlex.split(command)[1:] == ["forget", str(folder), "--allow"]
    assert app.run(shlex.split(command)[1:]) == 0
    assert "may be read again" in capsys.readouterr().out


def test_a_bare_id_is_known_after_it_was_forgotten(place: Place, capsys: Captured) -> None:
    """The name by which it was forgotten takes it off the list too."""
    first = sessions(place)[0]
    bare = first.partition(":")[2]
    assert app.run(["forget", bare, "-y"]) == 0
    assert app.run(["forget", bare, "--dry-run"]) == 0
    capsys.readouterr()
    assert app.run(["forget", bare, "--allow", "--json"]) == 0
    document = told(capsys)
    assert (document["name"], document["was_forgotten"]) == (first, True)
    assert app.run(["forget", bare, "--allow"]) == 2
    assert "was forgotten, is named in full" in " ".join(capsys.readouterr().err.split())


def test_that_it_was_forgotten_is_told_once(place: Place, capsys: Captured) -> None:
    """A harvest of a forgotten file alone says why it is left out, and not the same twice."""
    with cycle_in(place) as (parts, _):
        first = parts.store.find(Session)[0]
    assert app.run(["forget", first.id, "-y"]) == 0
    capsys.readouterr()
    assert app.run(["harvest", first.path]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{Path(first.path).name}: you had it forgotten" in said
    assert "(you had it forgotten)" not in said


def test_an_adopted_rule_is_named_with_its_undo(place: Place, capsys: Captured) -> None:
    """A rule in a live file stays there, and who forgets what it came from is told how to take it out."""
    draft, path, before = adopted(place)
    with_rule = path.read_bytes()
    capsys.readouterr()
    assert app.run(["forget", "ledger", "--yes"]) == 0
    assert f"nightschool undo {draft}" in capsys.readouterr().out
    assert path.read_bytes() == with_rule
    assert app.run(["undo", draft]) == 0
    assert path.read_bytes() == before


def test_status_tells_of_a_forgetting_that_was_broken_off(place: Place, capsys: Captured) -> None:
    """What a killed process left is said until it is cleared away."""
    with cycle_in(place) as (parts, _):
        parts.store.commit(Unfinished(at=parts.clock.now(), cycles=()))
    assert app.run(["status"]) == 0
    assert "a forgetting was broken off" in capsys.readouterr().out
    assert app.run(["harvest"]) == 0
    assert "brought to its end" in capsys.readouterr().out
    assert app.run(["status", "--json"]) == 0
    assert told(capsys)["forgetting"] is False


def test_uninstall_tells_and_asks(place: Place, capsys: Captured) -> None:
    """Without anyone to ask, and in a dry run, nothing goes; what there is is told."""
    before = tree(place.ours.parent)
    assert app.run(["uninstall", "--dry-run", "--json"]) == 0
    document = told(capsys)
    assert {"nightschool.db", "blobs", "locks"} <= set(document["holds"])
    assert document["config"].endswith("config.toml")
    assert app.run(["uninstall"]) == 4
    assert "--yes" in capsys.readouterr().err
    assert {name for name in tree(place.ours.parent) if "db-" not in name} == {
        name for name in before if "db-" not in name
    }


def test_uninstall_removes_all_of_ours_and_nothing_else(place: Place, capsys: Captured) -> None:
    """Home, settings and rules go; the file has its old bytes; what is not ours stays and is named."""
    agents = tree(place.person)
    _, path, before = adopted(place)
    foreign = place.ours / "mine.txt"
    foreign.write_text("mine", encoding="utf-8")
    (place.ours / "agreed").mkdir()
    (place.ours / "agreed/0123456789abcdef.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert app.run(["uninstall", "--yes", "--json"]) == 0
    document = told(capsys)
    assert document["left"] == ["mine.txt"]
    assert document["rewrote"] == [str(path)]
    assert str(place.ours / "agreed") in document["removed"]
    assert path.read_bytes() == before
    assert [path.name for path in place.ours.iterdir()] == ["mine.txt"]
    assert not (place.ours.parent / "nightschool").exists()
    assert tree(place.person) == agents


def test_uninstall_takes_the_block_alone_where_the_file_was_changed(place: Place, capsys: Captured) -> None:
    """What a person wrote since is kept; only the marked block goes."""
    _, path, before = adopted(place)
    path.write_bytes(path.read_bytes() + b"\nMy own last line.\n")
    assert app.run(["uninstall", "--yes"]) == 0
    rest = path.read_bytes()
    path.write_bytes(before)
    assert rest == before + b"\nMy own last line.\n"
    assert not place.ours.exists()


def test_uninstall_can_leave_the_rules(place: Place, capsys: Captured) -> None:
    """With `--keep-rules` the files stay as they were adopted."""
    _, path, before = adopted(place)
    with_rule = path.read_bytes()
    assert app.run(["uninstall", "--yes", "--keep-rules"]) == 0
    kept = path.read_bytes()
    path.write_bytes(before)
    assert kept == with_rule
    assert not place.ours.exists()


def test_uninstall_of_nothing_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Where nothing was ever made, nothing is made to be removed."""
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    assert app.run(["uninstall", "--yes"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_uninstall_goes_on_where_the_store_is_broken(place: Place, capsys: Captured) -> None:
    """A database that cannot be opened is no reason to keep it; that its rules are unknown is said."""
    for path in place.ours.glob("nightschool.db*"):
        path.unlink()
    (place.ours / "nightschool.db").write_bytes(b"no database at all" * 100)
    assert app.run(["uninstall", "--yes"]) == 0
    assert "it is not known which files hold rules" in capsys.readouterr().err
    assert not place.ours.exists()


def test_all_that_is_kept_is_for_the_person_alone(place: Place) -> None:
    """Below our home no file and no folder can be read by anyone else."""
    open_to_others = [path for path in place.ours.rglob("*") if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    assert open_to_others == []


def test_an_empty_name_forgets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """`forget "$UNSET"` is wrong use: it never means the folder that one stands in."""
    assert app.run(["forget", "", "--yes"]) == 2
    assert "empty name" in capsys.readouterr().err

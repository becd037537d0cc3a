"""The one place that names concrete parts."""

from __future__ import annotations

import os
import pwd
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from nightschool import settings
from nightschool.adapters.second_opinion import DetectSecrets
from nightschool.core.errors import RunnerUnusable, UserError
from nightschool.plug_ins import known
from nightschool.setting_kinds import READ
from nightschool.wiring import AGENTS, KEY_BYTES, Parts, opened, redaction_key


@contextmanager
def parts_in(
    tmp_path: Path, *, flags: dict[str, object] | None = None, path: str = "/nowhere", demo: bool = False
) -> Iterator[Parts]:
    person = tmp_path / "sam"
    person.mkdir(exist_ok=True)
    environment = {"NIGHTSCHOOL_HOME": str(tmp_path / "ns"), "PATH": path, "USER": "sam"}
    chosen = settings.load(project=None, environment=environment, flags=flags or {})
    with opened(chosen, environment=environment, person_home=person, demo=demo) as parts:
        yield parts


def test_everything_that_is_declared_loads(tmp_path: Path) -> None:
    """Each source and surface that the package declares can be made, and carries the name it is known by."""
    with parts_in(tmp_path) as parts:
        assert {name: source.name for name, source in parts.sources().items()} == {
            name: name for name in parts.settings.sources
        }
        assert [parts.surface(agent).name for agent in known("surfaces")] == list(known("surfaces"))
    assert set(AGENTS) <= set(known("runners"))


def test_an_unknown_part_is_named_with_those_there_are(tmp_path: Path) -> None:
    """A name that nobody declares is the person's to mend: the error lists what there is."""
    with parts_in(tmp_path) as parts, pytest.raises(UserError, match=r"no surface 'vim'.*claude-code, codex"):
        parts.surface("vim")
    with parts_in(tmp_path) as parts, pytest.raises(UserError, match=r"no runner 'vim'.*claude-code, codex"):
        parts.runner("vim")


def test_auto_takes_the_first_agent_on_path(tmp_path: Path) -> None:
    """Without a setting the runner is the agent whose program is on PATH, and the reason names the place."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with parts_in(tmp_path, path=str(program.parent)) as parts:
        name, why = parts.runner_name()
        assert name == "codex"
        assert str(program) in why
    with parts_in(tmp_path, path=str(program.parent), flags={"runner": "claude-code"}) as parts:
        name, why = parts.runner_name()
        assert name == "claude-code"
        assert "settings say so" in why


def test_no_agent_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    """Where no agent is on PATH, the error names those that are looked for and how to choose another."""
    with parts_in(tmp_path) as parts, pytest.raises(RunnerUnusable, match=r"claude, codex.*--runner"):
        parts.runner_name()


def test_agents_are_never_run_without_a_sandbox(tmp_path: Path) -> None:
    """Only the demo, whose content is ours, may do without isolation."""
    flags: dict[str, object] = {"sandbox": "unsafe-process", "runner": "claude-code"}
    with parts_in(tmp_path, flags=flags) as parts, pytest.raises(UserError, match="demo alone"):
        parts.runner("claude-code")
    with parts_in(tmp_path, flags=flags, demo=True) as parts:
        assert parts.sandbox().name == "unsafe-process"


def test_a_second_opinion_is_asked_only_where_the_settings_say_so(tmp_path: Path) -> None:
    """detect-secrets looks with `publish.second_opinion` alone; where it is missing, nothing is begun."""
    with parts_in(tmp_path) as parts:
        assert parts.vet().second_opinion is None
    flags: dict[str, object] = {"publish.second_opinion": True, "runner": "codex"}
    with parts_in(tmp_path, flags=flags) as parts:
        assert isinstance(parts.vet().second_opinion, DetectSecrets)
        with pytest.MonkeyPatch.context() as without:
            without.setitem(sys.modules, "detect_secrets.core.plugins.util", None)
            with pytest.raises(UserError, match="detect-secrets is not installed"):
                parts.cycle(project=None, progress=lambda *_: None)


def test_limits_of_the_settings_are_the_doors(tmp_path: Path) -> None:
    """What the person limits is what the cycle's door keeps."""
    flags: dict[str, object] = {
        "runner": "scripted",
        "limits.max_jobs": 7,
        "limits.job_timeout_seconds": 30,
        "sandbox": "unsafe-process",
    }
    with parts_in(tmp_path, flags=flags, demo=True) as parts:
        cycle = parts.cycle(project=None, progress=lambda *_: None)
        assert (cycle.door.budget.jobs, cycle.door.left()) == (7, 7)
        assert cycle.options.timeout == timedelta(seconds=30)


def test_a_scope_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """A wrong --scope lists the right ones, and takes no number of a cycle."""
    flags: dict[str, object] = {"runner": "scripted", "sandbox": "unsafe-process"}
    with parts_in(tmp_path, flags=flags, demo=True) as parts:
        with pytest.raises(UserError, match="auto, project, user"):
            parts.cycle(project=None, progress=lambda *_: None, scope="world")
        assert parts.cycle(project=None, progress=lambda *_: None).number == "n-0001"


def test_the_redaction_key_is_made_once(tmp_path: Path) -> None:
    """All that start at once come to one key, which only the person may read."""
    barrier, keys = threading.Barrier(4), list[bytes]()

    def read() -> None:
        barrier.wait(10)
        keys.append(redaction_key(tmp_path))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 4
    assert len({*keys, redaction_key(tmp_path)}) == 1
    assert len(keys[0]) == KEY_BYTES
    assert [path.name for path in tmp_path.iterdir()] == ["redaction.key"]
    assert (tmp_path / "redaction.key").stat().st_mode & 0o777 == 0o600


def test_a_broken_redaction_key_is_no_key(tmp_path: Path) -> None:
    """A key of another length is refused with the way out: stand-ins of it would match nothing."""
    (tmp_path / "redaction.key").write_bytes(b"short")
    with pytest.raises(UserError, match=r"redaction\.key.*move it away"):
        redaction_key(tmp_path)


@pytest.mark.parametrize(("environment", "actor"), [({"USER": "sam"}, "sam"), ({"LOGNAME": "lu"}, "lu")])
def test_the_actor_is_the_person(tmp_path: Path, environment: dict[str, str], actor: str) -> None:
    """Reviews and releases are signed with the person's name on this machine."""
    with parts_in(tmp_path) as parts:
        parts.environment = environment
        assert parts.actor == actor


def test_the_actor_without_a_variable(tmp_path: Path) -> None:
    """Where no variable tells the name, the machine's list of users does."""
    with parts_in(tmp_path) as parts:
        parts.environment = {}
        assert parts.actor == pwd.getpwuid(os.getuid()).pw_name


def test_all_of_our_sources_are_read_by_default() -> None:
    """A source that comes with the program and that nobody reads would be of no use."""
    ours = {
        entry.name for entry in entry_points(group="nightschool.sources") if "nightschool" in entry.module
    }
    assert set(READ) == ours

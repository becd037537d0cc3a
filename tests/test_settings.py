"""What may be set, where, in which order, and how an error reads."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from nightschool import settings
from nightschool.core.errors import UserError
from nightschool.setting_kinds import Limits


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own file, in a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    file = tmp_path / ".config" / "nightschool" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def refusal(project: Path | None = None, environment: dict[str, str] | None = None, **flags: object) -> str:
    with pytest.raises(UserError) as caught:
        settings.load(project=project, environment=environment or {}, flags=flags)
    return str(caught.value)


def test_defaults_need_no_file(person: Path, project: Path) -> None:
    """Without any file, variable or flag the built-in defaults hold, and say that they are defaults."""
    found = settings.load(project=project, environment={})
    assert found == settings.Settings()
    assert found.limits.max_jobs == 100
    assert found.home == person.parents[2] / ".local" / "share" / "nightschool"
    assert str(found.origin("limits.max_jobs")) == "built-in default"


def test_later_places_win_and_are_named(person: Path, project: Path) -> None:
    """Defaults, file, project, environment, flags: the later wins, and `origin` names the winner."""
    person.write_text("[limits]\nmax_jobs = 50\nwidth = 4\nmax_minutes = 30\n[harvest]\nlookback_hours = 5\n")
    inside = project / settings.PROJECT_FILE
    inside.write_text("[limits]\nmax_jobs = 40\nmax_minutes = 20\nwidth = 3\n")
    found = settings.load(
        project=project,
        environment={"NIGHTSCHOOL_LIMITS_MAX_JOBS": "30", "NIGHTSCHOOL_LIMITS_MAX_MINUTES": "10"},
        flags={"limits.max_jobs": 20, "runner": None},
    )
    assert (found.limits.max_jobs, found.limits.max_minutes, found.limits.width) == (20, 10, 3)
    assert found.harvest.lookback_hours == 5
    places = [found.origin(key).where for key in ("limits.max_jobs", "limits.max_minutes", "limits.width")]
    assert places == ["--max-jobs", "NIGHTSCHOOL_LIMITS_MAX_MINUTES", str(inside)]
    assert found.origin("harvest.lookback_hours").where == str(person)
    assert found.origin("runner").place == "default"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[limits]\nmax_job = 5\n", ["limits.max_job", "did you mean limits.max_jobs?"]),
        ("[limit]\nmax_jobs = 5\n", ["unknown setting 'limit'", "limits"]),
        ("colour = true\n", ["'colour'", "found true", "there are"]),
        ("limits = 3\n", ["limits is a section", "max_jobs"]),
        ('[limits]\nmax_jobs = "5"\n', ["limits.max_jobs is '5'", "a whole number, 1 or more"]),
        ("[limits]\nmax_jobs = 0\n", ["limits.max_jobs is 0", "1 or more"]),
        ("[limits]\nmax_jobs = true\n", ["limits.max_jobs is true", "a whole number"]),
        ("[limits]\nwidth = 1.5\n", ["limits.width is 1.5", "a whole number"]),
        ("[limits]\nmax_dollars = nan\n", ["limits.max_dollars is nan", "a number above 0"]),
        ("[gate]\nalpha = 1\n", ["gate.alpha is 1", "between 0 and 1"]),
        ('[gate]\nmode = "off"\n', ["gate.mode is 'off'", '"certify" or "suggest"']),
        ('home = "here"\n', ["home is 'here'", "an absolute path"]),
        ("sources = []\n", ["sources is a list", "a list of names of sources"]),
        ("runner = { name = 1 }\n", ["runner is a section", "the name of a runner"]),
        ("runner =\n", ["no TOML file", "line 1"]),
    ],
)
def test_errors_name_key_place_and_way_out(person: Path, text: str, parts: list[str]) -> None:
    """An unknown key or a wrong type stops with the file, the key, what was found and what is allowed."""
    person.write_text(text)
    message = refusal()
    assert str(person) in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("key", "value", "known"),
    [
        (
            "runner",
            '"codx"',
            "no runner 'codx'; there are: auto, claude-code, codex, scripted; did you mean codex?",
        ),
        ("sources", '["codex", "vim"]', "no source 'vim'; there are: aider, claude-code, codex, copilot, "),
        ("sandbox", '"docker"', "no sandbox 'docker'; there are: bubblewrap, unsafe-process"),
    ],
)
def test_a_name_that_nobody_declares_is_wrong_wherever_it_stands(
    person: Path, key: str, value: str, known: str
) -> None:
    """What plugs in is named in settings as it is installed: another name stops each command, needed or not,
    with the place it came from, and is never taken for another."""
    person.write_text(f"{key} = {value}\n")
    assert f"{person}: {key}: there is {known}" in refusal()
    person.unlink()
    variable = {f"NIGHTSCHOOL_{key.upper()}": value.strip("[]").replace('"', "")}
    assert f"NIGHTSCHOOL_{key.upper()}: {key}: there is {known}" in refusal(environment=variable)
    flag: object = ("codex", "vim") if key == "sources" else value.strip('"')
    with pytest.raises(UserError, match=f"--{key.removesuffix('s')}: {key}: there is no"):
        settings.load(project=None, environment={}, flags={key: flag})


def test_bad_bytes_are_named(person: Path) -> None:
    """A file that is no UTF-8 is named, not read in part."""
    person.write_bytes(b'runner = "\xff"\n')
    assert f"{person} is no TOML file" in refusal()


def test_a_named_file_must_exist(person: Path, tmp_path: Path) -> None:
    """NIGHTSCHOOL_CONFIG stands in place of the person's file; naming none that is there is an error."""
    person.write_text("nonsense = 1\n")
    other = tmp_path / "other.toml"
    assert str(other) in refusal(environment={"NIGHTSCHOOL_CONFIG": str(other)})
    other.write_text('runner = "codex"\n')
    found = settings.load(project=None, environment={"NIGHTSCHOOL_CONFIG": str(other)})
    assert found.runner == "codex"


def test_variables_are_read_as_text(person: Path) -> None:
    """A variable's text is read as what the setting is; the word none lifts a limit; empty is not set."""
    found = settings.load(
        project=None,
        environment={
            "NIGHTSCHOOL_HOME": "/srv/school",
            "NIGHTSCHOOL_SOURCES": "codex, pi",
            "NIGHTSCHOOL_LIMITS_MAX_JOBS": "none",
            "NIGHTSCHOOL_LIMITS_MAX_DOLLARS": "2.5",
            "NIGHTSCHOOL_GATE_ALPHA": "0.05",
            "NIGHTSCHOOL_MODEL": "",
            "HOME": "/elsewhere",
        },
    )
    assert found.home == Path("/srv/school")
    assert found.sources == ("codex", "pi")
    assert found.limits.max_jobs is None
    assert found.limits.max_dollars == Decimal("2.5")
    assert found.gate.alpha == 0.05
    assert found.model is None


@pytest.mark.usefixtures("person")
def test_unknown_variables_are_refused() -> None:
    """A variable with our prefix that is no setting is an error that names the nearest one."""
    message = refusal(environment={"NIGHTSCHOOL_LIMIT_MAX_JOBS": "3"})
    assert "NIGHTSCHOOL_LIMIT_MAX_JOBS" in message
    assert "did you mean NIGHTSCHOOL_LIMITS_MAX_JOBS?" in message
    assert "NIGHTSCHOOL_GATE_ALPHA: gate.alpha is 'x'" in refusal(environment={"NIGHTSCHOOL_GATE_ALPHA": "x"})


@pytest.mark.usefixtures("person")
def test_flags_are_checked_too() -> None:
    """A flag with a value that is not allowed is named as the flag that it is."""
    with pytest.raises(UserError, match=r"--max-jobs: limits\.max_jobs is 0"):
        settings.load(project=None, environment={}, flags={"limits.max_jobs": 0})


@pytest.mark.parametrize(
    "text",
    [
        'home = "/tmp/x"',
        'sandbox = "unsafe-process"',
        'sources = ["codex"]',
        'runner = "codex"',
        'model = "dear"',
        '[gate]\nmode = "suggest"',
        '[endpoints]\nanthropic_url = "https://elsewhere.example"',
        '[endpoints]\nopenai_key_variable = "AWS_SECRET_ACCESS_KEY"',
    ],
)
def test_a_project_does_not_widen_trust(person: Path, project: Path, text: str) -> None:
    """What comes with a clone may not say where work runs, what is sent where, or who pays."""
    (project / settings.PROJECT_FILE).write_text(text + "\n")
    message = refusal(project)
    assert "may not be set by a project" in message
    assert str(person) in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[limits]\nmax_jobs = 31", "limits.max_jobs is 31, and a project may lower it only (it is 30)"),
        ('[limits]\nmax_jobs = "none"', "limits.max_jobs is none"),
        ("[gate]\nalpha = 0.2", "gate.alpha is 0.2, and a project may lower it only (it is 0.1)"),
    ],
)
def test_a_project_only_lowers(person: Path, project: Path, text: str, part: str) -> None:
    """A project's limits may be lower than the person's, never higher."""
    person.write_text("[limits]\nmax_jobs = 30\n")
    file = project / settings.PROJECT_FILE
    file.write_text(text + "\n")
    assert part in refusal(project)
    file.write_text("[limits]\nmax_jobs = 30\nmax_tokens = 5\n[gate]\nalpha = 0.05\n")
    found = settings.load(project=project, environment={})
    assert (found.limits.max_jobs, found.limits.max_tokens, found.gate.alpha) == (30, 5, 0.05)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('api_key = "sk-planted-key"', "sk-planted-key"),
        ('[endpoints]\nanthropic_key_variable = "sk-planted-key"', "sk-planted-key"),
        ('[endpoints]\nanthropic_url = "https://me:hunter22@host.example"', "hunter22"),
    ],
)
def test_no_secret_is_shown(person: Path, text: str, secret: str) -> None:
    """Where a key was put in error, the message does not repeat it."""
    person.write_text(text + "\n")
    message = refusal()
    assert secret not in message
    assert str(person) in message


def test_limits_become_the_budget(person: Path) -> None:
    """The limits are the budget of a cycle; none is no limit."""
    person.write_text('[limits]\nmax_minutes = "none"\nmax_jobs = 7\nmax_dollars = 0.1\n')
    budget = settings.load(project=None, environment={}).limits.budget
    assert (budget.jobs, budget.wall, budget.tokens, budget.cost) == (7, None, None, Decimal("0.1"))
    assert Limits().budget.wall == timedelta(hours=1)


def test_every_setting_says_what_it_is() -> None:
    """Each key has a text, what is allowed, a variable and a flag of its own, and can be read back."""
    keys = settings.KEYS
    assert len({key.variable for key in keys.values()}) == len(keys)
    assert len({key.flag for key in keys.values()}) == len(keys)
    for name, key in keys.items():
        assert key.about.text.endswith(".")
        assert key.allowed
        settings.Settings().get(name)

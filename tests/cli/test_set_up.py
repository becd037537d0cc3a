"""A set-up command that a project brought is read by a person before it runs, once for each text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import project_builders as builders
from nightschool.cli import app
from nightschool.core.errors import NotAllowed
from nightschool.testing.demo import lay_out


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with the recorded sessions, standing in the project, whose file asks for a set-up."""
    person = tmp_path / "person"
    person.mkdir()
    root = lay_out(person)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    config = 'runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n[limits]\nmax_jobs = 17\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    asks(root, "mkdir -p deps && echo 1 > deps/one")
    monkeypatch.chdir(root)
    return root


def asks(root: Path, command: str) -> None:
    (root / ".nightschool.toml").write_text(f"[setup]\ncommand = {json.dumps(command)}\n", encoding="utf-8")


def layers(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("home/work/mirrors/*/layers/*/finished.json"))


def test_a_projects_command_is_agreed_to_once(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan shows it and the question is about both; without a person's word nothing runs; with it the
    same text is not asked about again, another is."""
    answers = iter([False, True])

    def confirm(_out: object, question: str, *, otherwise: str) -> None:
        asked.append(question)
        if not next(answers):
            raise NotAllowed([("declined", otherwise)])

    asked: list[str] = []
    monkeypatch.setattr("nightschool.cli.output.Output.confirm", confirm)
    assert app.run(["run"]) == 4
    told = capsys.readouterr().err
    assert asked == ["Start, and run the set-up too?"]
    assert "mkdir -p deps && echo 1 > deps/one" in told
    assert "without a network" in told
    assert "you have not agreed to it yet" in told
    assert layers(tmp_path) == []
    assert app.run(["run"]) == 3
    assert len(asked) == 2
    assert layers(tmp_path)
    assert app.run(["run"]) == 3
    assert len(asked) == 2
    asks(project, "mkdir -p other")
    with pytest.raises(StopIteration):
        app.run(["run"])
    assert asked[2:] == ["Run it?"]


def test_yes_covers_no_command_that_nobody_read(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a clone brought is shown in the plan; `--yes` alone ends with 4 and the flag to type, which
    names the exact text: what comes after it is asked about anew."""
    assert app.run(["run", "--dry-run"]) == 0
    assert "echo 1 > deps/one" in capsys.readouterr().out
    assert app.run(["run", "--yes"]) == 4
    refused = capsys.readouterr().err
    assert "echo 1 > deps/one" in refused
    assert layers(tmp_path) == []
    flag = builders.agreeing(refused)
    assert app.run(["run", "--yes", *flag]) == 3
    assert layers(tmp_path)
    assert app.run(["run", "--yes"]) == 3
    assert app.run(["run", "--yes", *flag]) == 0, "it passed"
    assert "echo 1 > deps/one" not in capsys.readouterr().err
    asks(project, "mkdir -p other")
    assert app.run(["run", "--yes", *flag]) == 4
    assert app.run(["gate", "calibrate", "--yes"]) == 4
    assert "mkdir -p other" in capsys.readouterr().err
    for name in ("0123456789abcdef", "../agreed"):
        assert app.run(["run", "--yes", "--agree-setup", name]) == 2
        assert "no project of this run has a set-up of this ID" in capsys.readouterr().err


def agreeing(capsys: pytest.CaptureFixture[str], *command: str) -> int:
    """Refused at first; then with the flags that the refusal named."""
    assert app.run([*command, "--yes"]) == 4
    return app.run([*command, "--yes", *builders.agreeing("".join(capsys.readouterr()))])


def test_the_persons_own_command_is_not_asked_about(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the person set goes before the project's file, and is their word; `none` is none."""
    monkeypatch.setenv("NIGHTSCHOOL_SETUP_COMMAND", "none")
    assert app.run(["run", "--yes"]) == 3
    assert layers(tmp_path) == []
    assert not (tmp_path / "home/agreed").exists()
    monkeypatch.setenv("NIGHTSCHOOL_SETUP_COMMAND", "mkdir mine")
    assert app.run(["run"]) == 3
    assert layers(tmp_path)
    assert not (tmp_path / "home/agreed").exists()


def test_a_set_up_that_fails_starts_no_job_and_is_told_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends the practice of its project before a job is started: one message with the command, its exit
    code, its last words without a secret, and the way out."""
    token = "ghp_" + "a1B2" * 9
    asks(project, f"echo begun; echo nothing to install from >&2; echo with {token} >&2; exit 7 # {token}")
    assert agreeing(capsys, "run", "--json") == 3
    report = json.loads(capsys.readouterr().out)
    (told,) = [note for note in report["notes"] if "cannot be set up" in note]
    assert "setup.command (`echo begun; echo nothing to install from" in told
    assert "ended with exit code 7 at commit " in told
    assert "nothing to install from | with " in told
    assert "setup.network = true" in told
    assert ".nightschool.toml" in told
    assert token not in json.dumps(report)
    assert (report["spend"]["jobs"], report["spend"]["lost"]) == (0, 0)
    assert {learned["code"] for learned in report["learned"]} == {"set-up-failed"}


def test_a_calibration_needs_the_set_up_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the project cannot be set up no pair is tried: it needs the person first."""
    assert agreeing(capsys, "run") == 3
    asks(project, "exit 7")
    capsys.readouterr()
    assert agreeing(capsys, "gate", "calibrate") == 4
    assert "ended with exit code 7 at commit" in capsys.readouterr().err


def test_a_project_may_not_ask_for_a_network(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether anything has a network is for the person to say."""
    (project / ".nightschool.toml").write_text('[setup]\ncommand = "true"\nnetwork = true\n')
    assert app.run(["run", "--yes"]) == 2
    assert "setup.network may not be set by a project" in capsys.readouterr().err


@pytest.fixture
def monorepo(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with sessions in two packages of one repository, and more at its top; standing at the top."""
    person = tmp_path / "person"
    root = builders.monorepo(person / "work").root
    for folder in (root, root / "packages/web", root / "packages/api"):
        builders.sessions(person, builders.Kind(name="mono", directory=folder, root=root))
    monkeypatch.chdir(root)
    monkeypatch.setenv("NIGHTSCHOOL_LIMITS_MAX_JOBS", "9")
    monkeypatch.setattr("nightschool.stages.replay.PAUSE_SECONDS", 0.0)
    return root


def test_each_package_is_set_up_by_its_own_file(
    monorepo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Work that began in a package has its set-up, run there; other work has the root's. The plan shows
    both, whose they are and where they are run."""
    asks(monorepo, "echo 1 > of-root")
    asks(monorepo / "packages/web", "echo 1 > of-web")
    assert app.run(["run", "--dry-run"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"set-up of {monorepo}, once per commit, in a sandbox" in told
    assert f"set-up of {monorepo}/packages/web, once per commit in the folder packages/web" in told
    assert "packages/api" not in told
    assert agreeing(capsys, "run") == 3
    made = {str(path.relative_to(layer.parent)) for layer in layers(tmp_path) for path in below(layer.parent)}
    assert made == {"workspace/of-root", "workspace/packages/web/of-web"}


def below(layer: Path) -> list[Path]:
    return [path for path in (layer / "workspace").rglob("*") if path.is_file()]


def test_a_packages_set_up_that_fails_stops_that_package_alone(
    monorepo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest of the repository is practised; a package may also say that it needs none."""
    asks(monorepo, "true")
    asks(monorepo / "packages/web", "exit 5")
    asks(monorepo / "packages/api", "none")
    assert agreeing(capsys, "run", "--json") == 3
    report = json.loads(capsys.readouterr().out)
    (told,) = [note for note in report["notes"] if "cannot be set up" in note]
    assert told.startswith(f"{monorepo}/packages/web cannot be set up")
    assert report["trials"] > 0
    assert report["spend"]["lost"] == 0


def test_a_packages_ignore_list_is_used_wherever_it_is_read_from(
    monorepo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sessions that began in the package are left out, also by a harvest from elsewhere; others are not."""
    builders.write(monorepo, {"packages/web/.nightschool.toml": '[ignore]\nwords = ["pnpm"]\n'})
    assert app.run(["run", "--dry-run", "--json", "--project", str(monorepo)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["tasks"]) == 10

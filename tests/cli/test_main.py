"""One command line: its exit code, its one document, its silence."""

from __future__ import annotations

import errno
import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nightschool.cli import app
from nightschool.cli.app import run
from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.core import errors

NIGHTSCHOOL = [sys.executable, "-m", "nightschool"]


@contextmanager
def a_command_that_raises(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def failing(*, json: Json = False) -> ExitCode:
        Output(json=json).note("on the way")
        raise error

    with monkeypatch.context() as patch:
        patch.setitem(app.COMMANDS, "failing", failing)
        yield


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """`version --json` prints one document with the installed version."""
    assert run(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["version"].count(".") == 2


@pytest.mark.parametrize("arguments", [[], ["gate"], ["--help"], ["gate", "calibrate", "-h"]])
def test_help_is_plain_and_costs_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A group named alone tells its commands; help is no error and holds no escape code."""
    assert run(arguments) == 0
    printed = capsys.readouterr()
    assert "Usage: nightschool" in printed.out
    assert "\x1b" not in printed.out
    assert printed.err == ""


@pytest.mark.parametrize("width", ["60", "80", "100"])
def test_help_is_whole(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At each width the summary of each command is there to its last word, with an example and exit codes."""
    monkeypatch.setenv("COLUMNS", width)
    assert run(["--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for name, command in app.COMMANDS.items():
        summary = (inspect.getdoc(command) or "").partition("\n")[0]
        assert f"{name} {summary}" in told
    assert "Example: nightschool corrections" in told
    assert "Exit codes: 0 done" in told


def test_help_and_version_as_others_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    """`help`, `help COMMAND` and `--version` do what one expects of them."""
    for asked, same in (
        (["help"], ["--help"]),
        (["help", "undo"], ["undo", "-h"]),
        (["--version"], ["version"]),
    ):
        assert run(asked) == 0
        told = capsys.readouterr().out
        assert run(same) == 0
        assert told == capsys.readouterr().out != ""


@pytest.mark.parametrize(
    ("command", "usage"), [("show", "show [OPTIONS] ID"), ("harvest", "[OPTIONS] [PATH]...")]
)
def test_usage_is_plain(command: str, usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is required stands as it is, and what is not in one pair of brackets."""
    run([command, "--help"])
    assert f"{usage}\n" in capsys.readouterr().out


def test_help_does_not_load_the_rest() -> None:
    """Help loads neither pydantic nor rich nor the stages: that is what keeps it quick."""
    code = (
        "import sys; from nightschool.cli.app import run; run(['--help']);"
        "print([m for m in ('pydantic', 'rich.console', 'sqlalchemy', 'nightschool.settings', 'orjson')"
        " if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize(
    ("error", "code", "name"),
    [
        (errors.UserError("no"), 2, "user-error"),
        (errors.NotFound("no"), 2, "not-found"),
        (errors.NotAllowed([("reason", "say why")]), 4, "not-allowed"),
        (errors.Conflict("no"), 4, "conflict"),
        (errors.RunnerUnusable("no"), 4, "runner-unusable"),
        (errors.SandboxUnavailable("no"), 4, "sandbox-unavailable"),
        (errors.AuthenticationFailed("no"), 5, "authentication-failed"),
        (errors.Busy("no"), 6, "busy"),
        (errors.BudgetExhausted("no"), 1, "budget-exhausted"),
        (errors.WorkspaceUnavailable("no"), 1, "workspace-unavailable"),
        (OSError(errno.ENOSPC, "No space left", "/full"), 1, "system"),
    ],
)
def test_errors_become_codes(
    error: Exception,
    code: int,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each error has its exit code; it is told on stderr, or with --json as the one document."""
    with a_command_that_raises(error, monkeypatch):
        assert run(["failing"]) == code
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("on the way\nnightschool: ")
        assert run(["failing", "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["code"] == name
    if isinstance(error, errors.NotAllowed):
        assert document["error"]["reasons"] == [{"code": "reason", "text": "say why"}]
    else:
        assert set(document["error"]) == {"code", "text"}


def test_full_disk_names_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trouble of disk or rights is one line with the file."""
    error = OSError(errno.EACCES, "Permission denied", "/locked")
    with a_command_that_raises(error, monkeypatch):
        run(["failing"])
    assert capsys.readouterr().err.endswith("nightschool: /locked: Permission denied\n")


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), OSError(errno.EBADF, "ours")])
def test_defects_keep_their_traceback(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is nobody's mistake but ours is not dressed up as a message."""
    with a_command_that_raises(error, monkeypatch), pytest.raises(type(error)):
        run(["failing"])


def test_errors_are_neutralised(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An error that quotes a transcript moves no terminal."""
    with a_command_that_raises(errors.UserError("\x1b[2Jgone"), monkeypatch):
        run(["failing"])
    assert r"\x1b[2Jgone" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["nope"], ["version", "--nope"], ["gate", "nope"], ["gate", "calibrate", "--simulate", "x"]],
)
def test_wrong_use_is_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong argument is exit code 2, with a way out, as a document too."""
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert re.search(r"[.?] See: nightschool.* --help\n$", told.err)
    assert run([*arguments, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "wrong-use"


def test_interrupts_are_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C gives 130 and one line that nothing finished is lost."""
    with a_command_that_raises(KeyboardInterrupt(), monkeypatch):
        assert run(["failing"]) == 130
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"on the way\n{app.STOPPED}\n")


def test_a_real_interrupt_is_quiet_too(tmp_path: Path) -> None:
    """A signal from outside ends the process with 130, without a traceback."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    code = (
        "import sys\n"
        "from nightschool.cli import app, main\n"
        "def wait():\n"
        f"    open({str(ready)!r}, 'w').close()\n"
        "    import time; time.sleep(60)\n"
        "app.COMMANDS['wait'] = wait\n"
        "sys.argv = ['nightschool', 'wait']\n"
        "main()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    ready.read_bytes()  # the command runs once the other end is open
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert (process.returncode, told.decode()) == (130, f"{app.STOPPED}\n")


def test_a_broken_pipe_is_quiet() -> None:
    """Where the reader went away nothing is said; the exit code is that of the signal."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*NIGHTSCHOOL, "version"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_output_that_is_full_is_told() -> None:
    """Where not even the document of an error can be written, stderr tells it in one line."""
    for arguments in (["version", "--json"], ["version"], ["nothing", "--json"]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [*NIGHTSCHOOL, *arguments], stdout=full, stderr=subprocess.PIPE, check=False
            )
        assert done.returncode == 1
        assert re.fullmatch(
            rb"nightschool: (the output: )?No space left on device(; free .*)?\n", done.stderr
        )


def test_a_closed_stderr_costs_no_result() -> None:
    """What is told on the way has no reader (`2>&-`): the command still does its work and says its result."""
    code = "from nightschool.cli import app\n"
    code += "def say():\n  out = app.Output(); out.note('on the way'); return out.result(None, ['done'])\n"
    code += "app.COMMANDS['say'] = say; raise SystemExit(app.run(['say']))"
    script = f"exec {shlex.quote(sys.executable)} -c {shlex.quote(code)} 2>&-"
    done = subprocess.run(["/bin/sh", "-c", script], stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (0, b"done\n")


def test_a_narrow_encoding_costs_no_run() -> None:
    """Where the terminal cannot show a character it is escaped, and the command goes on."""
    code = "from nightschool.cli import app; app.COMMANDS['say'] = lambda: app.Output().result(None, ['ü→']);"
    code += "raise SystemExit(app.run(['say']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout == b"\\xfc\\u2192\n"


def test_calibrate_gives_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """`gate calibrate --json` holds the six numbers: of the worst scene, or of the effect that is named."""
    names = {"alpha", "effect", "simulated", "accepted", "share", "mean_pairs"}
    assert run(["gate", "calibrate", "--simulate", "60", "--json"]) == 0
    none = json.loads(capsys.readouterr().out)
    assert set(none) == names
    assert (none["effect"], none["simulated"]) == (0, 60)
    assert none["share"] == none["accepted"] / 60
    assert run(["gate", "calibrate", "--simulate", "60", "--effect", "0.3", "--json"]) == 0
    some = json.loads(capsys.readouterr().out)
    assert some["effect"] == 0.3
    assert some["share"] > none["share"]


def test_an_impossible_effect_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """An effect that leaves no chance between 0 and 1 is refused with the reason."""
    assert run(["gate", "calibrate", "--simulate", "5", "--effect", "0.9"]) == 2
    assert "choose another effect" in capsys.readouterr().err


def test_a_relative_home_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sessions of one HOME never go to the store of another because a path was relative."""
    monkeypatch.setenv("HOME", "..")
    assert run(["corrections"]) == 2
    assert "absolute" in capsys.readouterr().err

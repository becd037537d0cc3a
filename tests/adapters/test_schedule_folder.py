"""Scheduled starts leave a log of bounded size; their variables come from a file that others may not read."""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from nightschool.adapters.schedule_folder import LOG_BYTES, ScheduleFolder
from nightschool.adapters.variables_file import read_variables
from nightschool.cli.scheduled import last_line
from nightschool.core.errors import Busy, UserError
from nightschool.core.schedules import ProjectRun, ScheduledRun
from nightschool.testing.clock import FakeClock


def test_the_log_never_outgrows_its_bound(tmp_path: Path) -> None:
    """However much a command says, and however often: two files, each a little over the bound at most."""
    folder = ScheduleFolder(tmp_path / "school")
    loud = [sys.executable, "-c", f"print('x' * {3 * LOG_BYTES})"]
    for _ in range(3):
        assert folder.carry_out(loud, {}) == 0
    logs = sorted(folder.folder.glob("run.log*"))
    assert [log.name for log in logs] == ["run.log", "run.log.1"]
    assert all(log.stat().st_size < LOG_BYTES + 200 for log in logs)
    assert b"bytes more were said and not kept" in folder.log.read_bytes()[-200:]


def test_a_command_gives_its_code_its_words_and_its_environment(tmp_path: Path) -> None:
    """Both streams go into the log, for the person alone; a death by signal is a code as in a shell."""
    folder = ScheduleFolder(tmp_path / "school")
    code = "import os, sys; print('err', file=sys.stderr, flush=True); print(os.environ['WORD']); sys.exit(6)"
    assert folder.carry_out([sys.executable, "-c", code], {"WORD": "given"}) == 6
    assert folder.log.read_text(encoding="utf-8").split() == ["err", "given"]
    assert stat.S_IMODE(folder.log.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.folder.stat().st_mode) == 0o700
    assert folder.carry_out([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], {}) == 137


def test_two_starts_do_not_overlap(tmp_path: Path) -> None:
    """The second is told that it is busy; when the first is over the next may start."""
    folder = ScheduleFolder(tmp_path)
    with folder.held(), pytest.raises(Busy), folder.held():
        pass
    with folder.held():
        pass


def test_the_last_start_is_read_back(tmp_path: Path) -> None:
    """What is kept is the same when read, and a broken file is an error with the way out."""
    folder = ScheduleFolder(tmp_path)
    assert folder.last() is None
    now = FakeClock().now()
    run = ScheduledRun(started_at=now, ended_at=now, runs=(ProjectRun(project="/a", code=6),))
    folder.keep_last(run)
    assert folder.last() == run
    (folder.folder / "last.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=r"last\.json.*remove it"):
        folder.last()


@pytest.mark.parametrize(
    ("codes", "code"), [((), 0), ((3, 3), 3), ((3, 0), 0), ((0, 6, 5), 6), ((3, 137), 137)], ids=str
)
def test_the_code_of_a_start(codes: tuple[int, ...], code: int, tmp_path: Path) -> None:
    """That of the first run that went wrong, else 3 where nothing passed in any."""
    runs = tuple(ProjectRun(project="/a", code=one) for one in codes)
    assert ScheduledRun(started_at=FakeClock().now(), runs=runs).code == code


def variables(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "schedule.env"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_variables_are_read_as_systemd_would(tmp_path: Path) -> None:
    """Comments and empty lines are none; quotes around a value go; nothing in it is expanded."""
    text = "# mine\n\nANTHROPIC_API_KEY=sk-$HOME=x\nexport A='b c'\nB=\"d\"\nEMPTY=\n"
    assert read_variables(variables(tmp_path, text)) == {
        "ANTHROPIC_API_KEY": "sk-$HOME=x",
        "A": "b c",
        "B": "d",
        "EMPTY": "",
    }
    assert read_variables(tmp_path / "none") == {}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o660])
def test_a_file_with_a_key_that_others_may_read_is_refused(mode: int, tmp_path: Path) -> None:
    """The way out is a command to type."""
    with pytest.raises(UserError, match=f"{mode:04o}.*chmod 600"):
        read_variables(variables(tmp_path, "A=b\n", mode))


def test_an_error_tells_the_line_and_not_what_is_in_it(tmp_path: Path) -> None:
    """A line that is no NAME=value may be a key all the same."""
    with pytest.raises(UserError, match=r"schedule\.env:2: ") as caught:
        read_variables(variables(tmp_path, "A=b\nsk-very-secret\n"))
    assert "secret" not in str(caught.value)


def test_who_ends_a_start_ends_its_run(tmp_path: Path) -> None:
    """A start that is told to end tells its command to, and waits until that has stopped cleanly."""
    folder = ScheduleFolder(tmp_path)
    begun = tmp_path / "begun"
    script = f"trap 'echo stopped; exit 0' TERM; : >{begun}; for n in $(seq 1500); do sleep 0.02; done"

    def end_it() -> None:
        while not begun.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)

    def told(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, told)
    try:
        Thread(target=end_it).start()
        with pytest.raises(KeyboardInterrupt):
            folder.carry_out(["sh", "-c", script], dict(os.environ))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert folder.log.read_bytes().splitlines()[-1] == b"stopped"


def test_whether_a_start_goes_on_is_known_by_its_lock(tmp_path: Path) -> None:
    """What has no end and no lock was broken off, and is told so; a folder that was never used holds none."""
    folder = ScheduleFolder(tmp_path / "school")
    run = ScheduledRun(started_at=FakeClock().now(), runs=(ProjectRun(project="/shop", code=0),))
    assert not folder.goes_on()
    with folder.held():
        assert folder.goes_on()
        assert "running now; /shop" in last_line(run, goes_on=folder.goes_on())
    assert "broken off before its end" in last_line(run, goes_on=folder.goes_on())

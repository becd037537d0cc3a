"""Cron and systemd's timer: only our own marked entry is touched, and nothing that could not be read."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nightschool.adapters.crontab import Crontab
from nightschool.adapters.systemd_timer import SystemdTimer
from nightschool.core.errors import Conflict, SchedulerFailed, UserError
from nightschool.core.schedules import Entry, Scheduler, TimeOfDay
from schedulers import Machine, machine

THEIRS = b'# mine\nMAILTO=""\n5 5 * * * echo "a 100\\% b" \xff\n'
AWKWARD = "/ho me/50% $HOME 'q' \"dq\" \\ `id` ; é #x"
"""A text with all that a shell, cron or systemd gives a meaning to."""

ANALYZE = shutil.which("systemd-analyze") or ""
Make = Callable[[Machine], Scheduler]
MAKES: dict[str, Make] = {
    "cron": lambda made: Crontab(environment={"PATH": made.path}),
    "systemd": lambda made: SystemdTimer(environment={"PATH": made.path}, home=made.home),
}


@pytest.fixture
def made(tmp_path: Path) -> Machine:
    return machine(tmp_path)


@pytest.fixture(params=MAKES)
def scheduler(request: pytest.FixtureRequest, made: Machine) -> Scheduler:
    return MAKES[request.param](made)


@pytest.fixture
def cron(made: Machine) -> Scheduler:
    return MAKES["cron"](made)


def entry(mark: str = "a1", at: str = "03:17", command: tuple[str, ...] = ("/usr/bin/true",)) -> Entry:
    return Entry(mark=mark, at=TimeOfDay.typed(at), command=command, environment=(("PATH", "/usr/bin"),))


def writes(scheduler: Scheduler) -> list[Callable[[], object]]:
    return [lambda: scheduler.install(entry()), lambda: scheduler.remove("a1")]


def test_what_is_installed_is_what_was_printed(scheduler: Scheduler) -> None:
    """`text` is what `install` leaves behind; another time replaces it; removing takes it away, twice too."""
    assert scheduler.here()
    assert scheduler.installed("a1") is None
    for at in ("03:17", "03:17", "23:59"):
        scheduler.install(entry(at=at))
        assert scheduler.installed("a1") == scheduler.text(entry(at=at))
    scheduler.remove("a1")
    scheduler.remove("a1")
    assert scheduler.installed("a1") is None


def test_entries_of_other_folders_are_left_alone(scheduler: Scheduler) -> None:
    """Each mark is an entry of its own."""
    scheduler.install(entry("a1"))
    scheduler.install(entry("b2", at="04:00"))
    scheduler.install(entry("a1", at="05:00"))
    scheduler.remove("a1")
    assert scheduler.installed("a1") is None
    assert scheduler.installed("b2") == scheduler.text(entry("b2", at="04:00"))


def test_the_persons_lines_stay_byte_for_byte(cron: Scheduler, made: Machine) -> None:
    """Only the marked block is written and removed; what is around it stays as it is."""
    made.state("crontab.table").write_bytes(THEIRS)
    cron.install(entry())
    block = made.table.removeprefix(THEIRS)
    assert made.table == THEIRS + block
    assert block == cron.text(entry()).encode()
    made.state("crontab.table").write_bytes(block + THEIRS)
    cron.install(entry(at="04:00"))
    assert made.table.endswith(THEIRS)
    assert made.table.count(b"a1 begin") == 1
    cron.remove("a1")
    assert made.table == THEIRS


@pytest.mark.parametrize(
    "said",
    [
        "cannot open spool: Permission denied",
        "You (ann) are not allowed to use this program",
        "",
        "no crontab",
    ],
)
def test_a_crontab_that_cannot_be_read_is_never_written(said: str, cron: Scheduler, made: Machine) -> None:
    """Any failure of `crontab -l` but `no crontab for` leaves the table as it is."""
    made.state("crontab.table").write_bytes(THEIRS)
    made.state("crontab.broken").write_text(said, encoding="utf-8")
    acts: list[Callable[[], object]] = [*writes(cron), lambda: cron.installed("a1")]
    for act in acts:
        with pytest.raises(SchedulerFailed, match="cannot be read, so it is left alone") as caught:
            act()
        assert (said or "said nothing") in str(caught.value)
    assert made.table == THEIRS


def test_a_crontab_that_takes_no_new_table_keeps_the_old(cron: Scheduler, made: Machine) -> None:
    """What crontab said of it is told."""
    made.state("crontab.table").write_bytes(THEIRS)
    made.state("crontab.full").touch()
    with pytest.raises(SchedulerFailed, match=r"the old one holds: .*No space left"):
        cron.install(entry())
    assert made.table == THEIRS


@pytest.mark.parametrize(
    "lines", ["# nightschool a1 begin\n", "# nightschool a1 end\n# nightschool a1 begin\n"]
)
def test_marks_that_do_not_pair_are_refused(lines: str, cron: Scheduler, made: Machine) -> None:
    """A begin without its end would take the person's lines below with it: nothing is written."""
    made.state("crontab.table").write_bytes(lines.encode() + THEIRS)
    for act in writes(cron):
        with pytest.raises(Conflict, match="crontab -e"):
            act()
    assert made.table == lines.encode() + THEIRS


def test_cron_and_sh_give_every_argument_back(cron: Scheduler, tmp_path: Path) -> None:
    """Spaces, quotes, dollars and percent signs come out as they went in."""
    show = tmp_path / "sh ow%"
    show.write_text('#!/bin/sh\nprintf "%s\\n" "$SCHOOL" "$@"\n', encoding="utf-8")
    show.chmod(0o755)
    asked = Entry(
        mark="a1",
        at=TimeOfDay(hour=3, minute=7),
        command=(str(show), "--project", AWKWARD),
        environment=(("SCHOOL", AWKWARD),),
    )
    line = cron.text(asked).splitlines()[1]
    assert line.startswith("7 3 * * * ")
    assert "%" not in line.replace(r"\%", "")
    # What cron does: everything up to a bare percent sign, without the backslash before the others.
    command = line.split(" ", 5)[5].replace(r"\%", "%")
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [AWKWARD, "--project", AWKWARD]


def test_a_line_that_cron_would_cut_is_refused(cron: Scheduler) -> None:
    """Vixie's cron takes 1000 bytes: a longer command is an error with the way out."""
    with pytest.raises(UserError, match="--systemd"):
        cron.text(entry(command=("/usr/bin/true", "x" * 1000)))


@pytest.mark.parametrize("sign", ["\n", "\r", "\0", "\x1b", "\u2028", "\udc80"])
def test_control_characters_are_refused(sign: str) -> None:
    """Nothing that ends a line, in a command or in a variable, becomes an entry."""
    with pytest.raises(UserError, match="control characters"):
        entry(command=(f"/a{sign}* * * * * id",))
    with pytest.raises(UserError, match="control characters"):
        replace(entry(), environment=(("NIGHTSCHOOL_HOME", f"/a{sign}b"),))


@pytest.mark.parametrize(
    "text",
    ["", "3", "24:00", "03:60", "3:7", "03:17:00", "* *", "03:17\n* * * * *", "\u0660\u0663:\u0661\u0667"],
)
def test_bad_times_are_refused(text: str) -> None:
    """A time is hours and minutes of one day, in plain digits."""
    with pytest.raises(UserError, match="03:17"):
        TimeOfDay.typed(text)


def test_a_timer_that_systemd_refuses_is_taken_back(made: Machine) -> None:
    """Of an install that fails nothing stays, and the reason is told; an older timer stands as it was."""
    timer = MAKES["systemd"](made)
    made.state("systemctl.refuses-enable").touch()
    with pytest.raises(SchedulerFailed, match="taken back: Failed to enable"):
        timer.install(entry())
    assert timer.installed("a1") is None
    made.state("systemctl.refuses-enable").unlink()
    timer.install(entry())
    made.state("systemctl.refuses-restart").touch()
    with pytest.raises(SchedulerFailed, match="Failed to restart"):
        timer.install(entry(at="05:00"))
    assert timer.installed("a1") == timer.text(entry())


def test_a_timer_is_removed_where_systemd_cannot_be_told(made: Machine) -> None:
    """Files and link go, so that nothing starts at the next log-in; what is left to do is told."""
    timer = MAKES["systemd"](made)
    timer.install(entry())
    made.state("systemctl.broken").touch()
    assert not timer.here()
    with pytest.raises(SchedulerFailed, match="daemon-reload"):
        timer.remove("a1")
    assert [path for path in made.units.rglob("*") if not path.is_dir()] == []


def test_a_timer_that_was_disabled_is_not_as_it_was_installed(made: Machine) -> None:
    """Files without the link of an enabled timer start nothing; installing again enables it."""
    timer = MAKES["systemd"](made)
    timer.install(entry())
    (made.units / "timers.target.wants/nightschool-a1.timer").unlink()
    assert timer.installed("a1") not in {None, timer.text(entry())}
    timer.install(entry())
    assert timer.installed("a1") == timer.text(entry())


def test_a_unit_of_another_making_is_not_replaced(made: Machine) -> None:
    """A file of that name without our first line is refused."""
    made.units.mkdir(parents=True)
    (made.units / "nightschool-a1.service").write_text("[Service]\n", encoding="utf-8")
    timer = MAKES["systemd"](made)
    for act in writes(timer):
        with pytest.raises(Conflict, match="not of our making"):
            act()
    assert (made.units / "nightschool-a1.service").read_text(encoding="utf-8") == "[Service]\n"


def test_systemd_is_given_no_specifier_and_no_variable(made: Machine) -> None:
    """Percent signs and dollars that a unit would expand stand doubled, quotes are escaped."""
    text = MAKES["systemd"](made).text(
        replace(entry(command=("/a b", '50% $x "q" \\')), environment=(("A", '50% $x "q" \\'),))
    )
    assert 'Environment="A=50%% $x \\"q\\" \\\\"\n' in text
    assert 'ExecStart="/usr/bin/env" "/a b" "50%% $$x \\"q\\" \\\\"\n' in text


def verified(*units: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ANALYZE, "--user", "--man=no", "verify", *units],
        env={"XDG_RUNTIME_DIR": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not ANALYZE, reason="needs systemd-analyze")
def test_systemd_understands_the_units(made: Machine, tmp_path: Path) -> None:
    """Its own checker takes service, timer and time, with a program of an awkward name."""
    plain = tmp_path / "plain.service"
    plain.write_text("[Service]\nType=oneshot\nExecStart=/usr/bin/true\n", encoding="utf-8")
    if verified(str(plain), folder=tmp_path).returncode:
        pytest.skip("systemd-analyze can check no unit on this machine")
    timer = MAKES["systemd"](made)
    timer.install(entry(command=(AWKWARD, AWKWARD)))
    service, clock = (str(made.units / f"nightschool-a1.{kind}") for kind in ("service", "timer"))
    done = verified(service, clock, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = Path(clock).read_text(encoding="utf-8")
    assert "Persistent=true" in text
    calendar = text.split("OnCalendar=")[1].splitlines()[0]
    subprocess.run([ANALYZE, "calendar", calendar], capture_output=True, check=True)

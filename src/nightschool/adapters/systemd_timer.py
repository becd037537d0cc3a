"""A timer of the person's own systemd: a service and a timer, marked in name and first line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.core.errors import Conflict, SchedulerFailed
from nightschool.core.schedules import Entry

SECONDS = 30
WANTS = "timers.target.wants"


class SystemdTimer:
    """A `Scheduler` that is systemd's manager of this user. A start that was slept through is made up for."""

    name = "systemd"
    after_sleep = True

    def __init__(self, *, environment: Mapping[str, str], home: Path) -> None:
        self._environment = dict(environment)
        configuration = environment.get("XDG_CONFIG_HOME")
        self.folder = (Path(configuration) if configuration else home / ".config") / "systemd/user"
        self._files = FileSystemLiveFiles()

    def here(self) -> bool:
        return not self._refused("show-environment")

    def text(self, entry: Entry) -> str:
        return "\n".join(f"# {self.folder / name}\n{text}" for name, text in _units(entry).items())

    def installed(self, mark: str) -> str | None:
        """The two files as they lie there, as `text` gives them. What lacks is left out, and so is a timer
        that was disabled: it starts nothing."""
        found = {name: self._ours(name, mark) for name in _names(mark)}
        service, timer = found
        if not (self.folder / WANTS / timer).is_symlink():
            found = {service: found[service]}
        told = [
            f"# {self.folder / name}\n{text.decode('utf-8', 'replace')}"
            for name, text in found.items()
            if text
        ]
        return "\n".join(told) or None

    def install(self, entry: Entry) -> None:
        before = {name: self._ours(name, entry.mark) for name in _names(entry.mark)}
        wanted = {name: text.encode() for name, text in _units(entry).items()}
        _, timer = wanted
        if before == wanted and (self.folder / WANTS / timer).is_symlink():
            return
        self._put(wanted, before)
        refused = self._refused("daemon-reload") or self._refused("enable", timer)
        refused = refused or self._refused("restart", timer)
        if refused:
            self._put(before, wanted)
            self._refused("daemon-reload")
            raise SchedulerFailed(f"systemd does not take the timer, and it was taken back: {refused}")

    def remove(self, mark: str) -> None:
        before = {name: self._ours(name, mark) for name in _names(mark)}
        _, timer = before
        refused = self._refused("disable", "--now", timer) if any(before.values()) else ""
        link = self.folder / WANTS / timer
        if link.is_symlink():
            link.unlink()
        self._put(dict.fromkeys(before), before)
        if refused:
            raise SchedulerFailed(
                f"the timer's files are gone, but systemd could not be told: {refused}. It forgets the timer "
                "when you log out, or with: systemctl --user daemon-reload"
            )
        if any(before.values()):
            self._refused("daemon-reload")

    def _ours(self, name: str, mark: str) -> bytes | None:
        content = self._files.read(self.folder / name).content
        if content is not None and not content.startswith(_first(mark).encode()):
            raise Conflict(f"{self.folder / name} is not of our making: move it away; nothing was written")
        return content

    def _put(self, wanted: Mapping[str, bytes | None], expected: Mapping[str, bytes | None]) -> None:
        for name, content in wanted.items():
            self._files.swap(self.folder / name, expected=expected[name], content=content, mode=None)

    def _refused(self, *arguments: str) -> str:
        """What systemctl said where it did not do it, else ""."""
        program = which("systemctl", path=self._environment.get("PATH", os.defpath))
        if program is None:
            return "there is no systemctl on PATH"
        try:
            done = subprocess.run(
                [program, "--user", *arguments],
                stdin=subprocess.DEVNULL,
                env=self._environment,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode == 0:
            return ""
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        return said[:500] or f"systemctl {arguments[0]} ended with code {done.returncode}"


def _names(mark: str) -> tuple[str, str]:
    return f"nightschool-{mark}.service", f"nightschool-{mark}.timer"


def _first(mark: str) -> str:
    return f"# nightschool {mark} (made by `nightschool schedule`, which replaces it whole)\n"


def _units(entry: Entry) -> dict[str, str]:
    service, timer = _names(entry.mark)
    given = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in entry.environment)
    # By env: as an argument the program may lie in a folder of any name, as a command not. A dollar would be
    # a variable in an argument, and is itself in Environment=.
    command = " ".join(_quoted(part).replace("$", "$$") for part in ("/usr/bin/env", *entry.command))
    return {
        service: f"{_first(entry.mark)}[Unit]\nDescription=Nightschool: practise what was corrected\n\n"
        f"[Service]\nType=oneshot\n{given}ExecStart={command}\n"
        "# 3: it came to its end, and nothing passed.\nSuccessExitStatus=3\n",
        timer: f"{_first(entry.mark)}[Unit]\nDescription=Nightschool, each day at {entry.at}\n\n"
        f"[Timer]\nOnCalendar=*-*-* {entry.at}:00\n"
        "# What was slept through is made up for.\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n",
    }


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'

"""A crontab and a systemctl that stand in for the machine's: programs on PATH, with a file as their state.

The person's real ones must not be touched by a test. They behave as the real ones do; how a real cron reads a
line is pinned by what sh makes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CRONTAB = """#!/bin/sh
test ! -e "$0.broken" || { cat "$0.broken" >&2; exit 1; }
case "$1" in
-l) test -e "$0.table" || { echo "no crontab for ann" >&2; exit 1; }; cat "$0.table" ;;
-) test ! -e "$0.full" || { echo "crontab: No space left on device" >&2; exit 1; }; cat > "$0.table" ;;
*) echo "crontab: usage" >&2; exit 1 ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$0.asked"
test ! -e "$0.broken" || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
test ! -e "$0.refuses-$2" || { echo "Failed to $2" >&2; exit 1; }
wants="$FOLDER/timers.target.wants"
test "$2" != enable || { mkdir -p "$wants"; ln -sf "../$3" "$wants/$3"; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The two programs, in a folder that is first on PATH."""

    home: Path

    @property
    def programs(self) -> Path:
        return self.home / "scheduler-programs"

    @property
    def units(self) -> Path:
        return self.home / ".config/systemd/user"

    @property
    def path(self) -> str:
        return f"{self.programs}:/usr/bin:/bin"

    def program(self, name: str, text: str) -> None:
        self.programs.mkdir(exist_ok=True)
        (self.programs / name).write_text(text, encoding="utf-8")
        (self.programs / name).chmod(0o755)

    def state(self, name: str) -> Path:
        """`crontab.table`, `crontab.broken` (what it then says), `systemctl.refuses-enable` and so on."""
        return self.programs / name

    @property
    def table(self) -> bytes:
        return self.state("crontab.table").read_bytes()


def machine(home: Path, *, bus: bool = True) -> Machine:
    """With a crontab that has no table yet; without a bus systemd's manager of the user is not there."""
    made = Machine(home=home)
    made.program("crontab", CRONTAB)
    made.program("systemctl", SYSTEMCTL.replace("$FOLDER", str(made.units)))
    if not bus:
        made.state("systemctl.broken").touch()
    return made

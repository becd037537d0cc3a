"""Drives one terminal interface through tmux, in a bubblewrap where HOME is /home/sam."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE_SECONDS = 40
"""For each thing that is waited for; a turn takes two seconds."""


def enclosed(bwrap: Path, home: Path, agents: Path, environment: Mapping[str, str]) -> list[str]:
    """The start of a command line: the machine read-only, a HOME and a host name of their own, and the
    network of the host, where the scripted model listens on loopback."""
    argv = [str(bwrap), "--die-with-parent", "--unshare-pid", "--unshare-uts", "--hostname", "shop"]
    for system in ("usr", "bin", "sbin", "lib", "lib64", "etc"):
        argv += ["--ro-bind-try", f"/{system}", f"/{system}"]
    argv += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108 - inside the sandbox
    argv += ["--bind", str(home), "/home/sam", "--ro-bind", str(agents), "/opt/agents"]
    argv += ["--chdir", "/home/sam/ledger", "--clearenv"]
    for name, value in environment.items():
        argv += ["--setenv", name, value]
    return argv


@dataclass(slots=True)
class Terminal:
    """`with Terminal(name, argv) as terminal:`; the tmux server is our own and ends with the block."""

    name: str
    argv: Sequence[str]

    def __enter__(self) -> Self:
        self._tmux("new-session", "-d", "-s", "demo", "-x", "140", "-y", "50", *self.argv)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server", check=False)

    def type(self, text: str) -> None:
        """Type as a person does, then send."""
        self._tmux("send-keys", "-l", text)
        self.wait(lambda: text[-20:].rsplit(maxsplit=1)[-1] in self.screen(), f"{text!r} on the screen")
        time.sleep(0.4)
        self.press("Enter")

    def press(self, key: str) -> None:
        self._tmux("send-keys", key)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", check=False)

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        """Until it holds; a screen that never gets there is an error that shows it."""
        for _ in range(PATIENCE_SECONDS * 5):
            if holds():
                return
            time.sleep(0.2)
        raise TimeoutError(f"{what} did not come; the screen was:\n{self.screen()}")

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        tmux = shutil.which("tmux")
        if tmux is None:
            raise FileNotFoundError("tmux drives the terminals: install it (apt install tmux)")
        argv = [tmux, "-L", f"nightschool-{self.name}", "-f", "/dev/null", *arguments]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"tmux {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

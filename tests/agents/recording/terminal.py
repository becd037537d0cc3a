"""A person's terminal: types, presses keys, and reads the screen (tmux is the terminal)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

_NAME = "stage"
_SERVERS: list[int] = []
"""One for each window that was closed: the next has a server of its own, the last may not be gone yet."""
_LOOK_SECONDS = 0.1
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """One window with one program. The program's folder and environment are those of this process."""

    argv: Sequence[str]

    def open(self) -> None:
        size = ("-x", "120", "-y", "50")
        _tmux("new-session", "-d", "-s", _NAME, *size, *self.argv)
        _tmux("set-option", "-t", _NAME, "remain-on-exit", "on")

    def close(self) -> None:
        _tmux("kill-server")
        _SERVERS.append(len(_SERVERS))

    def type(self, text: str) -> None:
        """A line, sent once it stands on the screen: what comes too fast is taken for pasted text."""
        _tmux("send-keys", "-t", _NAME, "-l", text)
        self.until(text[-30:])
        time.sleep(0.3)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """One after another: an Escape and what follows at once would be one other key."""
        for key in keys:
            _tmux("send-keys", "-t", _NAME, key)
            time.sleep(0.3)

    @property
    def screen(self) -> str:
        return _tmux("capture-pane", "-p", "-t", _NAME)

    @property
    def pid(self) -> int:
        return int(_tmux("display-message", "-p", "-t", _NAME, "#{pane_pid}"))

    @property
    def ended(self) -> bool:
        return _tmux("display-message", "-p", "-t", _NAME, "#{pane_dead}").strip() == "1"

    def until(self, *texts: str, patience: float = PATIENCE_SECONDS) -> str:
        """Waits for one of these on the screen, and tells which. Line breaks count for nothing."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            seen = "".join(self.screen.split())
            found = next((text for text in texts if "".join(text.split()) in seen), None)
            if found is not None:
                return found
            time.sleep(_LOOK_SECONDS)
        raise TimeoutError(f"none of {texts} came on the screen:\n{self.screen}")

    def until_ended(self, patience: float = PATIENCE_SECONDS) -> None:
        end = time.monotonic() + patience
        while not self.ended:
            if time.monotonic() > end:
                raise TimeoutError(f"it did not end:\n{self.screen}")
            time.sleep(_LOOK_SECONDS)


def _tmux(*arguments: str) -> str:
    command = ("tmux", "-L", f"recording-{len(_SERVERS)}", "-f", "/dev/null", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments[:2])}: {done.stderr.strip()}")
    return done.stdout

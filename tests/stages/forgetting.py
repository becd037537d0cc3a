"""A forgetting of one session in a process of its own, which is killed at one of its steps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from cycle_builders import Place, cycle_in
from nightschool.rules.speaking_of import Chosen


def killed_forgetting(place: Place, session: str, statement: str, time: int) -> None:
    """Forget it in a process that is killed when it begins such an SQL statement for so many times."""
    script = [sys.executable, __file__, str(place.person), str(place.ours), session, statement, str(time)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(script, env=environment, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def _main(person: str, ours: str, session: str, statement: str, time: str) -> None:
    with cycle_in(Place(person=Path(person), ours=Path(ours))) as (parts, _):
        seen = [0]

        def count(_connection: Any, _cursor: Any, text: str, *_: Any) -> None:
            seen[0] += text.startswith(statement)
            if seen[0] == int(time):
                os.kill(os.getpid(), signal.SIGKILL)

        forgetting = parts.forgetting()
        event.listen(Engine, "before_cursor_execute", count)
        with parts.store.hold("cycle"):
            forgetting.forget(Chosen(sessions=frozenset({session})), for_good=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])

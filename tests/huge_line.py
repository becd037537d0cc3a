"""Reads a session with one line that is far too long, in a process of its own; as a program, that process.

Its growth is that of the process between a look at the same session without the line and the end of all.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

from nightschool.core.sessions import Roots
from source_samples import SAMPLES, Sample, sources

_MB = 1 << 20


def grown_by(sample: Sample, folder: Path, megabytes: int) -> int:
    """How many MB the process grew by. Raises where rows were lost, or the line was not named."""
    folder.mkdir(parents=True, exist_ok=True)
    script = [sys.executable, __file__, str(SAMPLES.index(sample)), str(folder), str(megabytes)]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(script, env=environment, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return int(done.stdout)


def _read(sample: Sample, path: Path) -> tuple[int, list[str]]:
    source = sources(str)[sample.source]
    (ref,) = source.discover(Roots(home="/nowhere", explicit=(str(path),)))
    result = source.read(ref, None)
    assert result.session is not None
    return len(result.session.turns), [f"{out.reason} at {out.offset}" for out in result.left_out]


def _main(number: str, folder: str, megabytes: str) -> None:
    sample = SAMPLES[int(number)]
    path = sample.lay(Path(folder), sample.rows)
    turns, left_out = _read(sample, path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = path.read_bytes().splitlines(keepends=True)
    at = sum(map(len, rows[:-1]))
    with path.open("wb") as file:
        file.write(b"".join(rows[:-1]) + b'{"type":"user","text":"')
        for _ in range(int(megabytes)):
            file.write(b"x" * _MB)
        file.write(b'"}\n' + rows[-1])
    again = _read(sample, path)
    assert again == (turns, [*left_out, f"bad-record at {at}"]), json.dumps(again)
    path.unlink()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sys.stdout.write(str(grown // (1024 if sys.platform == "linux" else _MB)))


if __name__ == "__main__":
    _main(*sys.argv[1:])

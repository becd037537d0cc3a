"""How fast transcripts are read, as ratios.

    python bench/bench_harvest.py [MEGABYTES]

`parse` (reading alone), `redact` (what redaction adds to it), `store` (putting the session away) and `whole`
(a harvest) are against a bare orjson decode of every line of the same file (1.0: as fast), in time of the
processor, so that other work of the machine changes no ratio; `idle` is a harvest of 10,000 files in which
nothing is new. To reach: parsing at 1.0 of a bare decode, idle in 50 ms, 200 MB.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.adapters.system_clock import SystemClock
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Roots, TranscriptRef
from nightschool.rules.redaction import Redactor
from nightschool.stages.harvest import HarvestRequest, harvest
from nightschool.testing import demo

START = datetime(2026, 3, 1, tzinfo=UTC)
FILES = 10_000
IDLE = 0.050
MEMORY = 200


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def worked(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def bare(path: Path) -> None:
    with path.open("rb") as lines:
        for line in lines:
            orjson.loads(line)


def grown(agent: str, path: Path, size: int) -> None:
    """A long session of this agent, made of the demo's rows with ids and times of their own."""
    rows = [row for file in sorted((demo.HERE / "transcripts" / agent).iterdir()) for row in file.open("rb")]
    written = number = 0
    with path.open("wb") as out:
        while written < size:
            for row in rows:
                if b'"session_meta"' in row and number:
                    continue
                number += 1
                mark = f"{number:08d}".encode()
                own = row.replace(b'"uuid":"', b'"uuid":"' + mark).replace(b"toolu_", b"toolu_" + mark)
                written += out.write(own.replace(b'"call_id":"call_', b'"call_id":"call_' + mark))


def whole(folder: Path, source: TranscriptSource, path: Path) -> None:
    decode = min(worked(lambda: bare(path)) for _ in range(2))
    request = HarvestRequest(roots=Roots(home=str(folder), explicit=(str(path),)), recognise=False)
    store = SqliteStore.open(folder / f"store of {source.name}")
    clock, sources = SystemClock(), {source.name: source}
    took = worked(lambda: harvest(request, sources=sources, store=store, clock=clock))
    told("whole", source, path, took, decode)


def told(what: str, source: TranscriptSource, path: Path, took: float, decode: float) -> None:
    share = f"{decode / took:6.2f} of a bare decode" if took > 0 else "  nothing"
    rate = path.stat().st_size / 1e6 / max(took, 1e-9)
    print(f"{what:6}  {source.name:12} {took:6.2f} s  {rate:6.0f} MB/s  {share}")


def reading(folder: Path, kind: Callable[..., TranscriptSource], redact: Redactor, path: Path) -> None:
    """What each step of a first pass takes. Redaction is what it adds."""
    plain, source = kind(redact=str), kind(redact=redact)
    decode = min(worked(lambda: bare(path)) for _ in range(2))
    ref = TranscriptRef(source=source.name, path=str(path), size=path.stat().st_size, mtime=START)
    parse = min(worked(lambda: plain.read(ref, None)) for _ in range(2))
    read = min(worked(lambda: source.read(ref, None)) for _ in range(2))
    session = source.read(ref, None).session
    assert session is not None
    stored = worked(lambda: SqliteStore.open(folder / f"kept of {source.name}").commit(session))
    for what, took in (("parse", parse), ("redact", read - parse), ("store", stored)):
        told(what, source, path, took, decode)


def idle(folder: Path) -> None:
    row = {"type": "user", "sessionId": "x", "message": {"content": "hello"}, "timestamp": START.isoformat()}
    for number in range(FILES):
        place = folder / ".claude" / "projects" / f"-p{number % 100}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:08x}-0000-4000-8000-000000000000.jsonl").write_text(json.dumps(row) + "\n")
    sources: dict[str, TranscriptSource] = {"claude-code": ClaudeCodeTranscripts(redact=str)}
    request = HarvestRequest(roots=Roots(home=str(folder)), lookback=timedelta(days=9))

    def run() -> None:
        store = SqliteStore.open(folder / "home")
        harvest(request, sources=sources, store=store, clock=SystemClock())

    first = seconds(run)
    again, work = min(seconds(run) for _ in range(3)), min(worked(run) for _ in range(3))
    print(f"first  {FILES} small files in {first:.2f} s")
    print(
        f"idle   {again * 1000:.0f} ms ({work * 1000:.0f} of the processor)  {again / IDLE:.2f} of the time "
        f"to reach  {first / again:.0f} x faster"
    )


def main() -> int:
    size = int(sys.argv[1] if len(sys.argv) > 1 else 100) * 1_000_000
    redact = Redactor(b"a key of the bench's own")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = (ClaudeCodeTranscripts, CodexTranscripts)
        paths = {kind.name: folder / f"{kind.name}.jsonl" for kind in kinds}
        for agent, path in paths.items():
            grown(agent, path, size)
        # First, since memory is measured by the most that there ever was.
        for kind in kinds:
            whole(folder, kind(redact=redact), paths[kind.name])
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for kind in kinds:
            reading(folder, kind, redact, paths[kind.name])
        print(f"memory  {memory:.0f} MB at most  {memory / MEMORY:.2f} of what it may be")
        idle(folder)
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())

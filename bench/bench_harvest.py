"""How fast transcripts are read, as ratios.

    python bench/bench_harvest.py [MEGABYTES] [--full]

`parse` (reading alone), `redact` (what redaction adds to it), `store` (putting the session away) and `whole`
(a harvest) are against a bare orjson decode of every line of the same file (1.0: as fast). All is time of
the processor, so that other work of the machine changes few ratios. Rows are the demo's (`short`), and the
same with results as long as those of real sessions (`long`). `idle` is a harvest of 10,000 files in which
nothing is new, `grown` one in which one has a line more; `linear` is the time for a session of many against
that of few; memory is that of a process of its own. To reach: parsing at 1.0 of a bare decode, idle and
grown in 50 ms, 200 MB, linear at 1.0. `--full` takes 400 MB, and 1,000 to 100,000 sessions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

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
FEW, MANY = 100, 1_000
ROW = {"type": "user", "message": {"content": "hello"}, "timestamp": START.isoformat()}
KINDS: dict[str, Callable[..., TranscriptSource]] = {
    kind.name: kind for kind in (ClaudeCodeTranscripts, CodexTranscripts)
}
LENGTHS = (200, 1_000, 3_000, 6_000, 12_000, 30_000)
"""Characters of results, in turn."""
TEXT = Path(__file__).read_text(encoding="utf-8") * 8


def worked(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def bare(path: Path) -> None:
    with path.open("rb") as lines:
        for line in lines:
            orjson.loads(line)


def grown(agent: str, path: Path, size: int, *, long: bool) -> None:
    """A long session of this agent, made of the demo's rows with ids and times of their own."""
    lengths = cycle(LENGTHS)
    files = sorted((demo.HERE / "transcripts" / agent).iterdir())
    rows = [lengthened(row, next(lengths)) if long else row for file in files for row in file.open("rb")]
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


def lengthened(row: bytes, length: int) -> bytes:
    """The row with a longer result, where it holds one."""
    value: dict[str, Any] = json.loads(row)
    payload, told = value.get("payload", {}), value.get("toolUseResult")
    if payload.get("type") == "function_call_output":
        payload["output"] = str(payload["output"]) + TEXT[:length]
    elif told is not None:
        for block in value["message"]["content"]:
            block["content"] = str(block.get("content")) + TEXT[:length]
        value["toolUseResult"] = {"stdout": TEXT[:length], "stderr": ""}
    else:
        return row
    return orjson.dumps(value) + b"\n"


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


def sessions(folder: Path, number: int) -> None:
    """So many files with one row."""
    for index in range(number):
        place = folder / ".claude" / "projects" / f"-p{index % 100}"
        place.mkdir(parents=True, exist_ok=True)
        name = f"{index:08x}-0000-4000-8000-000000000000"
        (place / f"{name}.jsonl").write_text(json.dumps({"sessionId": name, **ROW}) + "\n")


def harvested(folder: Path) -> float:
    """Time of the processor for a harvest of all below a home, in its own store."""
    sources: dict[str, TranscriptSource] = {"claude-code": ClaudeCodeTranscripts(redact=str)}
    request = HarvestRequest(roots=Roots(home=str(folder)), lookback=timedelta(days=9))

    def run() -> None:
        harvest(request, sources=sources, store=SqliteStore.open(folder / "home"), clock=SystemClock())

    return worked(run)


def idle(folder: Path) -> None:
    sessions(folder, FILES)
    first = harvested(folder)
    again = min(harvested(folder) for _ in range(5))
    path = next((folder / ".claude" / "projects" / "-p7").iterdir())
    one = []
    for _ in range(5):
        with path.open("a") as out:
            out.write(json.dumps({"sessionId": path.stem, **ROW}) + "\n")
        one.append(harvested(folder))
    print(f"first  {FILES} small files in {first:.2f} s")
    for what, took in (("idle", again), ("grown", min(one))):
        share = took / IDLE
        print(f"{what:6} {took * 1000:.0f} ms  {share:.2f} of the time to reach  {first / took:.0f} x faster")


def linear(folder: Path, few: int, many: int) -> None:
    took = []
    for number in (few, many):
        sessions(folder / str(number), number)
        took.append(harvested(folder / str(number)) / number)
    print(f"linear {took[1] / took[0]:.2f} times as long for a session of {many} as for one of {few}")


def memory(paths: list[Path]) -> float:
    """What a process takes at most that harvests these."""
    command = [sys.executable, __file__, "--memory", *map(str, paths)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def remembered(paths: list[str]) -> None:
    redact = Redactor(b"a key of the bench's own")
    sources = {name: kind(redact=redact) for name, kind in KINDS.items()}
    with tempfile.TemporaryDirectory() as home:
        store = SqliteStore.open(Path(home))
        request = HarvestRequest(roots=Roots(home=home, explicit=tuple(paths)))
        harvest(request, sources=sources, store=store, clock=SystemClock())
    # What `getrusage` tells is handed down by the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii").split()
    print(int(status[status.index("VmHWM:") + 1]) / 1024)


def main() -> int:
    if sys.argv[1:2] == ["--memory"]:
        remembered(sys.argv[2:])
        return os.EX_OK
    full = "--full" in sys.argv
    named = [int(word) for word in sys.argv[1:] if word.isdigit()]
    size = (named[0] if named else 400 if full else 100) * 1_000_000
    redact = Redactor(b"a key of the bench's own")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape in ("short", "long"):
            for agent, kind in KINDS.items():
                path = folder / f"{agent}.jsonl"
                grown(agent, path, size, long=shape == "long")
                print(f"{shape} rows, {agent}")
                whole(folder / shape, kind(redact=redact), path)
                reading(folder / shape, kind, redact, path)
        many = [folder / "many" / f"{index:08x}-0000-4000-8000-000000000000.jsonl" for index in range(20)]
        many[0].parent.mkdir()
        for path in many:
            grown("claude-code", path, size // 20, long=False)
        for what, paths in (("20 files", many), ("one file", [folder / "claude-code.jsonl"])):
            most = memory(paths)
            print(f"memory {most:.0f} MB at most, {what}  {most / MEMORY:.2f} of what it may be")
        idle(folder / "idle")
        linear(folder / "linear", *((1_000, 100_000) if full else (FEW, MANY)))
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())

"""Transcripts of every source that something befell: nothing is raised, lost in silence, or written."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

import corpus
import huge_line
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import ReadResult, Roots
from nightschool.rules.corrections import corrections
from nightschool.rules.redaction import Redactor
from nightschool.rules.signals import signals
from soak.cases import Case, Part, Seen
from soak.mutations import OF_BYTES, OF_ROWS
from source_samples import SAMPLES, sources, storable
from transcripts import CASES

KEY = b"a key of the soak, 32 bytes long."
LARGEST_REAL = 300_000
_AGENTS = {"claude-code": "claude"}
"""How the folder of an agent is called among the real transcripts, where not as its source."""
Look = dict[str, tuple[int, int, str]]
NESTED = 10_000
OF_LINES = tuple(sample for sample in SAMPLES if sample.of_lines)
MOST_MEMORY = 130
"""MB: thrice the longest line that is held, and something."""


def look(folder: Path) -> Look:
    """Mode, time of change and digest of all that lies in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        known = path.lstat()
        plain = path.is_file() and not path.is_symlink()
        content = path.read_bytes() if plain else b""
        found[str(path.relative_to(folder))] = (known.st_mode, known.st_mtime_ns, sha256(content).hexdigest())
    return found


def read_below(source: TranscriptSource, folder: Path) -> list[ReadResult]:
    """All that a folder gives, twice: anew and behind what was read. What is wrong with it is told in full,
    it can be stored and learned from, and nothing in the folder changes."""
    before = look(folder)
    found = []
    for ref in source.discover(Roots(home="/nowhere", explicit=(str(folder),))):
        source.recognises(ref)
        first = source.read(ref, None)
        again = source.read(ref, first.offset) if first.offset is not None else first
        for result in (first, again):
            _told(result, folder)
            storable(result)
            if result.session is not None:
                signals(result.session)
                corrections([result.session])
        found.append(first)
    assert look(folder) == before, "reading wrote into the agent's folder"
    return found


def _told(result: ReadResult, folder: Path) -> None:
    for out in result.left_out:
        assert out.path.startswith(str(folder)), f"left out, and not told of which file: {out}"
        assert out.detail, f"left out, and not told why: {out}"
        placed = out.offset is not None or "row " in out.detail or out.path.endswith(".db")
        assert out.reason != "bad-record" or placed, f"left out, and not told where: {out}"


def _nested(random: Random, rows: list[bytes]) -> list[bytes]:
    """One row ten thousand deep."""
    left, right = random.choice((("[", "]"), ('{"a":', "}")))
    deep = f'{{"type":"user","a":{left * NESTED}1{right * NESTED}}}\n'.encode()
    at = random.randrange(len(rows) + 1)
    return [*rows[:at], deep, *rows[at:]]


def _cut(random: Random, rows: list[bytes]) -> list[bytes]:
    content = b"".join(rows)
    return [content[: random.randrange(len(content) + 1)]]


ACTS: tuple[Callable[[Random, list[bytes]], list[bytes]], ...] = (*OF_ROWS, *OF_BYTES, _nested, _cut)


def befall(random: Random, path: Path, acts: Sequence[Callable[[Random, list[bytes]], list[bytes]]]) -> None:
    """What happens to the bytes of one file."""
    rows = path.read_bytes().splitlines(keepends=True)
    for act in acts:
        rows = [row for row in act(random, rows) if row] if any(rows) else rows
    path.write_bytes(b"".join(rows))


def generated(case: Case) -> Seen:
    sample = case.random.choice(SAMPLES)
    folder = case.folder / "home"
    folder.mkdir()
    sample.lay(folder, sample.rows)
    return _befallen(case, sample.source, folder)


def real(case: Case) -> Seen:
    """Of people, where they lie beside the repository."""
    source = case.random.choice(sorted({sample.source for sample in SAMPLES}))
    names = _real(source)
    if not names:
        return Counter()
    folder, name = case.folder / "home", case.random.choice(names)
    folder.mkdir()
    if (CASES / name).is_dir():
        shutil.copytree(CASES / name, folder / Path(name).name)
    else:
        shutil.copyfile(CASES / name, folder / Path(name).name)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return _befallen(case, source, folder)


@cache
def _real(source: str) -> tuple[str, ...]:
    agent = _AGENTS.get(source, source)
    found = [name for name in corpus.files_of(agent) + corpus.files_of(source) if (CASES / name).exists()]
    trees = [f"opencode/{path.name}" for path in (CASES / "opencode").glob("storage_*")]
    small = [name for name in found if (CASES / name).stat().st_size < LARGEST_REAL]
    return tuple(sorted({*small, *(trees if source == "opencode" else [])}))


def _befallen(case: Case, source: str, folder: Path) -> Seen:
    random, seen = case.random, Counter[str]()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    chosen = random.sample(ACTS, random.randrange(1, 4))
    befall(random, random.choice(files), chosen)
    seen.update(act.__name__.strip("_") for act in chosen)
    results = read_below(sources(Redactor(KEY))[source], folder)
    seen["left out"] += sum(len(result.left_out) for result in results)
    seen["sessions"] += sum(result.session is not None for result in results)
    return seen


def huge(case: Case) -> Seen:
    """One line that is far too long among rows: all of them are read, the line is named, memory stays small.

    The first case is a short one, for the ordinary tests."""
    size = 500 if case.number else 40
    grown = huge_line.grown_by(OF_LINES[case.number % len(OF_LINES)], case.folder / "home", size)
    assert grown <= MOST_MEMORY, f"a line of {size} MB took {grown} MB of memory"
    return Counter({"MB read": size})


PARTS = (
    Part(
        name="transcripts of every source befallen",
        group="fuzz",
        holds=(
            "nothing is raised, hangs, or is written; what was left out is told with its file and place; the "
            "rest can be stored and learned from"
        ),
        cases=4000,
        check=generated,
    ),
    Part(
        name="real ones of every source befallen",
        group="fuzz",
        holds="the same, with transcripts of people, where they lie beside the repository",
        cases=1500,
        check=real,
    ),
    Part(
        name="one line of 500 MB",
        group="fuzz",
        holds=(
            "in a session of each agent that writes lines: the rows about it are read, the process grows by "
            "130 MB at most"
        ),
        cases=1 + len(OF_LINES),
        check=huge,
    ),
)

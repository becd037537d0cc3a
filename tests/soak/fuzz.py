"""Transcripts that something befell: reading never raises, invents no words, lets no secret through."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import corpus
from nightschool.adapters.claude_code.rows import outside_injected
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Offset, Session
from nightschool.rules.corrections import corrections
from nightschool.rules.redaction import Redactor
from nightschool.rules.signals import signals
from nightschool.testing import demo
from soak.cases import Case, Part, Seen
from soak.mutations import OF_BYTES, OF_JSON, OF_ROWS, plant
from transcripts import CASES, read_file, ref_of

KEY = b"a key of the soak, 32 bytes long."
AGENTS: dict[str, Callable[..., TranscriptSource]] = {
    "claude-code": ClaudeCodeTranscripts,
    "codex": CodexTranscripts,
}
NAMES = {
    "claude-code": "11111111-2222-4333-8444-555555555555.jsonl",
    "codex": "rollout-of-the-soak.jsonl",
}
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CUT = re.compile(r"\[cut: \d+ more characters\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Rows of one transcript; what a person says in it."""

    rows: tuple[bytes, ...]
    said: frozenset[str]


@cache
def _shipped(agent: str, shared: Path) -> tuple[Material, ...]:
    folder = demo.HERE / "transcripts" / agent
    return tuple(_material(agent, path, shared) for path in sorted(folder.glob("*.jsonl")))


@cache
def _real(agent: str, shared: Path) -> tuple[Material, ...]:
    """Of people, where they lie beside the repository; whole rows of JSON only."""
    paths = [CASES / name for name in corpus.files_of(agent) if name.endswith(".jsonl")]
    found = [
        _material(agent, path, shared) for path in paths if path.is_file() and path.stat().st_size < 300_000
    ]
    return tuple(one for one in found if one.rows and all(row.startswith(b"{") for row in one.rows))


def _material(agent: str, path: Path, shared: Path) -> Material:
    place = shared / f"{os.getpid()}-{NAMES[agent]}"
    place.write_bytes(path.read_bytes())
    session = read_file(AGENTS[agent](redact=str), place).session
    said = () if session is None else [turn.text for turn in session.human_turns]
    return Material(rows=tuple(path.read_bytes().splitlines(keepends=True)), said=frozenset(said))


@cache
def _store(shared: Path) -> SqliteStore:
    return SqliteStore.open(shared / f"store-{os.getpid()}")


def shipped(case: Case) -> Seen:
    agent = case.random.choice(list(AGENTS))
    return _befallen(case, agent, _shipped(agent, case.shared), strict=True)


def real(case: Case) -> Seen:
    agent = case.random.choice(list(AGENTS))
    material = _real(agent, case.shared)
    return _befallen(case, agent, material, strict=False) if material else Counter()


def _befallen(case: Case, agent: str, all_of_it: Sequence[Material], *, strict: bool) -> Seen:
    random = case.random
    chosen = random.sample(all_of_it, random.choice((1, 1, 1, min(2, len(all_of_it)))))
    rows = [row for material in chosen for row in material.rows]
    said = {text for material in chosen for text in material.said}
    seen: Seen = Counter()
    secrets: list[str] = []
    own_rows = strict
    if random.random() < 0.5:
        rows, secrets = plant(random, rows)
        own_rows = False
    if random.random() < 0.4:
        act = random.choice(OF_JSON)
        rows, own_rows = act(random, rows), False
        seen[act.__name__.strip("_")] += 1
    for act in random.sample(OF_ROWS, random.randrange(3)):
        rows = act(random, rows) or [b"\n"]
        seen[act.__name__.strip("_")] += 1
    if random.random() < 0.4 and any(rows):
        act = random.choice(OF_BYTES)
        rows, own_rows = act(random, [row for row in rows if row]), False
        seen[act.__name__.strip("_")] += 1
    content = b"".join(rows)
    path = case.folder / NAMES[agent]
    for session in _in_parts(case, agent, path, content):
        _nothing_invented(session, content, said if own_rows else None)
        seen["human turns"] += len(session.human_turns)
    _no_secret(agent, path, secrets)
    _kept(case, agent, path)
    seen["secrets planted"] += len(secrets)
    return seen


def _in_parts(case: Case, agent: str, path: Path, content: bytes) -> list[Session]:
    """What a reading of the whole gives, and what a reading of a beginning and then of the rest gives."""
    source = AGENTS[agent](redact=str)
    path.write_bytes(content)
    whole = read_file(source, path)
    for other in AGENTS.values():
        other(redact=str).recognises(ref_of(source, path))
    path.write_bytes(content[: case.random.randrange(len(content) + 1)])
    first = read_file(source, path)
    path.write_bytes(content)
    second = read_file(source, path, first.offset)
    found = [result.session for result in (whole, first, second) if result.session is not None]
    if first.session is not None and second.session is not None and not second.restarted:
        found.append(first.session.extended(second.session))
    return found


def _nothing_invented(session: Session, content: bytes, said: set[str] | None) -> None:
    texts = {turn.text for turn in session.human_turns}
    if said is not None:
        assert texts <= said, f"nobody said {texts - said}"
    there = _unescaped(content.decode("utf-8", "replace"))
    bare = outside_injected(there)
    for text in texts - {"[image]"}:
        for line in text.splitlines():
            words = line.split() if line.startswith("/") else [line]
            for word in words:
                assert word.strip() in there or word.strip() in bare or _CUT.fullmatch(word), word


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _PLAIN.get(m[2], m[2]), text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _no_secret(agent: str, path: Path, secrets: list[str]) -> None:
    """Not in turns, calls and metadata, not in cursors, not in what is told of what was left out."""
    result = read_file(AGENTS[agent](redact=Redactor(KEY)), path)
    shown = repr(result)
    for secret in secrets:
        at = shown.find(secret)
        assert at < 0, f"{secret} came through: ...{shown[max(0, at - 200) : at + 100]}"


def _kept(case: Case, agent: str, path: Path) -> None:
    """It can be stored, is the same when it is found again, and can be learned from."""
    result = read_file(AGENTS[agent](redact=Redactor(KEY)), path)
    store = _store(case.shared)
    if result.session is not None and result.offset is not None:
        store.commit(result.session, result.offset)
        assert store.get(Session, result.session.id) == result.session
        assert store.get(Offset, result.offset.id) == result.offset
        store.remove(Session, result.session.id)
        store.remove(Offset, result.offset.id)
        signals(result.session)
        corrections([result.session])


PARTS = (
    Part(
        name="shipped transcripts befallen",
        group="fuzz",
        holds=(
            "reading, storing and looking for corrections never raises or hangs; no person's turn without "
            "its text in the file; no planted secret comes through"
        ),
        cases=6000,
        check=shipped,
    ),
    Part(
        name="real transcripts befallen",
        group="fuzz",
        holds="the same, with transcripts of people, where they lie beside the repository",
        cases=2000,
        check=real,
    ),
)

"""Which kinds of record are stored, in which tables, and how a record becomes a row and back.

Apart from the store that opens and writes a database, so that migrations need not know a connection.
A new kind is one line in KINDS; once a version with this schema is released, also a revision in
`migrations/versions` that calls `record_table(kind).create(...)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError
from sqlalchemy import BigInteger, Column, MetaData, String, Table, Text, UniqueConstraint
from sqlalchemy.types import TypeEngine

from nightschool.core.cycles import CycleReport
from nightschool.core.forgetting import Forgotten, Skipped, Unfinished
from nightschool.core.jobs import Finished, LostTry, Reservation
from nightschool.core.pins import Pin
from nightschool.core.proposals import Draft, RefusedEdit, Release, Review, SafetyReport, Verdict
from nightschool.core.sessions import Offset, Session, Window
from nightschool.core.tasks import Assignment, Candidate, Correction, HoldoutVersion, Task, TaskMark
from nightschool.core.trials import AlphaEntry, Draw, LostPair, Pair, Partition, Trial
from nightschool.core.values import Record

HEAD = "0005"
"""The revision that this version of the program reads and writes."""

WRITTEN = "written"
"""The counter that gives each row its place in the order of first writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealColumn:
    """A value that also stands beside the body, for sums and constraints in SQL."""

    name: str
    type: type[TypeEngine[Any]]
    read: Callable[[Any], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of record and its table."""

    record: type[Record]
    table: str
    columns: tuple[RealColumn, ...] = ()
    unique: tuple[str, ...] = ()


def _text(name: str) -> RealColumn:
    return RealColumn(name=name, type=Text, read=lambda record: getattr(record, name))


def _number(name: str) -> RealColumn:
    return RealColumn(name=name, type=BigInteger, read=lambda record: getattr(record, name))


def _micros(cost: Decimal | None) -> int | None:
    """US dollars in millionths, rounded up: a sum in SQL is never less than what was spent."""
    return None if cost is None else int((cost * 1_000_000).to_integral_value(ROUND_CEILING))


RESERVED = (
    _number("tokens"),
    RealColumn(name="cost_micros", type=BigInteger, read=lambda record: _micros(record.cost)),
)
FINISHED = (
    RealColumn(name="tokens", type=BigInteger, read=lambda record: record.outcome.usage.tokens),
    RealColumn(name="cost_micros", type=BigInteger, read=lambda record: _micros(record.outcome.usage.cost)),
)
LOST = (
    RealColumn(name="tokens", type=BigInteger, read=lambda record: record.usage.tokens),
    RealColumn(name="cost_micros", type=BigInteger, read=lambda record: _micros(record.usage.cost)),
)

OF_DRAW = (_text("wealth"), _number("draw"))

KINDS = (
    Kind(record=Session, table="sessions"),
    Kind(record=Offset, table="offsets", columns=(_text("stamp"),)),
    Kind(record=Window, table="windows"),
    Kind(record=Correction, table="corrections"),
    Kind(record=Candidate, table="candidates"),
    Kind(record=Task, table="tasks"),
    Kind(record=TaskMark, table="task_marks"),
    Kind(record=Assignment, table="assignments"),
    Kind(record=HoldoutVersion, table="holdout_versions"),
    Kind(record=Reservation, table="reservations", columns=RESERVED),
    Kind(record=Finished, table="finished_jobs", columns=FINISHED),
    Kind(record=LostTry, table="lost_tries", columns=LOST),
    Kind(record=Trial, table="trials"),
    Kind(record=Draw, table="draws", columns=OF_DRAW, unique=("wealth", "draw")),
    Kind(record=Pair, table="pairs", columns=OF_DRAW, unique=("wealth", "draw")),
    Kind(record=LostPair, table="lost_pairs", columns=OF_DRAW, unique=("wealth", "draw")),
    Kind(record=Partition, table="partitions"),
    Kind(
        record=AlphaEntry,
        table="alpha_ledger",
        columns=(_text("holdout"), _number("k")),
        unique=("holdout", "k"),
    ),
    Kind(record=Draft, table="drafts"),
    Kind(record=RefusedEdit, table="refused_edits"),
    Kind(record=SafetyReport, table="safety_reports"),
    Kind(record=Verdict, table="verdicts"),
    Kind(record=Review, table="reviews"),
    Kind(record=Release, table="releases"),
    Kind(record=Pin, table="pins"),
    Kind(record=CycleReport, table="cycles"),
    Kind(record=Forgotten, table="forgotten"),
    Kind(record=Skipped, table="skipped_files"),
    Kind(record=Unfinished, table="unfinished"),
)

METADATA = MetaData()

COUNTERS = Table(
    "counters",
    METADATA,
    Column("name", String, primary_key=True),
    Column("value", BigInteger, nullable=False),
)


def _table(kind: Kind) -> Table:
    return Table(
        kind.table,
        METADATA,
        Column("id", String, primary_key=True),
        Column("owner", String, nullable=False, index=True),
        Column("written", BigInteger, nullable=False, index=True),
        *(Column(column.name, column.type()) for column in kind.columns),
        Column("body", Text, nullable=False),
        *((UniqueConstraint(*kind.unique),) if kind.unique else ()),
    )


_TABLES = {kind.record: (kind, _table(kind)) for kind in KINDS}


def record_table(record: type[Record]) -> Table:
    return _declared(record)[1]


def row_of(record: Record) -> dict[str, object]:
    """All columns but `written`."""
    kind, _ = _declared(type(record))
    beside = {column.name: column.read(record) for column in kind.columns}
    try:
        body = _adapter(kind.table).dump_json(record).decode()
    except PydanticSerializationError as error:
        # Half a surrogate pair is the one text that no file can hold: readers must replace it.
        raise ValueError(f"{type(record).__name__} {record.id!a} cannot be stored: {error}") from error
    return {"id": record.id, "owner": record.owner, "body": body, **beside}


def record_of(record: type[Record], body: str) -> Record:
    """Read a body back; raises pydantic's ValidationError, for an unknown key too."""
    kind, _ = _declared(record)
    return _adapter(kind.table).validate_json(body, strict=True)


@cache
def _adapter(table: str) -> TypeAdapter[Record]:
    # Built when first needed: most commands touch few kinds.
    return TypeAdapter(next(kind.record for kind in KINDS if kind.table == table))


def _declared(record: type[Record]) -> tuple[Kind, Table]:
    try:
        return _TABLES[record]
    except KeyError:
        raise TypeError(f"{record.__name__} has no table; declare it in {__name__}.KINDS") from None

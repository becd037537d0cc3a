"""The first schema: a table for each kind of record, and the counters."""

from __future__ import annotations

from alembic import op

from nightschool.adapters.record_tables import METADATA

revision = "0001"
down_revision = None


def upgrade() -> None:
    # Until a version is released there is one schema: the declared one.
    METADATA.create_all(op.get_bind())

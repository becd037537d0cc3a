"""Files that a person wants left as they are."""

from __future__ import annotations

from alembic import op

from nightschool.adapters.record_tables import record_table
from nightschool.core.pins import Pin

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # A store that was made by 0001 of this version has the table already.
    record_table(Pin).create(op.get_bind(), checkfirst=True)

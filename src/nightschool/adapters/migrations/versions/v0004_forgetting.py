"""What is not to be read again, what was left out, and a forgetting that has not come to its end."""

from __future__ import annotations

from alembic import op

from nightschool.adapters.record_tables import record_table
from nightschool.core.forgetting import Forgotten, Skipped, Unfinished

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    # A store that was made by 0001 of this version has the tables already.
    for kind in (Forgotten, Skipped, Unfinished):
        record_table(kind).create(op.get_bind(), checkfirst=True)

"""What a person says of single tasks."""

from __future__ import annotations

from alembic import op

from nightschool.adapters.record_tables import record_table
from nightschool.core.tasks import TaskMark

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    # A store that was made by 0001 of this version has the table already.
    record_table(TaskMark).create(op.get_bind(), checkfirst=True)

"""Beside each cursor the stamp of its file, so that files that did not change are told by one query."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from nightschool.adapters.record_tables import record_of, record_table
from nightschool.core.sessions import Offset

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    connection, table = op.get_bind(), record_table(Offset)
    # A store that was made by 0001 of this version has the column already.
    if "stamp" in {column["name"] for column in sa.inspect(connection).get_columns(table.name)}:
        return
    op.add_column(table.name, sa.Column("stamp", sa.Text))
    for row in connection.execute(sa.select(table.c.id, table.c.body)).all():
        known = record_of(Offset, row.body)
        if isinstance(known, Offset):
            connection.execute(sa.update(table).where(table.c.id == row.id).values(stamp=known.stamp))

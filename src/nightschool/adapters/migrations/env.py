"""What Alembic runs: the connection is the store's, inside the store's transaction."""

from __future__ import annotations

from alembic import context

from nightschool.adapters.record_tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()

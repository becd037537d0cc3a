"""The change that a proposal makes, line by line. Relieves what shows proposals of it."""

from __future__ import annotations

import difflib
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightschool.core.proposals import Draft
    from nightschool.wiring import Parts


def difference(draft: Draft, parts: Parts) -> str:
    """The unified diff of the live file as it was and as it would be: by its name in the project, or by
    its whole path where it is the person's own. Secrets of theirs in it are taken out of both sides."""
    store, path = parts.store, parts.place(draft.target)
    name = path.relative_to(draft.target.project or "/").as_posix()
    old = b"" if draft.before is None else store.blob(draft.before)
    new = store.blob(draft.after)
    try:
        before, after = (_lines(parts.redact(side.decode())) for side in (old, new))
    except UnicodeDecodeError:
        return f"--- a/{name}\n+++ b/{name}\n(no text in UTF-8)\n"
    made_from = "/dev/null" if draft.before is None else f"a/{name}"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, made_from, f"b/{name}")
    )


def _lines(content: str) -> list[str]:
    # Lines of a file end with a newline alone: splitlines would also cut at form feeds and the like.
    return list(io.StringIO(content, newline="\n"))

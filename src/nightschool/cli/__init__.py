"""The command line: one function a command, each a few lines."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """The entry point. Importing this room costs nothing; an interrupt is quiet from the first moment."""
    try:
        from nightschool.cli.app import run  # noqa: PLC0415

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

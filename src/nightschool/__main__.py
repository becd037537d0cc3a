"""`python -m nightschool`."""

from __future__ import annotations

from nightschool.cli import main

main()

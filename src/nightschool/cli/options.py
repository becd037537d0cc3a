"""Options that several commands take."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from nightschool.core.errors import UserError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and logs on stderr.")]


def as_utf8(option: str, text: str) -> str:
    """The text of an option that is kept. Where the machine's encoding is a narrow one Python has read it by
    that; a terminal sends UTF-8 all the same."""
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError:
        raise UserError(f"{option} is no UTF-8: {text!a}; type it in another way") from None

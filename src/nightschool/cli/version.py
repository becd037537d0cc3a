"""`nightschool version`."""

from __future__ import annotations

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output


def version(*, json: Json = False) -> ExitCode:
    """Print the version of nightschool and of the Python that runs it.

    \b
    Example:
      nightschool version --json
    """
    import platform  # noqa: PLC0415 - not for the help
    from importlib import metadata  # noqa: PLC0415 - it loads the email package

    own, python = metadata.version("nightschool"), platform.python_version()
    return Output(json=json).result(
        {"version": own, "python": python}, [f"nightschool {own} (Python {python})"]
    )

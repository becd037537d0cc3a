"""The commands by name, and what happens around each of them: errors, exit codes, pipes."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand

from nightschool.cli import (
    Terminated,
    corrections,
    demo,
    diff,
    doctor,
    explain,
    files,
    forget,
    gate,
    harvest,
    history,
    proposals,
    publish,
    report,
    schedule,
    scheduled_start,
    status,
    task_files,
    task_marks,
    tasks,
    uninstall,
    version,
)
from nightschool.cli import run as run_command
from nightschool.cli.exits import DISK_FULL, ENVIRONMENT, ExitCode, error_code, exit_code
from nightschool.cli.output import Output
from nightschool.cli.printable import NARROW
from nightschool.cli.render import Line
from nightschool.core.errors import NightschoolError, NotAllowed, UserError

Command = Callable[..., ExitCode]

COMMANDS: dict[str, Command] = {
    "demo": demo.demo,
    "corrections": corrections.corrections,
    "run": run_command.run,
    "harvest": harvest.harvest,
    "tasks": tasks.tasks,
    "proposals": proposals.proposals,
    "show": proposals.show,
    "explain": explain.explain,
    "adopt": publish.adopt,
    "rebase": publish.rebase,
    "reject": publish.reject,
    "undo": publish.undo,
    "releases": files.releases,
    "pin": files.pin,
    "unpin": files.unpin,
    "status": status.status,
    "history": history.history,
    "diff": diff.diff,
    "report": report.report,
    "schedule": schedule.schedule,
    "doctor": doctor.doctor,
    "forget": forget.forget,
    "uninstall": uninstall.uninstall,
    "version": version.version,
}
"""In the order of the help."""
LOOK = """Look into the gate.

\b
Example:
  nightschool gate calibrate --simulate 1000
"""
GROUPS: dict[str, tuple[str, dict[str, Command]]] = {
    "tasks": (
        "",
        {
            "show": tasks.show,
            "protect": task_marks.protect,
            "withhold": task_marks.withhold,
            "retire": task_marks.retire,
            "export": task_files.export,
            "import": task_files.import_,
        },
    ),
    "schedule": (
        "",
        {
            "print": schedule.print_entry,
            "install": schedule.install,
            "remove": schedule.remove,
            "run": scheduled_start.start,
        },
    ),
    "gate": (LOOK, {"calibrate": gate.calibrate}),
}


ABOUT = """Your coding agents go to night school: learn from corrections, prove it, publish, undo.

\b
Example:
  nightschool corrections        what you keep telling your agents
  nightschool run                practise it, and propose edits
  nightschool proposals          what waits for your word
  nightschool help run           more on one command
"""
STOPPED = "stopped. What was finished is kept: the same command goes on from there"
CODES = """Exit codes: 0 done, 1 failed, 2 wrong use, 3 nothing passed the gate, 4 needs you, 5 login refused,
6 another cycle or harvest runs, 130 interrupted, 143 told to end. Each command takes --json; results go to
stdout, the rest to stderr.
"""


class Plainly(TyperCommand):
    """A command whose usage names what is required as it is: `ID`, not `{ID}`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [
            piece[1:-1] if piece.startswith("{") and piece.endswith("}") else piece
            for piece in super().collect_usage_pieces(ctx)
        ]


def app() -> typer.Typer:
    """All commands. Plain help: rich would cost more than all the rest of it."""
    whole = _group(ABOUT, CODES)
    whole.callback(invoke_without_command=True)(_root)
    _add(whole, COMMANDS)
    for name, (text, commands) in GROUPS.items():
        # Named alone, a group does what a command of its name does, or tells its commands. It takes that
        # one's place in the list.
        alone = COMMANDS.get(name)
        about = text or inspect.getdoc(alone) or ""
        part = _group(about)
        part.callback(invoke_without_command=True)(alone or _help)
        _add(part, commands)
        whole.add_typer(part, name=name, short_help=about.partition("\n")[0])
    return whole


def _add(group: typer.Typer, commands: dict[str, Command]) -> None:
    for name, command in commands.items():
        # Given as its own, a summary is folded where it is long; taken from the help it would be cut.
        summary = (inspect.getdoc(command) or "").partition("\n")[0]
        group.command(name, cls=Plainly, short_help=summary)(command)


def _group(text: str, below: str | None = None) -> typer.Typer:
    return typer.Typer(
        help=text,
        epilog=below,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _root(
    context: typer.Context,
    *,
    own: Annotated[bool, typer.Option("--version", help="Print the version, as `version` does.")] = False,
) -> None:
    if own:
        raise typer.Exit(version.version())
    _help(context)


def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """One command line, with its exit code."""
    if sys.stderr is None:  # closed by `2>&-`: what is told on the way has no reader, and costs no result
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=NARROW)  # a terminal of another encoding costs no run
    try:
        code = _told(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout, sys.stderr)
        return ExitCode.BROKEN_PIPE
    except OSError as error:
        if error.errno not in ENVIRONMENT:
            raise
        # Not even the document that tells of it could be written.
        _silence(sys.stdout)
        Output().note(Line(f"nightschool: the output: {error.strerror}", "red"))
        return ExitCode.FAILED
    return code


def _told(arguments: Sequence[str]) -> int:
    """The exit code, after telling what went wrong. A defect of ours keeps its traceback."""
    out = Output(json=wants_json(arguments), stream=wants_json(arguments, ["--stream"]))
    try:
        _need_home()
        # Not through typer's own main: it would swallow a broken pipe and an interrupt.
        command = typer.main.get_command(app())
        with command.make_context("nightschool", _asked(arguments)) as context:
            return int(command.invoke(context) or ExitCode.DONE)
    except typer.Exit as end:
        return end.exit_code
    except NightschoolError as error:
        return _tell(out, error_code(error), str(error), exit_code(error), error)
    except typer.TyperException as error:
        return _tell(out, "wrong-use", _usage(error), ExitCode.WRONG_USE)
    except (KeyboardInterrupt, typer.Abort) as stopped:
        out.note(STOPPED)
        return ExitCode.TERMINATED if isinstance(stopped, Terminated) else ExitCode.INTERRUPTED
    except OSError as error:
        if error.errno not in ENVIRONMENT:
            raise
        where = f"{error.filename}: " if error.filename else ""
        way = ""
        if error.errno in DISK_FULL:
            from nightschool.cli.reading import disks  # noqa: PLC0415 - help needs no settings

            way = f"; free some space: {disks(error.filename)}. What was finished is kept"
        return _tell(out, "system", f"{where}{error.strerror}{way}", ExitCode.FAILED)


def _need_home() -> None:
    """A relative HOME means another folder to each program: sessions of one person would go to the store of
    another."""
    home = os.environ.get("HOME")
    if home and not Path(home).is_absolute():
        raise UserError(f"HOME is {home!r}, which is no absolute path: export HOME=/the/whole/path")


def _asked(arguments: Sequence[str]) -> list[str]:
    """`help run` is `run --help`."""
    return [*arguments[1:], "--help"] if arguments[:1] == ["help"] else list(arguments)


def wants_json(arguments: Sequence[str], flags: Sequence[str] = ("--json", "--stream")) -> bool:
    """Whether errors are to be documents too, those of reading the arguments included."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return not set(flags).isdisjoint(own)


def _tell(
    out: Output, code: str, text: str, exit_with: ExitCode, error: NightschoolError | None = None
) -> ExitCode:
    document: dict[str, object] = {"code": code, "text": text}
    if isinstance(error, NotAllowed):
        document["reasons"] = [{"code": reason, "text": why} for reason, why in error.reasons]
    if not out.json:
        out.note(Line(f"nightschool: {text}", "red"))
    return out.result({"error": document}, code=exit_with)


def _usage(error: typer.TyperException) -> str:
    """What was wrong with the arguments, and where to read on."""
    context = getattr(error, "ctx", None)
    hint = "" if context is None else f" See: {context.command_path} --help"
    text = error.format_message()
    return (text if text.endswith((".", "?", "!")) else f"{text}.") + hint


def _silence(*streams: TextIO | None) -> None:
    """Nobody reads any more: what is still buffered goes nowhere, quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            os.dup2(nowhere, stream.fileno())

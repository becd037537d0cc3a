"""A runner that calls no model: an apprentice with a script really works in the sandbox."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any

from nightschool.core.errors import UserError, WorkspaceUnavailable
from nightschool.core.jobs import Delivered, Failed, Job, Outcome, Reason, Role, Usage
from nightschool.core.ports import Sandbox, Surface, Workspace
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.sessions import CallStatus, ToolCall
from nightschool.core.tasks import FilesSource
from nightschool.core.values import digest_of
from nightschool.testing import apprentice
from nightschool.testing.script import Script, plain

CANDIDATE = "evidence/candidate.json"


def quoting_editor(job: Job) -> str:
    """Proposes what the person said, in the person's own words, unless a rule says it already."""
    file = next((file for file in job.files if file.path == CANDIDATE), None)
    if file is None:
        return json.dumps({"edits": []})
    candidate = json.loads(file.content)
    statement, moments = candidate["statement"], candidate["evidence"]
    quotes = {moment["quote"]: moment for moment in reversed(moments)}
    if not moments or any(quote.strip() in candidate["rules"] for quote in quotes):
        return json.dumps({"edits": []})
    moment = quotes.get(statement, moments[0])
    edit = {
        "op": "add",
        "rule": moment["quote"].strip(),
        "anchor": "",
        "session": moment["session"],
        "turn": moment["turn"],
        "why": "it was said more than once" if len(moments) > 1 else "it was said",
    }
    return json.dumps({"edits": [edit]}, ensure_ascii=False)


@dataclass(slots=True, kw_only=True)
class ScriptedRunner:
    """The `Runner` of a script. Attempts are made by the apprentice inside the sandbox, as its memory files
    and the script say, with the job's key as the seed; edits are made by `editor`."""

    script: Script
    sandbox: Sandbox
    surface: Surface
    editor: Callable[[Job], str] = quoting_editor
    name: str = "scripted"
    tells_cost: bool = True
    sends_to: str = ""

    def version(self) -> str:
        return "1+" + digest_of(self.script, _source())[:12]

    def check(self) -> None:
        """A script needs neither program nor key, but a sandbox."""
        with self.sandbox.open(SandboxPlan(workspace=FilesSource())):
            return

    def run(self, job: Job, cancelled: Event) -> Outcome:
        if cancelled.is_set():
            return Failed(reason=Reason.CANCELLED, message="cancelled before it started", usage=NOTHING)
        if job.role is Role.EDIT:
            return Delivered(reply=self.editor(job), usage=NOTHING)
        readable = _python()
        plan = SandboxPlan(
            workspace=job.workspace,
            files=job.files,
            folder=job.folder,
            provision=job.provision,
            cancelled=cancelled,
            readable=readable,
        )
        try:
            with self.sandbox.open(plan) as workspace:
                for folder in (workspace.root, *workspace.shared):
                    workspace.bring(self.surface.touches(job.harness, folder))
                workspace.seal(self.surface.place(job.harness, workspace.root, workspace.home))
                execution = workspace.execute(self._command(job, workspace), cancelled)
                placed = {file.path.removeprefix("project/") for file in job.harness.files}
                files = tuple(change for change in workspace.changes() if change.path not in placed)
        except (WorkspaceUnavailable, UserError) as error:
            return Failed(reason=Reason.INFRASTRUCTURE, message=str(error), usage=NOTHING)
        usage = Usage(tokens=0, cost=Decimal(0), wall=execution.wall)
        failure = _failure(execution)
        if failure is not None:
            reason, message = failure
            return Failed(reason=reason, message=message, files=files, usage=usage)
        done = json.loads(execution.stdout)
        calls = tuple(_call(call, number) for number, call in enumerate(done["calls"]))
        return Delivered(reply=done["reply"], files=files, trajectory=calls, usage=usage)

    def _command(self, job: Job, workspace: Workspace) -> Command:
        order = {
            "script": plain(self.script),
            "prompt": job.prompt,
            "seed": job.key,
            "top": workspace.inside_root,
        }
        return Command(
            argv=(str(Path(sys.base_prefix).resolve() / "bin" / PROGRAM), "-I", "-S", "-B", "-c", _source()),
            stdin=json.dumps(order).encode(),
            timeout=job.options.timeout,
        )


NOTHING = Usage(tokens=0, cost=Decimal(0))
"""No model is called, so this is known and not guessed."""
PROGRAM = f"python{sys.version_info.major}.{sys.version_info.minor}"


def _python() -> tuple[tuple[str, str], ...]:
    """The Python that the apprentice runs under; what lies in /usr is inside anyway."""
    prefix = Path(sys.base_prefix).resolve()
    return () if prefix.is_relative_to("/usr") else ((str(prefix), str(prefix)),)


def _source() -> str:
    return Path(apprentice.__file__).read_text(encoding="utf-8")


def _failure(execution: Execution) -> tuple[Reason, str] | None:
    if execution.cancelled:
        return Reason.CANCELLED, "the apprentice was stopped"
    if execution.timed_out:
        return Reason.TIMEOUT, f"the apprentice was not done after {execution.wall.total_seconds():.0f} s"
    if execution.overfull:
        return Reason.BAD_REPLY, "the apprentice was stopped: it wrote more to the disk than a job may"
    if execution.exit_code:
        said = execution.stderr.decode("utf-8", "replace").strip()[-600:]
        return Reason.BAD_REPLY, f"the apprentice ended with code {execution.exit_code}: {said}"
    return None


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    given = call["arguments"]
    return ToolCall(
        call_id=f"call-{number}",
        name=call["tool"],
        arguments=json.dumps(given, ensure_ascii=False),
        command=given.get("command"),
        files=(given["path"],) if "path" in given else (),
        result=call["result"],
        status=CallStatus.ERROR if call["exit_code"] else CallStatus.OK,
        exit_code=call["exit_code"],
    )

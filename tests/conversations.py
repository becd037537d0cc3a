"""Sessions for tests, written by hand: alternating words of a human and acts of an agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nightschool.core.sessions import CallStatus, Session, Speaker, ToolCall, Turn, row_id

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def human(text: str) -> Turn:
    return Turn(speaker=Speaker.HUMAN, text=text, row="")


def agent(text: str = "Done.", *calls: ToolCall, interrupted: bool = False) -> Turn:
    return Turn(speaker=Speaker.AGENT, text=text, row="", calls=calls, interrupted=interrupted)


def bash(command: str, result: str = "", status: CallStatus = CallStatus.OK) -> ToolCall:
    arguments = json.dumps({"command": command})
    return ToolCall(
        call_id=f"bash {command}",
        name="Bash",
        arguments=arguments,
        command=command,
        result=result,
        status=status,
    )


def write(path: str, content: str) -> ToolCall:
    arguments = json.dumps({"file_path": path, "content": content})
    return ToolCall(
        call_id=f"write {path} {len(content)}",
        name="Write",
        arguments=arguments,
        files=(path,),
        result="",
        status=CallStatus.OK,
    )


def edit(path: str, old: str, new: str) -> ToolCall:
    arguments = json.dumps({"file_path": path, "old_string": old, "new_string": new})
    return ToolCall(
        call_id=f"edit {path} {new}",
        name="Edit",
        arguments=arguments,
        files=(path,),
        result="",
        status=CallStatus.OK,
    )


def read(path: str, content: str) -> ToolCall:
    numbered = "\n".join(f"{n:6}\u2192{line}" for n, line in enumerate(content.splitlines(), start=1))
    return ToolCall(
        call_id=f"read {path}",
        name="Read",
        arguments=json.dumps({"file_path": path}),
        result=numbered,
        status=CallStatus.OK,
    )


def session(name: str, *turns: Turn, project: str | None = "/home/me/app", day: int = 0) -> Session:
    """A session whose turns are a minute apart, begun `day` days after the first."""
    begun = START + timedelta(days=day)
    placed: Sequence[Turn] = [
        replace(
            turn,
            at=begun + timedelta(minutes=index),
            row=turn.row or f"{name}-{row_id(turn.speaker, None, turn.text)}-{index}",
        )
        for index, turn in enumerate(turns)
    ]
    return Session(
        session_id=name,
        source="claude-code",
        path=f"/home/me/.claude/projects/app/{name}.jsonl",
        project=project,
        branch="main",
        started_at=begun,
        ended_at=begun + timedelta(minutes=len(turns)),
        turns=tuple(placed),
    )


def corrected(
    name: str, request: str, correction: str, *, project: str = "/home/me/app", day: int = 0
) -> Session:
    """A session in which the agent took npm, was corrected, and took pnpm."""
    return session(
        name,
        human(request),
        agent("Installed.", bash("npm install left-pad")),
        human(correction),
        agent("Done with pnpm.", bash("pnpm add left-pad")),
        project=project,
        day=day,
    )

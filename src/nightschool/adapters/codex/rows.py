"""What single rows of Codex's transcripts mean: prompts, arguments of calls, how a call ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from nightschool.adapters.reading import skills_opened
from nightschool.core.sessions import CallStatus

ITEM = {
    "UserMessage": "user_message",
    "EnteredReviewMode": "entered_review_mode",
    "ExitedReviewMode": "exited_review_mode",
}
"""Items that stand for events of older versions."""

_NOT_TYPED = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<recommended_plugins>",
    "<turn_aborted>",
    "<user_action>",
    "<user_shell_command>",
    "<subagent_notification>",
)
_HEADLESS = frozenset({"exec", "mcp"})
"""Sources without a person: `codex exec`, and another agent that drives Codex as its tool."""

_DULL = re.compile(
    rb'\{"timestamp":"[^"\\]{1,40}",(?:"ordinal":\d+,)?"type":"(?:'
    rb'event_msg","payload":\{"type":"(?:agent_reasoning|agent_message|exec_command_end|'
    rb"patch_apply_end|mcp_tool_call_end|web_search_end|"
    rb'item_completed","thread_id":"[^"\\]*","turn_id":"[^"\\]*",'
    rb'"item":\{"type":"(?!UserMessage|EnteredReviewMode|ExitedReviewMode))'
    rb'|response_item","payload":\{"type":"reasoning"'
    rb'|compacted"|world_state"|token_usage_record")'
)

_LISTED = re.compile(r"^- ([\w:.-]{1,200}): [^\n]*SKILL\.md\)$", re.MULTILINE)
_EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})\s*$", re.MULTILINE)
_HEAD = 600
_PRINTED_CODE = re.compile(r'(?<!\\)"exit_code"\s*:\s*(-?\d{1,10})(?!\d)')
_ABORTED = re.compile(r"(?:Wall time: [\d.]+ seconds\n)?aborted by user")
_TOOL_FAILED = re.compile(
    r"\s*(?:apply_patch verification failed|exec_command failed|failed to parse (?:function|exec)|"
    r"unsupported (?:custom tool )?call|write_stdin failed|execution error|Script failed)"
)
_REJECTED = re.compile(r"rejected by user", re.IGNORECASE)
_SCRIPT_COMMAND = re.compile(r"""["']?\bcmd["']?\s*:\s*("(?:[^"\\]|\\.)*")""")


def is_dull(line: bytes) -> bool:
    """Whether a row by its first bytes is one that says nothing of turns or calls."""
    return _DULL.match(line) is not None


def is_headless(meta: Mapping[str, Any]) -> bool:
    source = meta.get("source")
    return (isinstance(source, str) and source in _HEADLESS) or meta.get("originator") == "codex_exec"


def is_sub_agent(meta: Mapping[str, Any]) -> bool:
    """Whether another agent started the session, so that its prompts are an agent's."""
    source = meta.get("source")
    return isinstance(source, dict) and bool(source.keys() & {"subagent", "sub_agent"})


def bare_text(payload: Mapping[str, Any], item: Mapping[str, Any] | None) -> str | None:
    """The prompt in an event, as sent; None for what Codex itself put in."""
    if item is None:
        text = payload.get("message")
        images = payload.get("images") or payload.get("local_images")
    else:
        text = output_text(item.get("content"))
        content = item.get("content")
        images = [block for block in content if _type(block) != "text"] if isinstance(content, list) else []
    if not isinstance(text, str) or not text.strip():
        return "[image]" if images else None
    return None if text.lstrip().startswith(_NOT_TYPED) else text


def _type(block: object) -> object:
    return block.get("type") if isinstance(block, dict) else None


def arguments_of(payload: Mapping[str, Any]) -> Any:
    """The arguments of a call: parsed where they are JSON, else the text (a patch, a script)."""
    given = payload.get("arguments", payload.get("input"))
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            return orjson.loads(given)
        except ValueError:
            return given
    return given


def output_text(content: object) -> str:
    """A text, or the texts of a list of blocks, or what an old version wrapped as JSON."""
    return "\n".join(_texts(content))


def _texts(content: object) -> Iterator[str]:
    match content:
        case str():
            yield content
        case list():
            for block in content:
                if isinstance(block, dict) and isinstance(text := block.get("text"), str):
                    yield text
        case {"content": inner}:
            yield from _texts(inner)
        case {"output": str(inner)}:
            yield inner


def skills_read(command: str | None) -> tuple[str, ...]:
    """The skills whose file a command line names: opening it is how Codex loads one."""
    return () if command is None else skills_opened(command)


def skills_listed(text: str) -> list[str]:
    """The skills that a message of the client says there are."""
    _, marked, listed = text.partition("### Available skills")
    return _LISTED.findall(listed) if marked else []


def mentioned_skill(payload: Mapping[str, Any]) -> str | None:
    """The skill whose text Codex put in because the person mentioned it."""
    text = output_text(payload.get("content")) if payload.get("role") == "user" else ""
    if not text.startswith("<skill>"):
        return None
    path, closed, _ = text.partition("<path>")[2].partition("</path>")
    folder, _, name = path.replace("\\", "/").rpartition("/")
    plain = closed and name == "SKILL.md" and not {"<", "\n"} & set(path)
    return (folder.rpartition("/")[2] or None) if plain else None


def judged(output: object) -> tuple[CallStatus, int | None]:
    """How a call ended by its output, and the exit code that stands there.

    A script that printed only its output hides its codes: it counts as done.
    """
    texts = list(_texts(output))
    if not texts:
        return CallStatus.UNKNOWN, None
    head = texts[0][:_HEAD]
    found = _EXITED.search(head.split("\nOutput:", 1)[0])
    if found is not None:
        return _by_code(int(found.group(1)))
    failed = _failed(head)
    if failed is not None:
        return failed, None
    codes = [int(code) for text in texts for code in _printed_codes(text)]
    if codes:
        return _by_code(next((code for code in codes if code), 0))
    return CallStatus.OK, None


def _failed(head: str) -> CallStatus | None:
    """What became of a call for which the tool itself speaks, in place of a result."""
    if "\nOutput:" not in head and _REJECTED.search(head):
        return CallStatus.REFUSED
    if _ABORTED.match(head):
        return CallStatus.UNKNOWN
    return CallStatus.ERROR if _TOOL_FAILED.match(head) else None


def _by_code(code: int) -> tuple[CallStatus, int]:
    return (CallStatus.ERROR if code else CallStatus.OK), code


def _printed_codes(text: str) -> list[str]:
    """Codes in what a script printed of its calls, also where the text was cut and is no JSON any more."""
    return _PRINTED_CODE.findall(text) if text.lstrip()[:1] in {"{", "["} else []


def script_commands(script: str) -> str:
    """The command lines that a script hands to the shell, as far as they stand in it as plain strings."""
    found: list[str] = []
    for quoted in _SCRIPT_COMMAND.findall(script):
        try:
            found.append(orjson.loads(quoted))
        except ValueError:
            continue  # a string of JavaScript that is none of JSON: its command stays in the arguments
    return "\n".join(found)

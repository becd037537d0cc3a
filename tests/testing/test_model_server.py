"""The scripted model, spoken to as agents do."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from nightschool.testing.model_server import ModelServer
from nightschool.testing.script import Fault, Rule, Say, Script, Shell, Use, When, Write

SCRIPT = Script(
    rules=(
        Rule(when=When(prompt="list"), then=(Shell(command="ls"), Write(path="d/x", content="1"))),
        Rule(when=When(prompt="busy"), then=(Fault(status=429, message="slow down"),)),
        Rule(when=When(prompt="own"), then=(Use(tool="Read", arguments={"file_path": "a"}),)),
    ),
    default=Say(text="That is all."),
    aside="an aside",
)
CLAUDE_TOOLS = [{"name": "Bash"}, {"name": "Write"}]


def post(url: str, body: dict[str, Any], **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers=headers)  # noqa: S310 - our own address
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - loopback
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "system": "s", "tools": CLAUDE_TOOLS, "messages": list(messages), **more}


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def result(call: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "list"}]}


def codex(tool: str, properties: dict[str, Any], *items: dict[str, Any]) -> dict[str, Any]:
    tools = [{"type": "function", "name": tool, "parameters": {"properties": properties}}, {"type": "web"}]
    return {"model": "m", "instructions": "i", "tools": tools, "input": list(items)}


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def test_messages_are_answered_by_stage() -> None:
    """The tools that Claude Code offers are called in turn, then comes the answer; injected blocks
    and results are no prompt."""
    with ModelServer(SCRIPT) as server:
        url = f"{server.url}/v1/messages?beta=true"
        first = user("<system-reminder>busy</system-reminder>", "list it")
        whole = json.loads(post(url, claude(first))[1])
        assert whole["content"][0]["input"] == {"command": "ls", "description": "Run a command"}
        assert whole["stop_reason"] == "tool_use"
        done = [{"role": "assistant", "content": whole["content"]}, result("a")]
        second = json.loads(post(url, claude(first, *done))[1])
        assert second["content"][0]["name"] == "Write"
        third = json.loads(post(url, claude(first, *done, *done))[1])
        assert third["content"] == [{"type": "text", "text": "That is all."}]
        fourth = json.loads(post(url, claude(first, *done, user("own")))[1])
        assert (fourth["content"][0]["name"], fourth["content"][0]["input"]) == ("Read", {"file_path": "a"})
        assert [seen.path for seen in server.requests] == ["/v1/messages"] * 4
        assert "list it" in server.requests[0].text


def test_messages_stream() -> None:
    """A stream is a list of named events that ends with the stop of the message."""
    with ModelServer(SCRIPT) as server:
        _, text = post(f"{server.url}/v1/messages", claude(user("list"), stream=True))
        rows = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        assert [row["type"] for row in rows] == [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert json.loads(rows[2]["delta"]["partial_json"])["command"] == "ls"
        assert json.loads(post(f"{server.url}/v1/messages/count_tokens", claude(user("list")))[1])[
            "input_tokens"
        ]


def test_requests_without_tools_get_the_aside() -> None:
    """What an agent asks for itself (a title) does not run through the rules."""
    with ModelServer(SCRIPT) as server:
        _, text = post(f"{server.url}/v1/messages", claude(user("list"), tools=[]))
        assert json.loads(text)["content"][0]["text"] == "an aside"


@pytest.mark.parametrize(
    ("tool", "properties", "arguments"),
    [
        ("exec_command", {"cmd": {"type": "string"}}, {"cmd": "ls"}),
        ("shell", {"command": {"type": "array"}}, {"command": ["bash", "-lc", "ls"]}),
        ("shell_command", {"command": {"type": "string"}}, {"command": "ls"}),
    ],
)
def test_responses_use_the_shell_that_is_offered(
    tool: str, properties: dict[str, Any], arguments: dict[str, Any]
) -> None:
    """Each version of Codex gets its own shell called in its own form."""
    with ModelServer(SCRIPT) as server:
        body = codex(tool, properties, said("<environment_context>busy"), said("list"))
        reply = json.loads(post(f"{server.url}/v1/responses", body)[1])
        call = reply["output"][0]
        assert (call["name"], json.loads(call["arguments"])) == (tool, arguments)
        answered = [*body["input"], call, {"type": "function_call_output", "output": "busy"}]
        written = json.loads(post(f"{server.url}/v1/responses", {**body, "input": answered})[1])
        assert "cat > d/x" in written["output"][0]["arguments"]


def test_a_codex_that_runs_javascript_gets_a_script() -> None:
    """Where the only tool is `exec` in the input's additional tools, the shell is called from a script."""
    offered = [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]
    body = {"model": "m", "input": [{"type": "additional_tools", "tools": offered}, said("list")]}
    with ModelServer(SCRIPT) as server:
        call = json.loads(post(f"{server.url}/v1/responses", body)[1])["output"][0]
        assert (call["type"], call["name"]) == ("custom_tool_call", "exec")
        assert 'tools.exec_command({"cmd": "ls"})' in call["input"]
        answered = [*body["input"], call, {"type": "custom_tool_call_output", "output": "busy"}]
        written = json.loads(post(f"{server.url}/v1/responses", {**body, "input": answered})[1])
        assert "cat > d/x" in written["output"][0]["input"]


def test_responses_stream_ends_with_usage() -> None:
    """Codex waits for `response.completed` with its usage."""
    with ModelServer(SCRIPT) as server:
        body = {**codex("shell", {}, said("hello")), "stream": True}
        _, text = post(f"{server.url}/v1/responses", body)
        last = json.loads(text.strip().splitlines()[-1][6:])
        assert last["type"] == "response.completed"
        assert last["response"]["usage"]["total_tokens"] > 0
        assert last["response"]["output"][0]["content"][0]["text"] == "That is all."


def test_an_agent_without_a_shell_is_told() -> None:
    """A script that needs a shell which the request does not offer gives a 400 with the names."""
    with ModelServer(SCRIPT) as server:
        status, text = post(f"{server.url}/v1/responses", codex("other", {}, said("list")))
        assert status == 400
        assert "other" in text


def test_faults_and_wrong_keys() -> None:
    """A fault gives its status; where a key is set, all others get a 401 and are not counted."""
    with ModelServer(SCRIPT, key="right") as server:
        url = f"{server.url}/v1/messages"
        assert post(url, claude(user("busy")), **{"x-api-key": "wrong"})[0] == 401
        assert server.requests == []
        status, text = post(url, claude(user("busy")), Authorization="Bearer right")
        assert (status, json.loads(text)["error"]["message"]) == (429, "slow down")
        assert post(f"{server.url}/elsewhere", {})[0] == 404


def test_outside_of_its_block_there_is_no_address() -> None:
    """A server that does not run has no url."""
    with pytest.raises(RuntimeError, match="with block"):
        _ = ModelServer(SCRIPT).url

"""The scripted model behind chat completions and generateContent, spoken to as agents do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nightschool.testing.model_server import ModelServer
from nightschool.testing.script import Fault, Rule, Say, Script, Shell, Use, When, Write
from testing.test_model_server import post

SCRIPT = Script(
    rules=(
        Rule(when=When(prompt="list"), then=(Shell(command="ls"), Write(path="d/x", content="1"))),
        Rule(when=When(prompt="busy"), then=(Fault(status=429, message="slow down"),)),
        Rule(when=When(prompt="own"), then=(Use(tool="look", arguments={"at": "a"}),)),
    ),
    default=Say(text="That is all."),
    aside="an aside",
)
CHAT = "/v1/chat/completions"
GENERATE = "/v1beta/models/m:generateContent"


def shaped(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


def chat(*messages: dict[str, Any], **tools: dict[str, Any]) -> dict[str, Any]:
    offered = tools or {"bash": shaped("command"), "write": shaped("path", "content")}
    functions = [{"name": name, "parameters": schema} for name, schema in offered.items()]
    return {
        "model": "m",
        "messages": [{"role": "system", "content": "busy"}, *messages],
        "tools": [{"type": "function", "function": function} for function in functions],
    }


def gemini(*contents: dict[str, Any], **more: Any) -> dict[str, Any]:
    shell, write = shaped("command", "description"), shaped("file_path", "content")
    declared = [
        {"name": "run_shell_command", "parametersJsonSchema": shell},
        {"name": "write_file", "parameters": write},
    ]
    return {"contents": list(contents), "tools": [{"functionDeclarations": declared}], **more}


def user(*parts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} for part in parts]}


def answered(url: str, body: dict[str, Any]) -> dict[str, Any]:
    status, text = post(url, body)
    assert status == 200, text
    found: dict[str, Any] = json.loads(text)
    return found


def rows(text: str) -> list[str]:
    return [line.removeprefix("data: ") for line in text.splitlines() if line]


def test_completions_are_answered_by_stage() -> None:
    """The tools that are offered are called in turn, then comes the answer; results and what the agent put
    in are no prompt, and the next prompt starts anew."""
    with ModelServer(SCRIPT) as server:
        url = server.url + CHAT
        first = {"role": "user", "content": "list it"}
        message = answered(url, chat(first))["choices"][0]["message"]
        function = message["tool_calls"][0]["function"]
        assert (function["name"], json.loads(function["arguments"])) == ("bash", {"command": "ls"})
        done = [message, {"role": "tool", "tool_call_id": "a", "content": "busy"}]
        second = answered(url, chat(first, *done))["choices"][0]
        written = second["message"]["tool_calls"][0]["function"]
        assert (written["name"], json.loads(written["arguments"])) == (
            "write",
            {"path": "d/x", "content": "1"},
        )
        assert second["finish_reason"] == "tool_calls"
        note = {
            "role": "user",
            "content": [{"type": "text", "text": "<system-reminder>busy</system-reminder>"}],
        }
        third = answered(url, chat(first, *done, *done, note))["choices"][0]
        assert (third["message"]["content"], third["finish_reason"]) == ("That is all.", "stop")
        fourth = answered(url, chat(first, *done, {"role": "user", "content": "your own"}))
        assert fourth["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"


def test_completions_stream() -> None:
    """A stream holds the message, how it ended, its usage, and the mark of the end."""
    with ModelServer(SCRIPT) as server:
        found = rows(post(server.url + CHAT, chat({"role": "user", "content": "list"}) | {"stream": True})[1])
        assert found[-1] == "[DONE]"
        opened, ended, used = (json.loads(row) for row in found[:-1])
        assert opened["choices"][0]["delta"]["tool_calls"][0]["index"] == 0
        assert ended["choices"][0]["finish_reason"] == "tool_calls"
        assert used["usage"]["total_tokens"] > used["usage"]["prompt_tokens"] > 0


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ("write", ("filePath", "content")),
        ("create", ("path", "file_text")),
    ],
)
def test_a_file_is_written_with_the_tool_for_it(tool: str, names: tuple[str, str]) -> None:
    """Each agent's own tool is called with its own names of path and text."""
    script = Script(rules=(Rule(then=(Write(path="d/x", content="1"),)),))
    with ModelServer(script) as server:
        body = chat({"role": "user", "content": "go"}, **{tool: shaped(*names), "bash": shaped("command")})
        call = answered(server.url + CHAT, body)["choices"][0]["message"]["tool_calls"][0]["function"]
        assert (call["name"], json.loads(call["arguments"])) == (
            tool,
            dict(zip(names, ("d/x", "1"), strict=True)),
        )


def test_without_a_tool_for_files_the_shell_writes() -> None:
    """An agent that has a shell alone gets a command line; one without either is told what it offers."""
    script = Script(rules=(Rule(then=(Write(path="d/x", content="1"),)),))
    with ModelServer(script) as server:
        go = {"role": "user", "content": "go"}
        body = answered(server.url + CHAT, chat(go, bash=shaped("command")))
        assert "cat > d/x" in body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
        status, text = post(server.url + CHAT, chat(go, look=shaped("at")))
        assert (status, "look" in text) == (400, True)


def test_generate_content_is_answered_by_stage() -> None:
    """The functions that are declared are called in turn, then comes the answer; responses and what the
    agent put in are no prompt."""
    with ModelServer(SCRIPT) as server:
        url = server.url + GENERATE
        context, first = user("<session_context>busy</session_context>"), user("list it")
        content = answered(url, gemini(context, first))["candidates"][0]["content"]
        call = content["parts"][0]["functionCall"]
        assert (call["name"], call["args"]) == (
            "run_shell_command",
            {"command": "ls", "description": "Run a command"},
        )
        result = {"role": "user", "parts": [{"functionResponse": {"name": call["name"], "response": {}}}]}
        second = answered(url, gemini(context, first, content, result))["candidates"][0]["content"]
        written = second["parts"][0]["functionCall"]
        assert (written["name"], written["args"]) == ("write_file", {"file_path": "d/x", "content": "1"})
        third = answered(url, gemini(first, content, result, second, result))
        assert third["candidates"][0]["content"]["parts"] == [{"text": "That is all."}]
        assert third["usageMetadata"]["totalTokenCount"] > 0


def test_generate_content_streams_by_its_path() -> None:
    """`streamGenerateContent` is a stream, whatever the body says."""
    with ModelServer(SCRIPT) as server:
        url = f"{server.url}/v1beta/models/m:streamGenerateContent?alt=sse"
        (row,) = rows(post(url, gemini(user("hello")))[1])
        assert json.loads(row)["candidates"][0]["finishReason"] == "STOP"
        assert answered(f"{server.url}/v1beta/models/m:countTokens", gemini(user("hello")))["totalTokens"] > 0


def test_a_shape_that_is_asked_for_is_given() -> None:
    """An agent's request for a decision in JSON gets the least JSON of that shape, else an aside."""
    speaker = {"type": "STRING", "enum": ["user", "model"]}
    schema = {
        "type": "OBJECT",
        "properties": {"reasoning": {"type": "STRING"}, "next": speaker, "sure": {"type": "BOOLEAN"}},
    }
    body = {"contents": [user("list")], "generationConfig": {"responseJsonSchema": schema}}
    with ModelServer(SCRIPT) as server:
        text = answered(server.url + GENERATE, body)["candidates"][0]["content"]["parts"][0]["text"]
        assert json.loads(text) == {"reasoning": "as scripted", "next": "user", "sure": False}
        plain = answered(server.url + GENERATE, {"contents": [user("list")]})
        assert plain["candidates"][0]["content"]["parts"] == [{"text": "an aside"}]


@pytest.mark.parametrize(("path", "header"), [(CHAT, "authorization"), (GENERATE, "x-goog-api-key")])
def test_faults_and_keys(path: str, header: str) -> None:
    """A fault gives its status; each API's own header lets in."""
    body = chat({"role": "user", "content": "busy"}) if path == CHAT else gemini(user("busy"))
    with ModelServer(SCRIPT, key="right") as server:
        assert post(server.url + path, body, **{header: "wrong"})[0] == 401
        assert server.requests == []
        status, text = post(server.url + path, body, **{header: "right"})
        assert (status, json.loads(text)["error"]["message"]) == (429, "slow down")

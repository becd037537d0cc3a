"""The one way out: credentials stay outside, secrets are redacted, tokens are counted."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.adapters.gateway import Gateway, GatewayCall
from nightschool.adapters.token_usage import TokenUsage, UsageReader
from nightschool.core.errors import UserError
from nightschool.core.sandboxes import Command, SandboxPlan
from nightschool.core.spent import MOST
from nightschool.core.tasks import FilesSource

MESSAGE = {
    "type": "message",
    "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 7},
}
EVENTS = (
    b'data: {"type":"message_start","message":{"usage":{"input_tokens":11,"output_tokens":1}}}\n\n',
    b'data: {"type":"content_block_delta","delta":{"text":"hello"}}\n\n',
    b'data: {"type":"message_delta","usage":{"output_tokens":30}}\n\n',
)


@dataclass
class Upstream:
    """A model endpoint that notes what arrives. What it answers depends on the path's last part."""

    url: str = ""
    seen: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.noted.seen.append((self.command, self.path, headers, body))
        match self.path.partition("?")[0].rpartition("/")[2]:
            case "stream":
                self.stream(EVENTS)
            case "broken":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b"only this")
                self.close_connection = True
            case "refused":
                self.whole(401, {"type": "error"})
            case "busy":
                self.whole(529, {"type": "error"})
            case _:
                self.whole(200, MESSAGE)

    def whole(self, status: int, document: object) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", "a=b")
        self.send_header("Request-Id", "r-1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def stream(self, events: tuple[bytes, ...]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events):
            if number == 1:
                self.server.noted.go_on.wait(20)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Quiet."""


class Server(ThreadingHTTPServer):
    def __init__(self, noted: Upstream) -> None:
        self.noted = noted
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A gateway that hangs up on purpose is no error of the endpoint."""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    noted = Upstream()
    with Server(noted) as server:
        noted.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield noted
        noted.go_on.set()
        server.shutdown()
        thread.join()


class Client(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("gateway", timeout=20)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(str(self._path))


@contextmanager
def client(path: Path) -> Iterator[Client]:
    connection = Client(path)
    try:
        yield connection
    finally:
        connection.close()


def ask(
    path: Path, target: str = "/v1/messages", body: object = None, headers: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    content = json.dumps(body).encode() if body is not None else b"{}"
    with client(path) as connection:
        connection.request(
            "POST", target, content, {"Content-Type": "application/json", **dict(headers or {})}
        )
        reply = connection.getresponse()
        return reply.status, reply.read()


def test_credentials_are_put_in_outside(upstream: Upstream) -> None:
    """What a job sends as key, token or cookie is dropped, and the gateway's own header goes instead."""
    gateway = Gateway(upstream=upstream.url + "/base/", headers={"X-Api-Key": "outside"})
    inside = {
        "x-api-key": "inside", "Authorization": "Bearer inside", "Cookie": "inside", "api-key": "inside",
        "anthropic-version": "2023-06-01", "Host": "evil.example", "Connection": "keep-alive",
    }  # fmt: skip
    with gateway as path:
        status, content = ask(path, "/v1/messages?beta=true", {"model": "m-1"}, inside)
    assert (status, json.loads(content)) == (200, MESSAGE)
    ((method, target, headers, body),) = upstream.seen
    assert (method, target, json.loads(body)) == ("POST", "/base/v1/messages?beta=true", {"model": "m-1"})
    assert headers["x-api-key"] == "outside"
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["host"] == upstream.url.removeprefix("http://")
    assert "inside" not in " ".join(headers.values())


def test_each_call_is_noted_with_its_tokens(upstream: Upstream) -> None:
    """Time, path, status, bytes and tokens of every call can be audited, without its texts."""
    gateway = Gateway(upstream=upstream.url)
    with gateway as path:
        ask(path, "/v1/messages?secret=1", {"model": "m-1"})
        ask(path, "/v1/busy")
    # Noted when it is over, which a busy machine may put behind the end of the next one.
    first, second = sorted(gateway.calls, key=lambda call: call.at)
    assert (first.path, first.model, first.status, first.complete) == ("/v1/messages", "m-1", 200, True)
    assert first.usage == TokenUsage(input=105, output=7)
    assert first.sent == len(b'{"model": "m-1"}')
    assert first.received == len(json.dumps(MESSAGE))
    assert first.at.tzinfo is not None
    assert (second.status, second.usage) == (529, None)
    assert gateway.tokens == 112
    assert not gateway.refused_credentials


def test_events_pass_while_the_model_still_writes(upstream: Upstream) -> None:
    """A stream is not held back: the job reads the first event before the model has sent the second."""
    gateway = Gateway(upstream=upstream.url)
    with gateway as path, client(path) as connection:
        connection.request("POST", "/v1/stream", b"{}")
        reply = connection.getresponse()
        assert reply.read1(len(EVENTS[0])) == EVENTS[0]
        upstream.go_on.set()
        assert reply.read() == b"".join(EVENTS[1:])
    assert gateway.calls[0].usage == TokenUsage(input=11, output=30)


def test_one_connection_serves_many_requests(upstream: Upstream) -> None:
    """Agents keep their connection open between requests."""
    with Gateway(upstream=upstream.url) as path, client(path) as connection:
        for _ in range(3):
            connection.request("POST", "/v1/messages", b"{}")
            assert json.loads(connection.getresponse().read()) == MESSAGE
    assert len(upstream.seen) == 3


@pytest.mark.parametrize(
    "line",
    [
        "GET http://evil.example/v1/messages HTTP/1.1",
        "GET //evil.example/v1 HTTP/1.1",
        "CONNECT evil.example:443 HTTP/1.1",
        "GET /v1/../../admin HTTP/1.1",
        "GET /v1/%2e%2e/admin HTTP/1.1",
        "GET /v1/%252e%252e/admin HTTP/1.1",
        "GET /v1/..\\admin HTTP/1.1",
        "GET /v1/%0d%0aX:1 HTTP/1.1",
        "GET evil.example HTTP/1.1",
        "DELETE /v1/files/1 HTTP/1.1",
        "GET /v1/files HTTP/1.1",
    ],
)
def test_nothing_but_the_model_can_be_reached(upstream: Upstream, line: str) -> None:
    """Other hosts, tunnels, paths that climb out, and paths or methods that were not allowed are refused."""
    gateway = Gateway(upstream=upstream.url + "/base", headers={"x-api-key": "k"}, paths=("/v1/messages",))
    with gateway as path, socket.socket(socket.AF_UNIX) as inner:
        inner.settimeout(20)
        inner.connect(str(path))
        inner.sendall(f"{line}\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: inner.recv(4096), b""))
    assert answer.split(b" ")[1] in {b"400", b"404", b"405", b"501"}, answer
    assert upstream.seen == []


def test_bodies_are_redacted_before_they_leave(upstream: Upstream) -> None:
    """A secret in a request is replaced; what is signed or encrypted by the model's side stays exact."""

    def redact(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: redact(item) for name, item in value.items()}
        if isinstance(value, list):
            return [redact(item) for item in value]
        return value.replace("SECRET", "***") if isinstance(value, str) else value

    body = {
        "messages": [
            {"type": "thinking", "thinking": "SECRET", "signature": "SECRETsig"},
            {"type": "redacted_thinking", "data": "SECRETdata"},
            {"type": "reasoning", "encrypted_content": "SECRETenc", "summary": ["SECRET"]},
            {"type": "tool_use", "input": {"data": "SECRET", "ü": "SECRET"}},
        ]
    }
    with Gateway(upstream=upstream.url, redact=redact) as path:
        ask(path, body=body)
        ask(path, body=None, headers={"Content-Encoding": "identity"})
        with client(path) as connection:
            connection.request(
                "POST", "/v1/messages", gzip.compress(json.dumps(body).encode()), {"Content-Encoding": "gzip"}
            )
            connection.getresponse().read()
        with client(path) as connection:
            connection.request("POST", "/v1/messages", iter([b'{"a": "SEC', b'RET"}']), encode_chunked=True)
            connection.getresponse().read()
    sent = json.loads(upstream.seen[0][3])["messages"]
    assert sent[0] == {"type": "thinking", "thinking": "***", "signature": "SECRETsig"}
    assert sent[1] == {"type": "redacted_thinking", "data": "SECRETdata"}
    assert sent[2] == {"type": "reasoning", "encrypted_content": "SECRETenc", "summary": ["***"]}
    assert sent[3]["input"] == {"data": "***", "ü": "***"}
    assert json.loads(upstream.seen[2][3])["messages"] == sent
    assert "content-encoding" not in upstream.seen[2][2]
    assert json.loads(upstream.seen[3][3]) == {"a": "***"}


@pytest.mark.parametrize(
    ("body", "encoding"), [(b"no json", ""), (b"\x28\xb5\x2f\xfd", "zstd"), (b"x", "gzip")]
)
def test_what_cannot_be_redacted_does_not_leave(upstream: Upstream, body: bytes, encoding: str) -> None:
    """A body that is no JSON, or in an unknown encoding, is refused with the reason."""
    with Gateway(upstream=upstream.url, redact=lambda value: value) as path, client(path) as connection:
        connection.request("POST", "/v1/messages", body, {"Content-Encoding": encoding} if encoding else {})
        reply = connection.getresponse()
        assert reply.status in {400, 415}
        assert "nightschool gateway" in json.loads(reply.read())["error"]["message"]
    assert upstream.seen == []


def test_a_model_that_is_away_is_a_502_that_names_it() -> None:
    """A job sees an error in the shape its client reads, and the call is noted without a status."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    gateway = Gateway(upstream=f"http://127.0.0.1:{port}")
    with gateway as path:
        status, content = ask(path)
    assert status == 502
    error = json.loads(content)
    assert (error["type"], error["error"]["type"]) == ("error", "api_error")
    assert str(port) in error["error"]["message"]
    assert [(call.status, call.complete) for call in gateway.calls] == [(None, False)]


def test_a_reply_that_breaks_off_is_seen_by_the_job_and_noted(upstream: Upstream) -> None:
    """Half a reply never looks like a whole one, and its tokens are unknown, not zero."""
    gateway = Gateway(upstream=upstream.url)
    with gateway as path, pytest.raises(http.client.IncompleteRead):
        ask(path, "/v1/broken")
    assert [(call.status, call.complete) for call in gateway.calls] == [(200, False)]
    assert gateway.tokens is None


def test_refused_credentials_are_remembered(upstream: Upstream) -> None:
    """A 401 reaches the job, and afterwards the runner can tell that no further job could succeed."""
    gateway = Gateway(upstream=upstream.url)
    with gateway as path:
        assert ask(path, "/v1/refused")[0] == 401
    assert gateway.refused_credentials


def test_the_socket_is_private_short_and_removed(upstream: Upstream, tmp_path: Path) -> None:
    """Nobody else on the machine can use the person's key through it, and nothing is left of it."""
    gateway = Gateway(upstream=upstream.url)
    with gateway as path:
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert len(str(path)) < 100
    assert not path.parent.exists()
    with gateway as again:
        assert ask(again)[0] == 200


def test_the_end_of_the_gateway_ends_calls_in_flight(upstream: Upstream) -> None:
    """A job that hangs in a request does not keep the gateway open."""
    with Gateway(upstream=upstream.url) as path:
        connection = Client(path)
        connection.request("POST", "/v1/stream", b"{}")
        reply = connection.getresponse()
        assert reply.read1(10)
    with pytest.raises((http.client.HTTPException, OSError)):
        reply.read()
    connection.close()


@pytest.mark.parametrize(
    "address", ["api.example", "ftp://api.example", "https://", "https://u:p@api.example", "https://a/?x=1"]
)
def test_an_address_that_is_none_is_an_error(address: str) -> None:
    """A wrong address is told when it is given, not when the first job fails."""
    with pytest.raises(UserError, match="address"):
        Gateway(upstream=address)


def test_the_gateway_is_reached_from_inside_the_sandbox(upstream: Upstream, tmp_path: Path) -> None:
    """A job without a network reaches the model, and the key is nowhere inside."""
    gateway = Gateway(upstream=upstream.url, headers={"x-api-key": "outside"})
    script = (
        "exec 3<>/dev/tcp/${URL#http://}; "
        "printf 'POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2\\r\\n' >&3; "
        "printf 'Connection: close\\r\\n\\r\\n{}' >&3; "
        "cat <&3; env; cat /proc/*/environ"
    )
    with gateway as path:
        plan = SandboxPlan(workspace=FilesSource(), gateway=path)
        with BubblewrapSandbox(work=tmp_path).open(plan) as workspace:
            url = (workspace.gateway_url or "").replace(":", "/").replace("http///", "http://")
            command = Command(argv=("bash", "-c", script), environment=(("URL", url),))
            done = workspace.execute(command, threading.Event())
    assert b'"output_tokens": 7' in done.stdout
    assert b"outside" not in done.stdout
    assert upstream.seen[0][2]["x-api-key"] == "outside"


def test_usage_of_every_api_is_read() -> None:
    """Input and output of the Responses API and of chat completions are counted once each."""
    responses = UsageReader("text/event-stream")
    text = (
        b'data: {"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":4}}}\r\n'
    )
    for index in range(0, len(text), 7):
        responses.add(text[index : index + 7])
    assert responses.usage() == TokenUsage(input=9, output=4)
    chat = UsageReader("application/json")
    chat.add(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}')
    assert chat.usage() == TokenUsage(input=3, output=2)
    for kind in ("application/json", "text/event-stream", "text/html"):
        none = UsageReader(kind)
        none.add(b'data: {"usage": [broken\n')
        assert none.usage() is None


def test_what_is_no_count_of_tokens_is_unknown(upstream: Upstream) -> None:
    """A budget counts the unknown as over: neither a reply nor all come to more than is stored."""
    odd = UsageReader("application/json")
    odd.add(b'{"usage": {"input_tokens": -5, "output_tokens": %d}}' % MOST)
    assert odd.usage() is None
    gateway = Gateway(upstream=upstream.url)
    call = GatewayCall(
        at=gateway.now(),
        method="POST",
        path="/v1/messages",
        model=None,
        status=200,
        sent=0,
        received=0,
        usage=TokenUsage(input=MOST - 1, output=0),
        complete=True,
    )
    gateway.note(call)
    assert gateway.tokens == MOST - 1
    gateway.note(call)
    assert gateway.tokens is None


def test_a_count_that_is_sent_again_adds_nothing() -> None:
    """B07, B08: the events of one reply repeat its whole usage, and a running total comes three times more:
    the reply cost what its last total says."""
    events = UsageReader("text/event-stream")
    start = (
        b'data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":90,"output_tokens":1}}}\n'
    )
    for output in (1, 25, 25, 25, 40, 40):
        total = b'"usage":{"input_tokens":90,"cache_read_input_tokens":7,"output_tokens":%d}' % output
        events.add(start + b'data: {"type":"message_delta",' + total + b"}\n")
    assert events.usage() == TokenUsage(input=97, output=40)

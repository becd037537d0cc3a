"""A model of a script's making: four model APIs on loopback, as real agents speak them."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from nightschool.core.values import Digest, digest_of
from nightschool.testing import completions_api, generate_api, messages_api, responses_api
from nightschool.testing.script import Act, Fault, Say, Script, decide

MODEL = "scripted-1"
_STREAMS = ":streamGenerateContent"
_COUNTS = ("/messages/count_tokens", ":countTokens")
_WIRES: dict[str, Any] = {
    "/messages": messages_api,
    "/messages/count_tokens": messages_api,
    "/responses": responses_api,
    "/chat/completions": completions_api,
    ":generateContent": generate_api,
    _STREAMS: generate_api,
    ":countTokens": generate_api,
}
"""How the path of each API ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request as it arrived. Headers by lower-case name."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """The body as one text, to search for what reached the model."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(slots=True)
class ModelServer:
    """`with ModelServer(script) as server:` serves at `server.url` until the block ends.

    `key`, where given, is the only credential that is let in; all others get a 401.
    """

    script: Script
    seed: str = ""
    key: str | None = None
    requests: list[Seen] = field(default_factory=list)
    """Every request that asked for an answer, in order of arrival."""
    _http: ThreadingHTTPServer | None = None
    _thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a slash at its end."""
        if self._http is None:
            raise RuntimeError("the model server is not running: use it in a with block")
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"model": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()
        self._http = None

    def answer(self, seen: Seen) -> tuple[int, str, bytes]:
        """Status, content type and body of the answer to one request."""
        wire = _wire(seen.path)
        if wire is None:
            return _error(HTTPStatus.NOT_FOUND, "not_found_error", f"no such path here: {seen.path}")
        if self.key is not None and self.key not in _credentials(seen.headers):
            return _error(HTTPStatus.UNAUTHORIZED, "authentication_error", "invalid x-api-key")
        if seen.path.endswith(_COUNTS):
            counted = {"input_tokens": _tokens(seen), "totalTokens": _tokens(seen)}
            return HTTPStatus.OK, "application/json", json.dumps(counted).encode()
        self.requests.append(seen)
        return self._speak(wire, seen, len(self.requests))

    def _speak(self, wire: Any, seen: Seen, number: int) -> tuple[int, str, bytes]:
        act = self._act(wire, seen)
        if isinstance(act, Fault):
            return _error(act.status, "api_error", act.message)
        try:
            block = wire.block(act, seen.body, name(act, number))
        except LookupError as error:
            return _error(HTTPStatus.BAD_REQUEST, "invalid_request_error", str(error))
        identity = name(seen.text, number)
        reply = wire.Reply(identity=identity, block=block, model=MODEL, tokens_in=_tokens(seen))
        if seen.body.get("stream") or seen.path.endswith(_STREAMS):
            return HTTPStatus.OK, "text/event-stream", reply.stream()
        return HTTPStatus.OK, "application/json", json.dumps(reply.whole()).encode()

    def _act(self, wire: Any, seen: Seen) -> Act:
        asked = wire.read(seen.body)
        if not wire.tools(seen.body):
            act = decide(self.script, text=asked.text, prompt=asked.prompt, stage=0, seed=self.seed)
            return act if isinstance(act, Fault) else Say(text=self.script.aside)
        return decide(self.script, text=asked.text, prompt=asked.prompt, stage=asked.stage, seed=self.seed)


def name(*parts: object) -> Digest:
    """An id for a row: unlike others, and the same in each run of the same requests."""
    return Digest(digest_of(repr(parts))[:24])


def _wire(path: str) -> Any:
    return next((wire for ending, wire in _WIRES.items() if path.endswith(ending)), None)


def _credentials(headers: dict[str, str]) -> set[str]:
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return {bearer, headers.get("x-api-key", ""), headers.get("x-goog-api-key", "")}


def _tokens(seen: Seen) -> int:
    """A plausible count: four characters a token."""
    return len(seen.text) // 4


def _error(status: int, kind: str, message: str) -> tuple[int, str, bytes]:
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return status, "application/json", json.dumps(body).encode()


class _Handler(BaseHTTPRequestHandler):
    model: ModelServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except json.JSONDecodeError:
            self._send(*_error(HTTPStatus.BAD_REQUEST, "invalid_request_error", "the body is no JSON"))
            return
        headers = {key.lower(): value for key, value in self.headers.items()}
        path = self.path.split("?", 1)[0]
        self._send(*self.model.answer(Seen(path=path, headers=headers, body=body)))

    def do_GET(self) -> None:
        listing = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
        if self.path.split("?", 1)[0].endswith("/models"):
            self._send(HTTPStatus.OK, "application/json", json.dumps(listing).encode())
        else:
            self._send(*_error(HTTPStatus.NOT_FOUND, "not_found_error", f"no such path here: {self.path}"))

    def do_HEAD(self) -> None:
        self._send(HTTPStatus.OK, "application/json", b"")

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature of http.server
        """Requests are kept in `ModelServer.requests`; nothing is printed."""

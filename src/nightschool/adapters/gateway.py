"""The one way out of a sandbox: a unix socket that leads to one model endpoint and nothing else.

Credentials are put in here, outside; what a job sends under their names is dropped. Request bodies are
redacted, replies are passed on as they come, and every call is noted with the tokens it used.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import shutil
import socket
import socketserver
import ssl
import tempfile
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from nightschool.adapters.system_clock import SystemClock
from nightschool.adapters.token_usage import TokenUsage, UsageReader
from nightschool.core.errors import UserError
from nightschool.core.ports import Clock
from nightschool.core.spent import within

RedactJson = Callable[[Any], Any]
"""Replaces the secrets in a parsed JSON value and keeps its shape."""

LONGEST_SOCKET_PATH = 100
"""AF_UNIX allows 108 on Linux and 104 on macOS, with the final zero."""
BODY_BYTES = 64 << 20
CHUNK = 1 << 16
IDLE_SECONDS = 600
"""Without a byte from the model. A thinking model may be silent for minutes."""
HOP_BY_HOP = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
}  # fmt: skip
CREDENTIALS = {"authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie"}
REWRITTEN = {"host", "content-length", "content-encoding", "accept-encoding", "expect"}
NOT_FROM_UPSTREAM = {"content-length", "set-cookie", "server", "date"}
OPAQUE = {"signature", "encrypted_content"}
"""Signed or encrypted by the model's side, which refuses them when one character differs."""
OPAQUE_DATA_OF = {"redacted_thinking", "base64", "image", "document"}
"""Types whose field `data` is of that sort; elsewhere `data` is ordinary text."""
REFUSALS = {401, 403}
WITHOUT_BODY = {204, 304}


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayCall:
    """One request that a job made. `status` is None where the endpoint gave no answer."""

    at: datetime
    method: str
    path: str
    """Without the query."""
    model: str | None
    status: int | None
    sent: int
    received: int
    usage: TokenUsage | None
    complete: bool
    """False where the reply broke off."""


class Refused(Exception):
    """The gateway does not pass this on; the text is for the job."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


class Gateway:
    """`with gateway as socket_path:` serves until the block ends; `calls` stays readable after it."""

    def __init__(
        self,
        *,
        upstream: str,
        headers: Mapping[str, str] | None = None,
        redact: RedactJson | None = None,
        paths: Sequence[str] | None = None,
        clock: Clock | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """`paths`: prefixes of what may be asked for; None: all below the upstream's base."""
        parts = urlsplit(upstream)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise UserError(f"the model's address must be like https://host/base, not {upstream!r}")
        if parts.username or parts.password:
            raise UserError("the model's address holds a password; give it as a header instead")
        self.upstream = upstream
        self.calls: list[GatewayCall] = []
        self.refused_credentials = False
        self.asked = self.answered = False
        """Whether the endpoint was asked at all, and whether it ever began to answer."""
        self._parts = parts
        self._headers = dict(headers or {})
        self._redact = redact
        self._paths = None if paths is None else tuple(paths)
        self._clock: Clock = clock or SystemClock()
        self._idle = idle_seconds
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._server: _Server | None = None

    def __enter__(self) -> Path:
        self._folder = _private_folder()
        path = self._folder / "s"
        self._server = _Server(str(path), self)
        path.chmod(0o600)
        threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="model gateway", daemon=True
        ).start()
        return path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.hang_up()
        if self._folder is not None:
            shutil.rmtree(self._folder)
        self._server = self._folder = None

    @property
    def tokens(self) -> int | None:
        """Of all calls; None as soon as one that was answered well named none."""
        with self._lock:
            total = 0
            for call in self.calls:
                if call.usage is not None:
                    total += call.usage.total
                elif call.status == http.client.OK and call.method == "POST" and _makes_tokens(call.path):
                    return None
            return within(total)

    def note(self, call: GatewayCall) -> None:
        with self._lock:
            self.calls.append(call)
            if call.status in REFUSALS:
                self.refused_credentials = True

    def now(self) -> datetime:
        return self._clock.now()

    def connect(self) -> http.client.HTTPConnection:
        host, port = str(self._parts.hostname), self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._idle)
        return http.client.HTTPSConnection(
            host, port, timeout=self._idle, context=ssl.create_default_context()
        )

    def target(self, asked: str) -> str:
        """The path and query at the upstream. Raises `Refused` for whatever is not below its base."""
        if not asked.startswith("/") or asked.startswith("//"):
            raise Refused(400, "only paths are passed on, no other hosts")
        path = asked.partition("?")[0]
        plain = unquote(unquote(path))
        if ".." in plain.replace("\\", "/").split("/") or any(ord(letter) < 0x21 for letter in plain):
            raise Refused(400, "this path is not passed on")
        if self._paths is not None and not path.startswith(self._paths):
            raise Refused(404, f"only {', '.join(self._paths)} are passed on")
        return self._parts.path.rstrip("/") + asked

    def outer_headers(self, inner: Mapping[str, str], length: int | None) -> dict[str, str]:
        own = {name.lower() for name in self._headers}
        dropped = HOP_BY_HOP | CREDENTIALS | REWRITTEN | own
        kept = {name: value for name, value in inner.items() if name.lower() not in dropped}
        # Not compressed: the tokens are read as the reply passes.
        kept |= {"Accept-Encoding": "identity", **self._headers}
        if length is not None:
            kept["Content-Length"] = str(length)
        return kept

    def clean(self, body: bytes, encoding: str) -> tuple[bytes, str | None]:
        """The body as it may leave, and the model that it names."""
        if not body:
            return body, None
        plain = _decoded(body, encoding)
        try:
            document = json.loads(plain)
        except ValueError as error:
            if self._redact is None:
                return plain, None
            raise Refused(415, "only JSON bodies are passed on: others cannot be redacted") from error
        model = document.get("model") if isinstance(document, dict) else None
        if self._redact is not None:
            redacted = self._redact(document)
            plain = json.dumps(_restored(document, redacted), ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
        return plain, model if isinstance(model, str) else None


def _makes_tokens(path: str) -> bool:
    return not path.endswith("/count_tokens")


def _private_folder() -> Path:
    """A folder for this process alone, with a short path: the socket's whole path is bounded."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108 - a folder of our own is made in it
        if parent and os.access(parent, os.W_OK) and len(os.fsencode(parent)) < LONGEST_SOCKET_PATH - 20:
            return Path(tempfile.mkdtemp(prefix="ns-", dir=parent))
    raise UserError("no temporary folder with a short path can be written: set TMPDIR to one")


def _decoded(body: bytes, encoding: str) -> bytes:
    try:
        match encoding.strip().lower():
            case "" | "identity":
                return body
            case "gzip":
                return gzip.decompress(body)
            case "deflate":
                return zlib.decompress(body)
    except (OSError, EOFError, zlib.error) as error:
        raise Refused(400, f"the body is not {encoding}") from error
    raise Refused(415, f"bodies in {encoding} are not passed on: they cannot be redacted")


def _restored(original: Any, redacted: Any) -> Any:
    """The redacted value with the opaque fields as they were."""
    if isinstance(original, dict) and isinstance(redacted, dict):
        data = str(original.get("type")) in OPAQUE_DATA_OF
        return {
            name: original[name]
            if name in original and (name in OPAQUE or (data and name == "data"))
            else _restored(original.get(name), value)
            for name, value in redacted.items()
        }
    if isinstance(original, list) and isinstance(redacted, list) and len(original) == len(redacted):
        return [_restored(old, new) for old, new in zip(original, redacted, strict=True)]
    return redacted


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, path: str, gateway: Gateway) -> None:
        self.gateway = gateway
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(path, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        with self._lock:
            for request in self._open:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A job that hangs up in the middle is no event of ours; the call is noted by its handler."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._pass_on()

    def do_HEAD(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Calls are noted in `Gateway.calls`."""

    def _pass_on(self) -> None:
        gateway = self.server.gateway
        at = gateway.now()
        path = self.path.partition("?")[0]
        try:
            target = gateway.target(self.path)
            body, model = gateway.clean(self._body(), self.headers.get("Content-Encoding", ""))
        except Refused as refusal:
            self.close_connection = True
            self._answer(refusal.status, str(refusal))
            return
        status, usage, complete = None, None, False
        self._received = 0
        connection = gateway.connect()
        gateway.asked = True
        try:
            length = len(body) if self.command == "POST" else None
            connection.request(
                self.command, target, body or None, gateway.outer_headers(dict(self.headers), length)
            )
            reply = connection.getresponse()
            status = reply.status
            gateway.answered = True
            reader = UsageReader(reply.headers.get("Content-Type", ""))
            complete = self._stream(reply, reader)
            usage = reader.usage()
        except (OSError, http.client.HTTPException) as error:
            self.close_connection = True
            if status is None:
                self._answer(502, f"the model at {gateway.upstream} cannot be reached: {error}")
        finally:
            connection.close()
            gateway.note(
                GatewayCall(
                    at=at,
                    method=self.command,
                    path=path,
                    model=model,
                    status=status,
                    sent=len(body),
                    received=self._received,
                    usage=usage,
                    complete=complete,
                )
            )

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunked_body()
        given = self.headers.get("Content-Length", "0")
        if not given.isdigit():
            raise Refused(400, "Content-Length is no number")
        if int(given) > BODY_BYTES:
            raise Refused(413, f"bodies over {BODY_BYTES} bytes are not passed on")
        return self.rfile.read(int(given))

    def _chunked_body(self) -> bytes:
        body = bytearray()
        while True:
            try:
                size = int(self.rfile.readline(1024).partition(b";")[0], 16)
            except ValueError as error:
                raise Refused(400, "the body's chunks are not well formed") from error
            if size < 0 or len(body) + size > BODY_BYTES:
                raise Refused(413, f"bodies over {BODY_BYTES} bytes are not passed on")
            body += self.rfile.read(size)
            self.rfile.readline(1024)
            if size == 0:
                return bytes(body)

    def _stream(self, reply: http.client.HTTPResponse, reader: UsageReader) -> bool:
        """Pass the reply on as it comes. Whether it came to its end."""
        length = reply.headers.get("Content-Length")
        without = self.command == "HEAD" or reply.status in WITHOUT_BODY
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in HOP_BY_HOP | NOT_FROM_UPSTREAM:
                self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", length)
        elif not without:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while not without and (chunk := reply.read1(CHUNK)):
            self._received += len(chunk)
            reader.add(chunk)
            framed = chunk if length is not None else b"%x\r\n%s\r\n" % (len(chunk), chunk)
            self.wfile.write(framed)
        if length is not None and not without and self._received < int(length):
            # The job must see that it broke off, and not wait for the rest.
            self.close_connection = True
            return False
        if length is None and not without:
            self.wfile.write(b"0\r\n\r\n")
        return True

    def _answer(self, status: int, text: str) -> None:
        """An error in the shape that both kinds of API clients read."""
        body = json.dumps(
            {"type": "error", "error": {"type": "api_error", "message": f"nightschool gateway: {text}"}}
        ).encode()
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

"""A provider with the OpenAI protocol on a real socket, with good or bad responses as scripted.

Each request uses the next script; without one, it gets an automatic answer that quotes the numbered evidence of its
prompt. To run it by hand: `python -m tests.fakes.provider --port 8001`. Questions that contain "slow", "fail in the
middle" or "fail at once" then get such answers, failures only once, so that Retry works.
"""

import argparse
import json
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from tests.fakes import answers
from tests.fakes.embeddings import Embeddings

Style = Literal["openai", "deepseek", "ollama"]


@dataclass
class Script:
    """The response to one request."""

    text: str | None = None
    thinking: str = ""
    style: Style = "deepseek"
    tokens_per_chunk: int = 1
    delay: float = 0.0
    first_delay: float = 0.0
    finish: str = "stop"
    usage: bool = True
    done: bool = True
    cut_after: int | None = None
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None
    hold_open: float = 0.0
    go_on: threading.Event | None = None
    purpose: str = ""


class FakeProvider:
    """The server; a context manager. `requests`, `paths` and `headers` are those of the POSTs, in order."""

    def __init__(self, port: int = 0, *, delay: float = 0.0, host: str = "127.0.0.1") -> None:
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.models = ["fake-model"]
        # The response to requests for the models instead of the list: a status and JSON data, or bytes.
        self.listing: tuple[int, Any] | None = None
        # The headers of these requests.
        self.listed: list[dict[str, str]] = []
        self.embeddings = Embeddings()
        self.missing_paths: set[str] = set()
        self.refused_fields: dict[str, str] = {}
        self.disconnects = 0
        self.connections = 0
        self.default = Script(delay=delay)
        self.minds_manners = False
        self._failed: set[str] = set()
        self._scripts: deque[Script] = deque()
        self._changed = threading.Condition()
        self._server = _Server((host, port), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """The URL for LLM_BASE_URL."""
        return f"{self.root_url}/v1"

    @property
    def root_url(self) -> str:
        """The server's URL without a path, for OLLAMA_URL."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def reply(self, text: str, thinking: str = "", **options: Any) -> None:
        """Answer the next request with a text. Options are the fields of `Script`.

        Thinking is sent in `<think>` tags (openai), `reasoning_content` (deepseek) or `reasoning` (ollama). With a
        `purpose`, this is the response to the next request of that purpose (see `answers.purpose`), which is otherwise
        automatic. The answer begins after `first_delay` seconds, and once `go_on` is set; the connection stays open for
        `hold_open` seconds after its end.
        """
        self._scripts.append(Script(text=text, thinking=thinking, **options))

    def fail(self, status: int, body: Any = None, headers: dict[str, str] | None = None, purpose: str = "") -> None:
        """Refuse the next request, or the next one of a purpose; `body` is bytes or JSON data."""
        if not isinstance(body, bytes):
            body = json.dumps(body if body is not None else {"error": {"message": f"status {status}"}}).encode()
        self._scripts.append(Script(status=status, body=body, headers=headers or {}, purpose=purpose))

    def cut_after(self, chunks: int, text: str = "One two three four five six.", **options: Any) -> None:
        """Close the connection of the next answer after so many chunks."""
        self._scripts.append(Script(text=text, cut_after=chunks, **options))

    def garbage(self, *chunks: bytes, content_type: str = "text/event-stream", hold_open: float = 0.0) -> None:
        """Answer the next request with exactly these bytes, written one chunk at a time."""
        self._scripts.append(Script(chunks=list(chunks), headers={"Content-Type": content_type}, hold_open=hold_open))

    def wait_for_disconnect(self, count: int = 1, timeout: float = 30.0) -> bool:
        """Wait until clients have disconnected during so many answers."""
        with self._changed:
            return self._changed.wait_for(lambda: self.disconnects >= count, timeout)

    def reset(self) -> None:
        """Forget scripts and records."""
        self._scripts.clear()
        for record in (self.requests, self.paths, self.headers):
            record.clear()
        self.missing_paths.clear()
        self.refused_fields.clear()
        self.disconnects = 0

    def next_script(self, body: dict[str, Any]) -> Script:
        """Return the response to the next request; with `minds_manners`, the one its question asks for."""
        purpose = answers.purpose(body)
        with self._changed:  # requests that come at the same moment take one each
            script = next((script for script in self._scripts if script.purpose == purpose), None)
            if script is not None:
                self._scripts.remove(script)
                return script
        if not self.minds_manners or not body.get("stream"):
            return self.default
        manner = answers.manner(body)
        if not manner.keys().isdisjoint(("status", "cut_after")):
            prompt = json.dumps(body.get("messages") or body.get("prompt"))
            if prompt in self._failed:
                return self.default
            self._failed.add(prompt)
        return replace(self.default, **manner)

    def note_disconnect(self) -> None:
        """Record that a client disconnected."""
        with self._changed:
            self.disconnects += 1
            self._changed.notify_all()

    def start(self) -> Self:
        """Serve in a thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving, and cut off open answers."""
        self._server.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Joining would wait for keep-alive connections that clients hold.
    block_on_close = False
    request_queue_size = 128
    provider: FakeProvider

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self.stopping = threading.Event()
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: disconnecting clients are part of the tests."""


class _Gone(Exception):
    """The client has closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.provider.connections += 1
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        provider = self.server.provider
        provider.listed.append(dict(self.headers))
        if provider.listing is not None and self.path.endswith("/models"):
            status, body = provider.listing
            self._bytes(status, body, {}) if isinstance(body, bytes) else self._json(status, body)
        elif self.path in provider.missing_paths:
            self._json(404, {"detail": "Not Found"})
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in provider.models]})
        elif self.path == "/api/tags":
            self._json(200, {"models": [{"name": name} for name in provider.models]})
        else:
            self._json(404, {"error": {"message": "Not Found"}})

    def do_POST(self) -> None:
        provider = self.server.provider
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        provider.requests.append(body)
        provider.paths.append(self.path)
        provider.headers.append(dict(self.headers))
        if self.path in provider.missing_paths:
            self._json(404, {"detail": "Not Found"})
            return
        if refused := next((f for f in provider.refused_fields if f in body), None):
            self._json(400, {"error": {"message": provider.refused_fields[refused]}})
            return
        try:
            self._answer(body, provider.next_script(body))
        except (_Gone, ConnectionError):
            self.close_connection = True
            provider.note_disconnect()

    def _answer(self, body: dict[str, Any], script: Script) -> None:
        if script.body is not None:
            self._bytes(script.status, script.body, script.headers)
        elif self.path.endswith("/embeddings"):
            self._embed(body)
        elif script.chunks is not None:
            self._stream(iter(script.chunks), script)
        else:
            thinking, text = (script.thinking, script.text) if script.text is not None else answers.automatic(body)
            plain = self.path.endswith("/v1/completions")
            if body.get("stream"):
                self._stream(_events(body, script, thinking, text, plain=plain), script)
            else:
                self._json(200, _whole(body, script, thinking, text, plain=plain))

    def _embed(self, body: dict[str, Any]) -> None:
        reply = self.server.provider.embeddings.reply(body)
        if isinstance(reply, bytes):
            self._bytes(200, reply, {})
        else:
            self._json(200, reply)

    def _stream(self, chunks: Iterator[bytes], script: Script) -> None:
        self.send_response(script.status)
        for name, value in ({"Content-Type": "text/event-stream"} | script.headers).items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._pause(script.first_delay)
        while script.go_on is not None and not script.go_on.is_set():
            self._pause(0.01)
        for count, chunk in enumerate(chunks):
            if count == script.cut_after:
                self._break()
                return
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self._pause(script.delay)
        self._pause(script.hold_open)
        self.wfile.write(b"0\r\n\r\n")

    def _pause(self, seconds: float) -> None:
        """Wait while the client is connected. Raises `_Gone` if it disconnects."""
        end = time.monotonic() + seconds
        while True:
            left = max(0.0, end - time.monotonic())
            readable, _, _ = select.select([self.connection], [], [], min(left, 0.05))
            if self.server.stopping.is_set() or (readable and not self.connection.recv(1, socket.MSG_PEEK)):
                raise _Gone
            if not left:
                return
            if readable:
                time.sleep(min(left, 0.05))

    def _break(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _json(self, status: int, value: Any) -> None:
        self._bytes(status, json.dumps(value).encode(), {})

    def _bytes(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _events(body: dict[str, Any], script: Script, thinking: str, text: str, *, plain: bool) -> Iterator[bytes]:
    """Yield the frames of a streamed answer."""
    kind = "text_completion" if plain else "chat.completion.chunk"
    base = {"id": "fake-1", "object": kind, "created": 0, "model": body.get("model", "")}
    name = {"deepseek": "reasoning_content", "ollama": "reasoning"}.get(script.style)
    if name is None and thinking:
        text = f"<think>{thinking}</think>\n\n{text}"
    deltas = [{name: part} for part in answers.cut(thinking, script.tokens_per_chunk)] if name and not plain else []
    deltas += [{"content": part} for part in answers.cut(text, script.tokens_per_chunk)]
    for delta in deltas:
        choice = {"index": 0, "text": delta["content"]} if plain else {"index": 0, "delta": delta}
        yield _frame(base | {"choices": [choice | {"finish_reason": None}]})
    last: dict[str, Any] = {"index": 0, "text": ""} if plain else {"index": 0, "delta": {}}
    if script.finish:
        yield _frame(base | {"choices": [last | {"finish_reason": script.finish}]})
    if script.usage and (body.get("stream_options") or {}).get("include_usage"):
        yield _frame(base | {"choices": [], "usage": _usage(body, len(deltas))})
    if script.done:
        yield b"data: [DONE]\n\n"


def _whole(body: dict[str, Any], script: Script, thinking: str, text: str, *, plain: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "reasoning_content": thinking}
    choice = {"text": text} if plain else {"message": message}
    return {
        "id": "fake-1",
        "model": body.get("model", ""),
        "choices": [{"index": 0, "finish_reason": script.finish} | choice],
        "usage": _usage(body, len(text.split())),
    }


def _usage(body: dict[str, Any], completion: int) -> dict[str, int]:
    prompt = len(json.dumps(body.get("messages") or body.get("prompt") or "", ensure_ascii=False)) // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _frame(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A fake OpenAI-compatible provider.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds between tokens")
    options = parser.parse_args()
    with FakeProvider(options.port, delay=options.delay, host=options.host) as provider:
        provider.minds_manners = True
        print(f"LLM_BASE_URL={provider.base_url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("Stopped.")


if __name__ == "__main__":
    main()

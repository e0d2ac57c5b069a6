"""A rerank endpoint on a real socket with one of the three formats, with good or bad responses as scripted.

A document's score is the share of the query's words that it contains. To run it by hand: `python -m tests.fakes.rerank
--port 8002 --style tei`.
"""

import argparse
import json
import re
import threading
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Rows = list[dict[str, Any]]
PATHS = {"jina": ("/v1/rerank",), "cohere": ("/v1/rerank", "/v2/rerank"), "tei": ("/rerank",)}


class FakeReranker:
    """The server; a context manager. `requests`, `paths` and `headers` are those of the POSTs, in order."""

    def __init__(self, style: str = "jina", port: int = 0, *, limit: int = 1000) -> None:
        self.style = style
        self.limit = limit
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.stopping = threading.Event()
        self._scripts: deque[Callable[[_Handler, Rows], None]] = deque()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def root_url(self) -> str:
        """The URL for RERANK_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def fail(self, status: int, headers: dict[str, str] | None = None, body: Any = None) -> None:
        """Refuse the next request."""
        self._scripts.append(
            lambda handler, rows: handler.send(status, body or {"error": f"status {status}"}, headers or {})
        )

    def garbage(self, body: bytes) -> None:
        """Answer the next request with exactly these bytes."""
        self._scripts.append(lambda handler, rows: handler.send(200, body))

    def change(self, change: Callable[[Rows], Rows]) -> None:
        """Answer the next request with the result of a function of the results."""
        self._scripts.append(lambda handler, rows: handler.results(change(rows)))

    def silence(self) -> None:
        """Don't answer the next request until the server stops."""
        self._scripts.append(lambda handler, rows: handler.hang())

    def answer(self, handler: "_Handler", body: dict[str, Any]) -> None:
        """Answer a request with the next script, or correctly."""
        if handler.path not in PATHS[self.style]:
            handler.send(404, {"detail": "Not Found"})
            return
        texts = body.get("texts" if self.style == "tei" else "documents")
        if texts is None:
            handler.send(422, {"error": "missing field", "error_type": "Validation"})
            return
        if len(texts) > self.limit:
            handler.send(413, {"error": f"batch size {len(texts)} > maximum allowed batch size {self.limit}"})
            return
        rows = ranked(body["query"], texts, "score" if self.style == "tei" else "relevance_score")
        if self._scripts:
            self._scripts.popleft()(handler, rows)
        else:
            handler.results(rows)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    fake: FakeReranker

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: disconnecting clients are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""

    def do_POST(self) -> None:
        fake = self.server.fake
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        fake.requests.append(body)
        fake.paths.append(self.path)
        fake.headers.append(dict(self.headers))
        fake.answer(self, body)

    def results(self, rows: Rows) -> None:
        """Send results in the server's format."""
        self.send(200, rows if self.server.fake.style == "tei" else {"id": "fake-1", "results": rows})

    def hang(self) -> None:
        """Don't respond until the server stops."""
        self.server.fake.stopping.wait()

    def send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """Send bytes, or anything as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | (headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def ranked(query: str, texts: list[str], key: str) -> Rows:
    """Return the results as servers send them: best first."""
    asked = _words(query)
    scores = [round(len(asked & _words(text)) / (len(asked) or 1), 4) for text in texts]
    rows = [{"index": index, key: score} for index, score in enumerate(scores)]
    return sorted(rows, key=lambda row: -row[key])


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9-]{3,}|[一-鿿]", text.lower()))


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A fake rerank endpoint.")
    parser.add_argument("--port", type=int, default=8002)
    parser.add_argument("--style", choices=sorted(PATHS), default="jina")
    options = parser.parse_args()
    with FakeReranker(options.style, options.port) as server:
        print(f"RERANK_BASE_URL={server.root_url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("Stopped.")


if __name__ == "__main__":
    main()

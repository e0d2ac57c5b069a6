"""A local model hub with huggingface.co's API for repositories and files, with good or bad responses."""

import hashlib
import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

REVISION = "0123456789abcdef0123456789abcdef01234567"


class FakeHub:
    """The server; a context manager.

    `asked` are the requested paths, each with its Range header; `tokens` the tokens sent with them.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.asked: list[tuple[str, str]] = []
        self.tokens: list[str] = []
        # Bytes after which files that are larger break off, once for each entry; None sends all.
        self.break_after: list[int] = []
        self.damaged: set[str] = set()
        self.statuses: dict[str, int] = {}
        self.takes_ranges = True
        self.go_on = threading.Event()
        self.go_on.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.hub = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The URL for HF_ENDPOINT."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def serve(self, repository: str, folder: Path, **renamed: str) -> None:
        """Serve the files of a folder as a repository; `renamed` ones under other names (dots as `__`)."""
        names = {old.replace("__", "."): new for old, new in renamed.items()}
        files = (path for path in folder.rglob("*") if path.is_file())
        self.repositories[repository] = {
            names.get(name := path.relative_to(folder).as_posix(), name): path.read_bytes() for path in files
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hub: FakeHub = self.server.hub  # type: ignore[attr-defined]
        path = urlsplit(self.path).path
        hub.asked.append((path, self.headers.get("Range", "")))
        hub.tokens.append(self.headers.get("Authorization", ""))
        if status := hub.statuses.get(path.rpartition("/")[2]):
            self._send(status, b"{}")
            return
        for repository, files in hub.repositories.items():
            if path == f"/api/models/{repository}":
                self._send(200, json.dumps(_description(repository, files)).encode())
                return
            prefix = f"/{repository}/resolve/{REVISION}/"
            if path.startswith(prefix) and (name := path.removeprefix(prefix)) in files:
                self._send_file(hub, name, files[name])
                return
        self._send(404, b"{}")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send_file(self, hub: FakeHub, name: str, content: bytes) -> None:
        if name in hub.damaged:
            content = bytes([content[0] ^ 1]) + content[1:]
        asked = self.headers.get("Range", "").removeprefix("bytes=").rstrip("-")
        start = int(asked) if asked and hub.takes_ranges else 0
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        rest = content[start:]
        if hub.break_after and len(rest) > hub.break_after[0]:
            self.wfile.write(rest[: hub.break_after.pop(0)])
            self.wfile.flush()
            self.close_connection = True
            return
        with suppress(ConnectionError):  # the client may have closed the connection
            self.wfile.write(rest[: len(rest) // 2])
            self.wfile.flush()
            hub.go_on.wait(60)
            self.wfile.write(rest[len(rest) // 2 :])

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


def _description(repository: str, files: dict[str, bytes]) -> dict[str, Any]:
    """Return the hub's description of a repository: SHA-256 for large files, git's hash for others."""
    siblings = []
    for name, content in files.items():
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
        each: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": blob}
        if name.endswith((".onnx", ".onnx_data")):
            each["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
        siblings.append(each)
    return {"id": repository, "sha": REVISION, "siblings": siblings}

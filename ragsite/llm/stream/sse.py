"""Server-sent events, decoded as the bytes arrive (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

import re
from dataclasses import dataclass

from ragsite.llm.errors import BadReply

MAX_FRAME_BYTES = 8 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Frame:
    """One event: its name (empty when the server gives none) and its data lines, joined by line feeds."""

    data: str
    event: str = ""


class SSEDecoder:
    """Bytes in, frames out, wherever the bytes are cut.

    Lines are decoded when they are whole, so that a character cut in half by the network comes out whole.
    Comments (heartbeats), ids and retry times are passed over. A frame above `limit` bytes raises `BadReply`.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._scanned = 0
        self._skip_line_feed = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the frames that end within this chunk."""
        if self._skip_line_feed and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_line_feed = False
        self._buffer += chunk
        frames: list[Frame] = []
        start = 0
        if self._buffer.find(b"\r", self._scanned) < 0:  # as from nearly every server: cut all lines at once
            start = self._buffer.rfind(b"\n", self._scanned) + 1
            for line in bytes(self._buffer[:start]).split(b"\n")[:-1]:
                frames += self._line(line)
            self._scanned = len(self._buffer)
        while match := _LINE_END.search(self._buffer, max(start, self._scanned)):
            # A carriage return at the very end may be the first half of a pair.
            self._skip_line_feed = match.end() == len(self._buffer) and match.group() == b"\r"
            frames += self._line(bytes(self._buffer[start : match.start()]))
            start = match.end()
        del self._buffer[:start]
        self._scanned = len(self._buffer)
        self._check_size()
        return frames

    def close(self) -> list[Frame]:
        """Return what the stream's end completes: many servers leave out the last empty line."""
        frames = self._line(bytes(self._buffer)) if self._buffer else []
        self._buffer.clear()
        self._scanned = 0
        return frames + self._dispatch()

    def _line(self, line: bytes) -> list[Frame]:
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode(errors="replace")
        if name == b"data":
            self._data.append(text)
            self._size += len(value)
            self._check_size()
        elif name == b"event":
            self._event = text
        return []

    def _dispatch(self) -> list[Frame]:
        frames = [Frame("\n".join(self._data), self._event)] if self._data else []
        self._data = []
        self._event = ""
        self._size = 0
        return frames

    def _check_size(self) -> None:
        if self._size + len(self._buffer) > self._limit:
            raise BadReply(f"A single event of more than {self._limit} bytes.")

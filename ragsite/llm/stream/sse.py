"""Server-sent events, decoded as the bytes arrive (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

import re

from ragsite.llm.errors import BadReply

MAX_FRAME_BYTES = 8 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"


class SSEDecoder:
    """Decodes chunks of bytes, split anywhere, to frames: the data lines of an event, joined by line feeds.

    Only complete lines are decoded, so that characters split by the network stay intact. Comments (heartbeats), names,
    IDs and retry times are ignored. A frame above `limit` bytes raises `BadReply`.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._scanned = 0
        self._skip_line_feed = False
        self._at_start = True
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[str]:
        """Return the frames that end within this chunk."""
        if self._skip_line_feed and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_line_feed = False
        self._buffer += chunk
        frames: list[str] = []
        start = 0
        if self._buffer.find(b"\r", self._scanned) < 0:  # as from nearly every server: split all lines at once
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

    def close(self) -> list[str]:
        """Return the frames completed by the end of the stream: many servers omit the last empty line."""
        frames = self._line(bytes(self._buffer)) if self._buffer else []
        self._buffer.clear()
        self._scanned = 0
        return frames + self._dispatch()

    def _line(self, line: bytes) -> list[str]:
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode(errors="replace"))
            self._size += len(value)
            self._check_size()
        return []

    def _dispatch(self) -> list[str]:
        frames = ["\n".join(self._data)] if self._data else []
        self._data = []
        self._size = 0
        return frames

    def _check_size(self) -> None:
        if self._size + len(self._buffer) > self._limit:
            raise BadReply(f"A single event of more than {self._limit} bytes.")

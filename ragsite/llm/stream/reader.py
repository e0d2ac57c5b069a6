"""Turn the bytes of a reply, a stream of events or a single JSON body, into pieces."""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing

from ragsite.llm.connection import Incoming
from ragsite.llm.errors import BadReply, LLMError, StreamCut, TimedOut, TooLong
from ragsite.llm.stream.replies import ReplyParser
from ragsite.llm.stream.sse import MAX_FRAME_BYTES, SSEDecoder
from ragsite.llm.types import Piece, TextPiece, ThinkPiece

# Seconds to wait for usage and the end of the stream after the finish reason.
AFTER_FINISH = 5.0
# Seconds to wait for the end of a body after its `[DONE]`, so that the connection can be reused.
AFTER_DONE = 0.1
# The most characters of an answer and of its thinking. Rendering and storing more would delay everyone else's answers.
MAX_TEXT = 200_000
MAX_THINKING = 400_000
_BLANK = b" \t\r\n\xef\xbb\xbf"


async def read_pieces(incoming: Incoming, parser: ReplyParser, pace: float = 0.0) -> AsyncGenerator[Piece]:
    """Yield the pieces of a reply as they arrive, joining adjacent ones of the same kind; usage and finish come last.

    After the first piece, the socket is read every `pace` seconds until the model has finished.

    Raises, after everything received, `StreamCut` if the reply ends before the answer, `TooLong`, `BadReply`,
    `TimedOut` after a silence, and errors that the reply itself reports.
    """
    body = _Body(parser)
    measure = _Measure()
    try:
        async with aclosing(incoming.chunks()) as chunks:
            async for chunk in chunks:
                for piece in measure.of(_joined(body.feed(chunk))):
                    incoming.pace(pace)
                    yield piece
                if parser.ended:
                    incoming.pace(0.0)
                    incoming.hurry(AFTER_DONE if parser.done else AFTER_FINISH)
    except (StreamCut, TimedOut):
        # A failure after the model has finished doesn't matter.
        if not parser.ended:
            raise
    for piece in measure.of(body.close()):
        yield piece
    for piece in parser.finish():
        yield piece


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces, joining adjacent ones of text or thinking; an error is raised after the pieces before it."""
    kind: type[TextPiece | ThinkPiece] = TextPiece
    texts: list[str] = []
    try:
        for piece in pieces:
            if isinstance(piece, kind):
                texts.append(piece.text)
                continue
            if texts:
                yield kind("".join(texts))
                texts = []
            if isinstance(piece, TextPiece | ThinkPiece):
                kind, texts = type(piece), [piece.text]
            else:
                yield piece
    except LLMError:
        if texts:
            yield kind("".join(texts))
        raise
    if texts:
        yield kind("".join(texts))


class _Measure:
    """Limits the length of an answer and its thinking."""

    def __init__(self) -> None:
        self._left = {TextPiece: MAX_TEXT, ThinkPiece: MAX_THINKING}

    def of(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Yield the pieces, truncating the last one at the limit; raises `TooLong`."""
        for piece in pieces:
            if isinstance(piece, TextPiece | ThinkPiece):
                left = self._left[type(piece)]
                self._left[type(piece)] -= len(piece.text)
                if len(piece.text) > left:
                    yield type(piece)(piece.text[:left])
                    raise TooLong
            yield piece


class _Body:
    """Distinguishes events from a JSON body by the first character, since content types are unreliable."""

    def __init__(self, parser: ReplyParser) -> None:
        self._parser = parser
        self._decoder: SSEDecoder | None = None
        self._json = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        if self._parser.done:
            return
        if self._decoder is None:
            self._json += chunk
            if self._json[:1].strip(_BLANK) == b"":
                # Blanks keep the connection alive while the server thinks.
                self._json = self._json.lstrip(_BLANK)
            if bytes(self._json[:1]) in (b"", b"{", b"["):
                if len(self._json) > MAX_FRAME_BYTES:
                    raise BadReply(f"A reply of more than {MAX_FRAME_BYTES} bytes.")
                return
            self._decoder, chunk = SSEDecoder(), bytes(self._json)
            self._json.clear()
        for frame in self._decoder.feed(chunk):
            yield from self._parser.feed(frame)
            if self._parser.done:
                return

    def close(self) -> Iterator[Piece]:
        parser = self._parser
        if parser.done:
            return
        try:
            if self._decoder is None:
                yield from parser.feed_body(self._json.decode("utf-8-sig", errors="replace"))
            else:
                for frame in self._decoder.close():
                    yield from parser.feed(frame)
        except BadReply:
            # An incomplete frame at the end, after complete ones, means that the reply was cut off.
            if not parser.seen:
                raise
        if not parser.seen and (self._decoder or self._json):
            raise BadReply("No answer in the reply.")
        if not parser.ended:
            raise StreamCut

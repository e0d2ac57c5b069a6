"""Parse the replies of servers that speak the OpenAI protocol, in all its variants. Pure: no network."""

import json
from typing import Any

from ragsite.llm import http
from ragsite.llm.errors import BadReply, ProviderError
from ragsite.llm.stream.unicode_repair import TextMender
from ragsite.llm.types import Endpoint, FinishPiece, Piece, TextPiece, ThinkPiece, UsagePiece

_DONE = "[DONE]"


class ReplyParser:
    """Turns the frames of a stream, or the body of a reply, into pieces of text and thinking.

    `finish()` returns the last pieces; `ended` is whether the server has signalled the end, and `seen` whether anything
    in the format of an answer has arrived.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._usage: UsagePiece | None = None
        self._reason = ""
        self._text, self._thinking = TextMender(), TextMender()
        self.done = False
        self.seen = False

    @property
    def ended(self) -> bool:
        """Whether the answer is complete: a finish reason or the closing `[DONE]` has arrived."""
        return self.done or bool(self._reason)

    def feed(self, data: str) -> list[Piece]:
        """Return the pieces of a frame or body. Raises `LLMError` for an error object or invalid data."""
        pieces: list[Piece] = []
        for item in self._objects(data):
            if not isinstance(item, dict):
                raise BadReply("Not a JSON object.", where=http.host(self._endpoint))
            self.seen = self.seen or "choices" in item
            if item.get("error"):
                raise http.from_object(item["error"], self._endpoint)
            usage = item["usage"] if isinstance(item.get("usage"), dict) else {}
            counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
            if any(isinstance(count, int) for count in counts):
                self._usage = UsagePiece(*(count if isinstance(count, int) else 0 for count in counts))
            # The choice with index 0; the list may be missing, null or empty (usage, keep-alives).
            choices = item.get("choices")
            rows = [row for row in choices if isinstance(row, dict)] if isinstance(choices, list) else []
            choice: dict[str, Any] = next((row for row in rows if not row.get("index")), {})
            if choice.get("error"):
                raise http.from_object(choice["error"], self._endpoint)
            if choice.get("finish_reason") == "error":
                raise ProviderError(where=http.host(self._endpoint))
            self._reason = str(choice.get("finish_reason") or self._reason)
            message = choice.get("delta") or choice.get("message")
            if isinstance(message, dict):
                names = ("reasoning_content", "reasoning")
                thinking = next((text for name in names if (text := _text(message.get(name)))), "")
                came: list[TextPiece | ThinkPiece] = [ThinkPiece(thinking)] if thinking else []
                came += _pieces(message.get("content")) + _pieces(message.get("refusal"))
            else:
                came = _pieces(choice.get("text"))
            for piece in came:
                thinks = isinstance(piece, ThinkPiece)
                if whole := (self._thinking if thinks else self._text).feed(piece.text):
                    pieces.append(ThinkPiece(whole) if thinks else TextPiece(whole))
        return pieces

    def feed_body(self, text: str) -> list[Piece]:
        """Return the pieces of a complete JSON body, which may lack a finish reason."""
        pieces = self.feed(text)
        self.done = self.seen
        return pieces

    def finish(self) -> list[Piece]:
        """Return the last pieces: buffered text, usage if it was counted, and the finish reason."""
        pieces: list[Piece] = [TextPiece(rest)] if (rest := self._text.close()) else []
        if self._usage:
            pieces.append(self._usage)
        return [*pieces, FinishPiece(self._reason or "stop")]

    def _objects(self, data: str) -> list[Any]:
        text = data.strip()
        if text == _DONE:
            self.done = self.seen = True
            return []
        try:
            return [json.loads(text)] if text else []
        except (ValueError, RecursionError) as error:
            lines = [line for line in text.splitlines() if line.strip()]
            if len(lines) < 2:
                raise BadReply("Not JSON.", where=http.host(self._endpoint)) from error
            # Several objects without empty lines between them.
            return [item for line in lines for item in self._objects(line)]


def _pieces(content: Any) -> list[TextPiece | ThinkPiece]:
    """Return the pieces of a message's content, a string or a list of typed parts."""
    if not isinstance(content, list):
        text = _text(content)
        return [TextPiece(text)] if text else []
    pieces: list[TextPiece | ThinkPiece] = []
    for part in content:
        if isinstance(part, dict) and part.get("type") == "thinking" and (text := _text(part.get("thinking"))):
            pieces.append(ThinkPiece(text))
        elif text := _text(part):
            pieces.append(TextPiece(text))
    return pieces


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_text, value))
    return _text(value.get("text")) if isinstance(value, dict) else ""

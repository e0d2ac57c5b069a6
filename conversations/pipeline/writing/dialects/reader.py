"""Parses a model's answer in pieces, in either dialect or both, into its parts."""

import json
from typing import Any

from conversations.pipeline.writing.dialects.json_events import KINDS, EventSplitter
from conversations.pipeline.writing.dialects.markdown_text import MarkdownReader, plain_cell
from conversations.pipeline.writing.dialects.parts import CodeHead, CodeText, End, Image, Part, TableHead, TableRow

# The fields of an event, and the names that a model may use for its text.
_NAMES = ("t", "type", "id", "kind", "language", "alt", "url", "width", "height", "columns", "row", "rows", "text")
_TEXTS = ("text", "content", "body", "markdown")
# The fields that say which event it is, and of which block.
_FRAMING = ("t", "type", "id", "kind")
# The field that is specific to each kind of block.
_OWN = {"table": "columns", "image": "alt", "code": "language"}


class AnswerReader:
    """Takes pieces of text, cut anywhere, and returns parts. No text is lost.

    Events may be malformed: a block may lack its end, a delta its block, a kind may be unknown, and a table may get
    text. Ids are ignored, except to find the columns of a table that continues. Unknown attributes are ignored, both in
    a block's start, update or end and in blocks of an unknown kind; but if such a block has neither text nor rows, its
    attributes are all that it says, and become a code block with their JSON.
    """

    def __init__(self) -> None:
        self._splitter = EventSplitter()
        self._markdown = MarkdownReader()
        self._kind = "text"
        self._kind_is_known = True
        self._attributes: list[dict[str, Any]] = []  # those of each event of the open block, if its kind is unknown
        self._columns: dict[str, tuple[str, ...]] = {}
        self._image: Image | None = None

    def feed(self, text: str) -> list[Part]:
        """Take a piece and return the complete parts."""
        return [part for item in self._splitter.feed(text) for part in self._item(item)]

    def close(self) -> list[Part]:
        """Return what was held back, and end the open block."""
        parts = [part for item in self._splitter.close() for part in self._item(item)]
        return parts + self._end()

    def _item(self, item: str | dict[str, Any]) -> list[Part]:
        if isinstance(item, str):
            return self._text(item)
        match item.get("t") or item.get("type"):
            case "block_end":
                parts = self._content(item, _text_of(item)) + self._end()
                self._kind_is_known = True
                return parts
            case "block_update":
                return self._content(item, _text_of(item))
            case name:
                # An event with an unknown name begins a block if it has a kind.
                has_kind = item.get("kind") or item.get("columns") or item.get("alt")
                begins = name == "block_start" or (name != "delta" and has_kind)
                parts = self._start(item) if begins else []
                # An event without its kind's field may have it under a misspelt name.
                whole = begins and (not self._kind_is_known or _OWN.get(self._kind, "kind") in item)
                others = "" if whole else _other_text_of(item, self._kind_is_known)
                return parts + self._content(item, _text_of(item) or others)

    def _start(self, event: dict[str, Any]) -> list[Part]:
        parts = self._end()
        self._kind = _kind(event)
        self._kind_is_known = event.get("kind", self._kind) in KINDS
        if not self._kind_is_known:
            self._attributes = [{"kind": event["kind"]}]
        if self._kind == "table":
            columns = self._columns[str(event.get("id"))] = _row(event.get("columns"))
            parts.append(TableHead(columns))
        elif self._kind == "code":
            parts.append(CodeHead(_string(event.get("language"))))
        elif self._kind == "image":
            self._image = Image("", "")
        return parts

    def _content(self, event: dict[str, Any], text: str) -> list[Part]:
        """Return the parts for an event's contents, of which `text` is the text."""
        if text or _rows(event):
            self._attributes = []
        elif self._attributes and (given := {name: event[name] for name in event if name not in (*_FRAMING, *_TEXTS)}):
            self._attributes.append(given)
        if self._image is not None and {"alt", "url"} & event.keys():
            self._image = Image(
                _string(event.get("alt")) or self._image.alt, _string(event.get("url")) or self._image.url
            )
        parts: list[Part] = []
        for row in _rows(event):
            parts += self._row(_row(row), str(event.get("id")))
        return parts + (self._text(text) if text else [])

    def _row(self, cells: tuple[str, ...], block: str) -> list[Part]:
        if self._kind == "table":
            return [TableRow(cells)]
        parts = self._end()
        self._kind = "table"
        return [*parts, TableHead(self._columns.get(block, ())), TableRow(cells)]

    def _text(self, text: str) -> list[Part]:
        if self._kind == "code":
            return [CodeText(text)]
        if self._kind == "text":
            return self._markdown.feed(text)
        return self._end() + self._markdown.feed(text)

    def _end(self) -> list[Part]:
        """End the open block; what follows is text."""
        kind, self._kind = self._kind, "text"
        attributes, self._attributes = self._attributes, []
        if kind == "text":
            if len(attributes) < 2:
                return self._markdown.close()
            # As JSON: one object if their names differ, else one per line.
            merged = {name: value for given in attributes for name, value in given.items()}
            objects = [merged] if len(merged) == sum(map(len, attributes)) else attributes
            code = "\n".join(json.dumps(each, ensure_ascii=False) for each in objects) + "\n"
            return [*self._markdown.close(), CodeHead("json"), CodeText(code), End()]
        image, self._image = self._image, None
        return [image] if image is not None else [End()]


def _kind(event: dict[str, Any]) -> str:
    """Return the kind of block that begins: as named, else by its specific field, else text."""
    kind = event.get("kind")
    if kind in KINDS:
        return str(kind)
    return next((known for known, name in _OWN.items() if event.get(name)), "text")


def _text_of(event: dict[str, Any]) -> str:
    """Return the text of an event, under any of its names."""
    return " ".join(filter(None, (_string(event.get(name)) for name in _TEXTS)))


def _other_text_of(event: dict[str, Any], kind_is_known: bool) -> str:
    """Return the text of an event without text or rows from its unknown fields.

    In a block of unknown kind, that is only a string that is the event's only unknown field.
    """
    others = [] if _rows(event) else [value for name, value in event.items() if name not in _NAMES]
    if kind_is_known or (len(others) == 1 and isinstance(others[0], str)):
        return " ".join(filter(None, map(_string, others)))
    return ""


def _rows(event: dict[str, Any]) -> list[Any]:
    """Return the rows of an event: one under `row`, or several under `rows`."""
    if event.get("row") is not None:
        return [event["row"]]
    rows = event.get("rows")
    return rows if isinstance(rows, list) else []


def _row(value: Any) -> tuple[str, ...]:
    """Return the cells of a row: a list, an object of columns and values, or a single value."""
    if value is None:
        return ()
    cells = list(value.values()) if isinstance(value, dict) else value
    return tuple(plain_cell(_string(cell)) for cell in (cells if isinstance(cells, list) else [cells]))


def _string(value: Any) -> str:
    """Return a value as text; None becomes an empty string."""
    if isinstance(value, list):
        return " ".join(filter(None, map(_string, value)))
    if isinstance(value, dict):
        return _text_of(value) or json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)

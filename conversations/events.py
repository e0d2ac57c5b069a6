"""The event stream of an answer: ten kinds of event, and the fold from events to what is stored.

Each event carries `seq`, counted 1, 2, 3 … per assistant message. `to_dict` and `from_dict` are exact
inverses. `fold` is pure: folding the events of a message gives exactly what is stored, and it is the one
implementation that saving, replay and rendering use.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self

StepStatus = Literal["processing", "completed", "skipped", "error"]
BlockKind = Literal["text", "table", "image", "code"]
FinalStatus = Literal["completed", "stopped", "failed", "interrupted"]

# Seconds between two text deltas of a block: at most 20 a second. The first is never held back.
DELTA_INTERVAL = 0.05

# The grammar of the citation markers in an answer's text, in parts of patterns: a number, several in one marker with
# what separates them, and brackets. An answer keeps the first two kinds of these; the third is rewritten on the way.
NUMBER = r"\d{1,3}"
SEPARATOR = "[,，、;；]"
NUMBERS = rf"{NUMBER}(?:\s*{SEPARATOR}\s*{NUMBER})*"
BRACKETS = (r"\[", r"\]"), ("【", "】"), ("［", "］")


def in_brackets(numbers: str) -> tuple[str, ...]:
    """Return a pattern of numbers within each kind of brackets: `[…]`, `【…】`, `［…］`."""
    return tuple(f"{opening}{numbers}{closing}" for opening, closing in BRACKETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events share. `seq` is 0 until the event enters a stream."""

    type: ClassVar[str]
    seq: int = 0

    @classmethod
    @cache
    def names(cls) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(item.name for item in fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON-safe data, its kind under `type`; fields that are None are left out."""
        values = ((name, getattr(self, name)) for name in type(self).names())
        return {"type": self.type} | {name: value for name, value in values if value is not None}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Event":
        """Rebuild the event that `to_dict` gave; unknown fields are ignored, an unknown kind raises `ValueError`."""
        kind = KINDS.get(str(data.get("type")))
        if kind is None:
            raise ValueError(f"Unknown kind of event: {data.get('type')!r}")
        known = kind.names()
        return kind(**{name: value for name, value in data.items() if name in known})

    def numbered(self, seq: int) -> Self:
        """Return the event with its place in the stream."""
        return replace(self, seq=seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent(Event):
    """First, always: the ids of everything that follows."""

    type: ClassVar[str] = "session"
    session_id: int
    turn_id: int
    request_id: str
    user_message_id: int
    assistant_message_id: int
    parent_turn_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvent(Event):
    """A node starts or ends. `step` is its number in step frames (0–9), `key` a stable slug."""

    type: ClassVar[str] = "step"
    step: int
    key: str
    step_name: str
    status: StepStatus
    message: str = ""
    ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkEvent(Event):
    """Thinking text, apart from the answer."""

    type: ClassVar[str] = "think"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStart(Event):
    """A block opens; its id is unique within the message."""

    type: ClassVar[str] = "block_start"
    id: str
    kind: BlockKind
    columns: list[str] | None = None
    alt: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta(Event):
    """Content of an open block: text, or one table row."""

    type: ClassVar[str] = "delta"
    id: str
    text: str | None = None
    row: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockUpdate(Event):
    """A picture becomes known; sizes in pixels."""

    type: ClassVar[str] = "block_update"
    id: str
    url: str
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEnd(Event):
    """A block closes."""

    type: ClassVar[str] = "block_end"
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesEvent(Event):
    """The numbered passages, before the text that cites them.

    Each citation is `{"index", "document_id", "chunk_id", "merged", "filename", "title", "heading", "page", "snippet",
    "reason", "score", "sources"}`; `title` is what the document is called, `merged` are the chunk ids of joined
    passages, `reason` is why the relevance filter kept it, empty where it did not judge.
    `answer_state` is sent before the text (`answered`, `nearest`, `nothing`); with `nothing` there are no
    citations.
    """

    type: ClassVar[str] = "sources"
    citations: list[dict[str, Any]]
    answer_state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(Event):
    """What went wrong, in words for a person; `done` follows."""

    type: ClassVar[str] = "error"
    code: str
    message: str
    retryable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneEvent(Event):
    """Last, always. `usage` holds `prompt_tokens` and `completion_tokens`; `ms` is the whole turn.

    `finish_reason` is why the model ended before its answer was whole: `length` or `content_filter`; else None.

    `answer_state` is `answered`, `nearest` or `nothing`; None for small talk, clarifying questions, and what never got
    so far. `checks` has the verdict on each sentence that carries markers, and on those that should; see
    `citations.verdict.Verdict.to_dict`.
    """

    type: ClassVar[str] = "done"
    status: FinalStatus
    answer_state: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    ms: int = 0
    checks: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as other events; `answer_state` is there also where it is None, which says something."""
        return Event.to_dict(self) | {"answer_state": self.answer_state}


KINDS: dict[str, type[Event]] = {
    kind.type: kind
    for kind in (
        SessionEvent, StepEvent, ThinkEvent, BlockStart, Delta, BlockUpdate, BlockEnd, SourcesEvent, ErrorEvent,
        DoneEvent,
    )
}  # fmt: skip


@dataclass(slots=True)
class Answer:
    """What the events of a message fold to: exactly what is stored.

    `blocks` is a list of `{"id", "kind"}` with `text` (text, code), `columns` and `rows` (table), `alt`, `url`,
    `width`, `height` (image), `language` (code); `open` holds the ids of blocks that have not ended. `answer_state` and
    `finish_reason` are empty where none was told.
    """

    last_seq: int = 0
    blocks: list[dict[str, Any]] = field(default_factory=list)
    open: set[str] = field(default_factory=set)
    thinking: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    session: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    status: str = "streaming"
    answer_state: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    ms: int | None = None
    checks: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str = ""

    def apply(self, event: Event) -> None:
        """Take one event; those at or below `last_seq` (already applied) change nothing."""
        if event.seq and event.seq <= self.last_seq:
            return
        self.last_seq = max(self.last_seq, event.seq)
        match event:
            case BlockStart():
                begun: dict[str, Any] = {"id": event.id, "kind": event.kind}
                match event.kind:
                    case "table":
                        begun |= {"columns": list(event.columns or []), "rows": []}
                    case "image":
                        begun |= {"alt": event.alt or "", "url": "", "width": None, "height": None}
                    case "code":
                        begun |= {"language": event.language or "", "text": ""}
                    case _:
                        begun |= {"text": ""}
                self.blocks.append(begun)
                self.open.add(event.id)
            case Delta():
                begun = self.block(event.id) or {}
                if event.row is not None and "rows" in begun:
                    begun["rows"].append(list(event.row))
                if event.text is not None and "text" in begun:
                    begun["text"] += event.text
            case BlockUpdate():
                if (block := self.block(event.id)) is not None:
                    block |= {"url": event.url, "width": event.width, "height": event.height}
            case BlockEnd():
                self.open.discard(event.id)
            case ThinkEvent():
                self.thinking += event.text
            case SourcesEvent():
                self.citations = event.citations
                self.answer_state = event.answer_state or self.answer_state
            case StepEvent():
                self.steps[event.key] = event.to_dict()
            case SessionEvent():
                self.session = event.to_dict()
            case ErrorEvent():
                self.error = event.to_dict()
            case DoneEvent():
                self.status, self.usage, self.ms, self.checks = event.status, event.usage, event.ms, event.checks
                self.answer_state = event.answer_state or self.answer_state
                self.finish_reason = event.finish_reason or ""
                self.open.clear()

    def block(self, block_id: str) -> dict[str, Any] | None:
        """Return the block with the id; the last ones are looked at first, since they are what grows."""
        return next((block for block in reversed(self.blocks) if block["id"] == block_id), None)


def fold(events: Iterable[Event | dict[str, Any]]) -> Answer:
    """Fold events, or their dictionaries, into the answer that they make."""
    answer = Answer()
    for event in events:
        answer.apply(event if isinstance(event, Event) else Event.from_dict(event))
    return answer


def plain_text(blocks: list[dict[str, Any]]) -> str:
    """Return the blocks as the plain text that is stored, searched and given to models as history.

    Tables and pictures are what Markdown has for them, so that a reader tells a header from a row.
    """
    parts = []
    for block in blocks:
        match block["kind"]:
            case "table":
                header = [block["columns"], ["---"] * len(block["columns"])] if block["columns"] else []
                parts.append("\n".join(" | ".join(map(str, line)) for line in [*header, *block["rows"]]))
            case "image" if block["url"]:
                parts.append(f"![{block['alt']}]({block['url']})")
            case "image":
                parts.append(f"[{block['alt']}]" if block["alt"] else "")
            case "code":
                parts.append(f"```{block['language']}\n{block['text'].rstrip()}\n```")
            case _:
                parts.append(str(block["text"]).strip())
    return "\n\n".join(filter(None, parts))

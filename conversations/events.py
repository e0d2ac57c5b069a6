"""The event stream of an answer: ten kinds of event, and the fold that turns them into the stored answer.

Each event has a `seq`, numbered 1, 2, 3 … within its assistant message. `to_dict` and `from_dict` are exact
inverses. `fold` is pure: folding the events of a message gives exactly the stored answer. Saving, replay and
rendering all use it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self, TypedDict

from conversations.blocks import OWN_ADDRESS, kind_of

StepStatus = Literal["processing", "completed", "skipped", "error"]
FinalStatus = Literal["completed", "stopped", "failed", "interrupted"]

# Seconds between two text deltas of a block: at most 20 per second. The first is never delayed.
DELTA_INTERVAL = 0.05

# The grammar of the citation markers in an answer's text, as parts of patterns: a number, several separated numbers in
# one marker, and the brackets. Answers keep the first two kinds of bracket; the third is rewritten as it arrives.
NUMBER = r"\d{1,3}"
SEPARATOR = "[,，、;；]"
NUMBERS = rf"{NUMBER}(?:\s*{SEPARATOR}\s*{NUMBER})*"
BRACKETS = (r"\[", r"\]"), ("【", "】"), ("［", "］")


class Choice(TypedDict):
    """A document that a question may mean: choosing it answers the question from it alone."""

    document_id: int
    name: str


def in_brackets(numbers: str) -> tuple[str, ...]:
    """Return a pattern of numbers for each kind of bracket: `[…]`, `【…】`, `［…］`."""
    return tuple(f"{opening}{numbers}{closing}" for opening, closing in BRACKETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base class of all events. `seq` is 0 until the event enters a stream."""

    type: ClassVar[str]
    seq: int = 0

    @classmethod
    @cache
    def names(cls) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(item.name for item in fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON-safe data, with its kind under `type` and without fields that are None."""
        values = ((name, getattr(self, name)) for name in type(self).names())
        return {"type": self.type} | {name: value for name, value in values if value is not None}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Event":
        """Rebuild an event from the output of `to_dict`.

        Unknown fields are ignored; an unknown kind raises `ValueError`.
        """
        kind = KINDS.get(str(data.get("type")))
        if kind is None:
            raise ValueError(f"Unknown kind of event: {data.get('type')!r}")
        known = kind.names()
        return kind(**{name: value for name, value in data.items() if name in known})

    def numbered(self, seq: int) -> Self:
        """Return the event with its number in the stream."""
        return replace(self, seq=seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent(Event):
    """The first event of every stream: the ids of the turn and its messages."""

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
    """Thinking text, separate from the answer."""

    type: ClassVar[str] = "think"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStart(Event):
    """A block opens; its id is unique within the message. A block of choices has all of them from the start."""

    type: ClassVar[str] = "block_start"
    id: str
    kind: str  # one of `conversations.blocks.KINDS`
    columns: list[str] | None = None
    alt: str | None = None
    language: str | None = None
    choices: list[Choice] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta(Event):
    """Content of an open block: text, or one table row."""

    type: ClassVar[str] = "delta"
    id: str
    text: str | None = None
    row: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockUpdate(Event):
    """The URL and size, in pixels, of an image block's picture."""

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
    """The numbered passages, sent before the text that cites them.

    Each citation is `{"index", "document_id", "chunk_id", "merged", "filename", "title", "heading", "page", "snippet",
    "reason", "score", "sources"}`. `title` is the document's title, `merged` the chunk ids of joined passages, and
    `reason` why the relevance filter kept the passage, empty if the filter did not judge it. `answer_state` is
    `answered`, `nearest` or `nothing`; with `nothing` there are no citations.
    """

    type: ClassVar[str] = "sources"
    citations: list[dict[str, Any]]
    answer_state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(Event):
    """An error, described for people; `done` follows."""

    type: ClassVar[str] = "error"
    code: str
    message: str
    retryable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneEvent(Event):
    """The last event of every stream.

    `usage` contains `prompt_tokens` and `completion_tokens` if a model was called, and `by_kind`, the estimated number
    of tokens of the answer by kind of block. `ms` is the duration of the whole turn. `finish_reason` is why the model
    stopped before its answer was complete, `length` or `content_filter`, else None. `answer_state` is
    `answered`, `nearest` or `nothing`; None for small talk, clarifying questions, and turns that ended early or failed.
    `checks` has the verdict on each sentence that has citation markers or should have one; see
    `citations.verdict.Verdict.to_dict`.
    """

    type: ClassVar[str] = "done"
    status: FinalStatus
    answer_state: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    ms: int = 0
    checks: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the event as data. `answer_state` is included even if it is None, which has a meaning."""
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
    """The folded events of a message: exactly what is stored.

    `blocks` are those of `conversations.blocks`; `open` contains the ids of those that have not ended. `answer_state`
    and `finish_reason` are empty if no event has set them.
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
    usage: dict[str, Any] = field(default_factory=dict)
    ms: int | None = None
    checks: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str = ""

    def apply(self, event: Event) -> None:
        """Apply an event; those at or below `last_seq` have been applied already and are ignored."""
        if event.seq and event.seq <= self.last_seq:
            return
        self.last_seq = max(self.last_seq, event.seq)
        match event:
            case BlockStart():
                given = event.to_dict()
                begun = {"id": event.id, "kind": event.kind} | kind_of(given).begin(given)
                self.blocks.append(begun)
                self.open.add(event.id)
            case Delta():
                begun = self.block(event.id) or {}
                if event.row is not None and "rows" in begun:
                    begun["rows"].append(list(event.row))
                if event.text is not None and "text" in begun:
                    begun["text"] += event.text
            case BlockUpdate():
                # Only pictures of this site are kept; the page wouldn't load any other.
                if (block := self.block(event.id)) is not None and OWN_ADDRESS.match(event.url):
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
                self.answer_state = "" if event.status == "failed" else event.answer_state or self.answer_state
                self.finish_reason = event.finish_reason or ""
                self.open.clear()

    def block(self, block_id: str) -> dict[str, Any] | None:
        """Return the block with an id, or None. The search starts at the end, where blocks still grow."""
        return next((block for block in reversed(self.blocks) if block["id"] == block_id), None)


def fold(events: Iterable[Event | dict[str, Any]]) -> Answer:
    """Fold events, or their dictionaries, into an answer."""
    answer = Answer()
    for event in events:
        answer.apply(event if isinstance(event, Event) else Event.from_dict(event))
    return answer


def plain_text(blocks: list[dict[str, Any]]) -> str:
    """Return the blocks as the plain text that is stored, searched and sent to models as history.

    Tables and pictures are written as Markdown, so that a reader can tell a header from a row.
    """
    return "\n\n".join(filter(None, (kind_of(block).plain_text(block) for block in blocks)))

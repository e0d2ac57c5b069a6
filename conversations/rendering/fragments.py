"""Answers as HTML: the stored page, and the fragments with which a stream builds the same page.

Both use the same templates, and a page built by a finished stream equals `answer_html` of the stored message.
"""

import itertools
from collections.abc import Iterable

from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from conversations.blocks import kind_of
from conversations.events import (
    BlockEnd,
    BlockStart,
    BlockUpdate,
    Delta,
    DoneEvent,
    ErrorEvent,
    Event,
    SourcesEvent,
    StepEvent,
    ThinkEvent,
)
from conversations.rendering import markdown
from conversations.rendering.answer import AnswerPage
from conversations.rendering.text_frames import MARK, SEPARATOR, Records, Tail


def turn_html(page: AnswerPage) -> str:
    """Return the question and its answer."""
    return render_to_string("conversations/_turn.html", {"page": page})


def answer_html(page: AnswerPage) -> str:
    """Return the answer in its current state."""
    return render_to_string("conversations/_answer.html", {"page": page})


def toast_html(text: str, kind: str = "error") -> str:
    """Return a fragment that shows a message at the foot of the page."""
    toast = render_to_string("partials/toast.html", {"text": text, "kind": kind})
    return _oob("beforeend:#toasts", mark_safe(toast))


class Stream:
    """Convert the events of one answer into fragments, from any state of the page."""

    def __init__(self, page: AnswerPage) -> None:
        self.page = page
        self._open: dict[str, markdown.Incremental] = {}
        self._tails: dict[str, Tail] = {}
        self._records = Records()
        self._events = 0
        self._context = page.context()
        self._answer_state = page.answer_state
        for block in page.answer.blocks:
            if block["id"] in page.answer.open and kind_of(block).is_prose:
                self._text(block["id"]).feed(block["text"])

    def feed(self, event: Event) -> list[str]:
        """Process the next event and return the frames that update the page; each is a separate message."""
        if event.seq and event.seq <= self.page.answer.last_seq:
            return []
        still_open, before = set(self.page.answer.open), self.page.answer.last_seq
        self.page.answer.apply(event)
        self._events = self.page.answer.last_seq - before
        frames = self._frames(event, still_open)
        if not frames:
            return [_part(self.page, "mark")]
        if not frames[-1].startswith(MARK):  # which contains its own position
            frames[-1] += _part(self.page, "mark")
        return frames

    def _frames(self, event: Event, still_open: set[str]) -> list[str]:
        match event:
            case StepEvent(status="processing"):
                return [_part(self.page, "line")]
            case ThinkEvent():
                begins = self.page.answer.thinking == event.text
                return [_part(self.page, "thinking") if begins else self._appended("thinking", escape(event.text))]
            case SourcesEvent():
                self._context = self.page.context()
                self._answer_state = self.page.answer_state
                fragments = "".join(_part(self.page, part) for part in ("line", "state", "cards"))
                if not self.page.answer.blocks:
                    return [fragments]
                # Text written before its sources were known is rendered again.
                for block_id in list(self._open):
                    self._open[block_id] = markdown.Incremental(self._context)
                    block = self.page.answer.block(block_id)
                    self._open[block_id].feed(block["text"] if block else "")
                    self._tails.pop(block_id, None)
                return [fragments + _oob(f"innerHTML:#{self.page.id}-blocks", self.page.blocks_html())]
            case BlockStart():
                return [_oob(f"beforeend:#{self.page.id}-blocks", self._block(event.id))]
            case Delta() if event.id in still_open:
                block = self.page.answer.block(event.id)
                if block is None:
                    return []
                if (kind := kind_of(block)).is_prose:
                    if event.text is None:
                        return []
                    change = self._text(event.id).feed(event.text)
                    return [self._tail(event.id, change.finished + change.open, change.finished)]
                added = kind.added_html(event.text, event.row, self._context)
                if added is None:
                    return [_oob(f"outerHTML:#{self.page.id}-{event.id}", self._block(event.id))]
                return [self._appended(event.id, added)] if added else []
            case BlockUpdate():
                known = self.page.answer.block(event.id) is not None
                return [_oob(f"outerHTML:#{self.page.id}-{event.id}", self._block(event.id)) if known else ""]
            case BlockEnd() if event.id in still_open:
                return self._end(event.id)
            case ErrorEvent():
                return [_part(self.page, "foot")]
            case DoneEvent():
                frames = [frame for block_id in still_open for frame in self._end(block_id)]
                # The claims about each source are known now, and highlighted in its card.
                parts = "".join(_part(self.page, part) for part in ("line", "state", "cards", "foot"))
                if self.page.answer.checks or self.page.answer_state != self._answer_state:  # shown at each citation
                    blocks = self.page.blocks_html()
                    frames.append(self._records.record(f"{self.page.message_id}-blocks", blocks, 0, "*"))
                return [*frames, parts]
        return []

    def _text(self, block_id: str) -> markdown.Incremental:
        return self._open.setdefault(block_id, markdown.Incremental(self._context))

    def _block(self, block_id: str) -> SafeString:
        block = self.page.answer.block(block_id)
        assert block is not None
        return self.page.block_html(block, self._context)

    def _end(self, block_id: str) -> list[str]:
        text = self._open.pop(block_id, None)
        block = self.page.answer.block(block_id)
        if block is not None and kind_of(block).is_redrawn:
            return [_oob(f"outerHTML:#{self.page.id}-{block_id}", self._block(block_id))]
        if block is None or not kind_of(block).is_prose:
            return []
        return [self._tail(block_id, text.close() if text is not None else "", None)]

    def _appended(self, place: str, html: str) -> str:
        return self._records.record(f"{self.page.message_id}-{place}", html, self._events)

    def _tail(self, block_id: str, html: str, finished: str | None) -> str:
        tail = self._tails.setdefault(block_id, Tail(self._records))
        return tail.becomes(f"{self.page.message_id}-{block_id}", html, self._events, finished)


def messages(frames: Iterable[str]) -> list[str]:
    """Combine frames into few messages by joining adjacent text records, and adjacent HTML."""
    groups = itertools.groupby(frames, lambda frame: frame.startswith(MARK))
    return [(SEPARATOR if is_text else "").join(group) for is_text, group in groups]


def _oob(swap: str, html: SafeString | str) -> str:
    """Return a fragment that htmx swaps in as `swap` says (`style:#id`); only its content is used."""
    style, _colon, _target = swap.partition(":")
    if style == "outerHTML":
        # An outer swap uses the element itself, so that must have the attribute.
        first, space, rest = str(html).partition(" ")
        return f'{first} hx-swap-oob="true"{space}{rest}'
    return f'<div hx-swap-oob="{swap}">{html}</div>'


def _part(page: AnswerPage, name: str) -> str:
    """Return one named part of the answer's template as a fragment that replaces that part."""
    html = render_to_string(f"conversations/_answer.html#{name}", {"page": page}).strip()
    return _oob(f"outerHTML:#{page.id}-{name}", html)

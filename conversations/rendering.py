"""Answers as HTML: the stored page, and the fragments by which a stream builds the same page.

One set of templates makes both, and what a finished stream leaves in the page equals what `answer_html` gives for
the stored message.
"""

from collections.abc import Iterable

from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from conversations import markdown
from conversations.answer_page import AnswerPage
from conversations.block_html import row_html
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


def turn_html(page: AnswerPage) -> str:
    """Return the question and its answer."""
    return render_to_string("conversations/_turn.html", {"page": page})


def answer_html(page: AnswerPage) -> str:
    """Return the answer as it stands."""
    return render_to_string("conversations/_answer.html", {"page": page})


def toast_html(text: str, kind: str = "error") -> str:
    """Return a fragment that shows a message at the foot of the page."""
    toast = render_to_string("partials/toast.html", {"text": text, "kind": kind})
    return _oob("beforeend:#toasts", mark_safe(toast))


class Stream:
    """Turns the events of one answer into fragments, from wherever the page stands."""

    def __init__(self, page: AnswerPage) -> None:
        self.page = page
        self._open: dict[str, markdown.Incremental] = {}
        self._context = page.context()
        self._tone = page.tone
        for block in page.answer.blocks:
            if block["id"] in page.answer.open and block["kind"] == "text":
                self._text(block["id"]).feed(block["text"])

    def feed(self, event: Event) -> list[str]:
        """Take the next event and return the frames that bring the page to it; each is a message of its own."""
        if event.seq and event.seq <= self.page.answer.last_seq:
            return []
        still_open = set(self.page.answer.open)
        self.page.answer.apply(event)
        frames = self._frames(event, still_open)
        mark = _part(self.page, "mark")
        # Rows of a table can't share a message with other elements: a parser drops them outside of a table.
        if frames and not frames[-1].startswith("<tbody"):
            frames[-1] += mark
            return frames
        return [*frames, mark]

    def _frames(self, event: Event, still_open: set[str]) -> list[str]:
        match event:
            case StepEvent(status="processing"):
                return [_part(self.page, "line")]
            case ThinkEvent():
                return [self._think(event)]
            case SourcesEvent():
                return [self._sources()]
            case BlockStart():
                return [_oob(f"beforeend:#{self.page.id}-blocks", self._block(event.id))]
            case Delta() if event.id in still_open:
                return self._delta(event)
            case BlockUpdate():
                return [self._replaced(event.id)]
            case BlockEnd() if event.id in still_open:
                return self._end(event.id)
            case ErrorEvent():
                return [_part(self.page, "foot")]
            case DoneEvent():
                return [*self._ends(still_open), self._done()]
        return []

    def _text(self, block_id: str) -> markdown.Incremental:
        return self._open.setdefault(block_id, markdown.Incremental(self._context))

    def _block(self, block_id: str) -> SafeString:
        block = self.page.answer.block(block_id)
        assert block is not None
        return self.page.block_html(block, self._context)

    def _replaced(self, block_id: str) -> str:
        if self.page.answer.block(block_id) is None:
            return ""
        return _oob(f"outerHTML:#{self.page.id}-{block_id}", self._block(block_id))

    def _think(self, event: ThinkEvent) -> str:
        if self.page.answer.thinking == event.text:
            return _part(self.page, "thinking")
        return _oob(f"beforeend:#{self.page.id}-thinking-text", escape(event.text))

    def _sources(self) -> str:
        """Show the new cards, and read again what was written before its sources were known."""
        self._context = self.page.context()
        self._tone = self.page.tone
        fragments = "".join(_part(self.page, part) for part in ("line", "tone", "cards"))
        if not self.page.answer.blocks:
            return fragments
        for block_id in list(self._open):
            self._open[block_id] = markdown.Incremental(self._context)
            block = self.page.answer.block(block_id)
            self._open[block_id].feed(block["text"] if block else "")
        return fragments + _oob(f"innerHTML:#{self.page.id}-blocks", self.page.blocks_html())

    def _delta(self, event: Delta) -> list[str]:
        block = self.page.answer.block(event.id)
        if block is None:
            return []
        name = f"{self.page.id}-{event.id}"
        match block["kind"]:
            case "table" if event.row is not None:
                row = row_html(event.row, self._context)
                return [_oob(f"beforeend:#{name}-rows", row, tag="tbody")]
            case "code" if event.text is not None:
                return [_oob(f"beforeend:#{name}-code", escape(event.text))]
            case "text" if event.text is not None:
                change = self._text(event.id).feed(event.text)
                before = _oob(f"beforebegin:#{name}-open", change.finished) if change.finished else ""
                return [before + _oob(f"innerHTML:#{name}-open", change.open)]
        return []

    def _end(self, block_id: str) -> list[str]:
        text = self._open.pop(block_id, None)
        block = self.page.answer.block(block_id)
        if block is None or block["kind"] != "text":
            return []
        name = f"{self.page.id}-{block_id}-open"
        last = text.close() if text is not None else mark_safe("")
        return [_oob(f"beforebegin:#{name}", last) + _oob(f"delete:#{name}", mark_safe(""))]

    def _ends(self, still_open: Iterable[str]) -> list[str]:
        return [frame for block_id in still_open for frame in self._end(block_id)]

    def _done(self) -> str:
        """Show how it ended, and at each citation what the check made of it."""
        parts = "".join(_part(self.page, part) for part in ("line", "tone", "foot"))
        if not self.page.answer.checks and self.page.tone == self._tone:
            return parts
        return _oob(f"innerHTML:#{self.page.id}-blocks", self.page.blocks_html()) + parts


def _oob(swap: str, html: SafeString | str, tag: str = "div") -> str:
    """Return a fragment that htmx puts where `swap` says (`style:#id`); all but its content is dropped."""
    style, _colon, _target = swap.partition(":")
    if style == "outerHTML":
        # An outer swap takes the element itself, so it must carry the attribute.
        first, space, rest = str(html).partition(" ")
        return f'{first} hx-swap-oob="true"{space}{rest}'
    return f'<{tag} hx-swap-oob="{swap}">{html}</{tag}>'


def _part(page: AnswerPage, name: str) -> str:
    """Return one named part of the answer's template as a fragment that replaces it."""
    html = render_to_string(f"conversations/_answer.html#{name}", {"page": page}).strip()
    return _oob(f"outerHTML:#{page.id}-{name}", html)

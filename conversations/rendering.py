"""Answers as HTML: the stored page, and the fragments by which a stream builds the same page.

One set of templates makes both, and what a finished stream leaves in the page equals what `answer_html` gives for
the stored message.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations import check_words, markdown
from conversations.block_html import block_html, row_html, texts
from conversations.events import (
    Answer,
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
    fold,
)
from conversations.models import Message
from conversations.progress import duration, progress
from conversations.queries import TurnView
from conversations.quoting import MODEL as QUOTING
from conversations.store import Started, citation_dict
from retrieval.snippets import marked


@dataclass(frozen=True, slots=True)
class Card:
    """A citation as the page shows it."""

    number: int
    filename: str
    heading: str
    page: int | None
    snippet: SafeString
    href: str
    chunk_id: int | None
    deleted: bool
    found_by: str


@dataclass
class AnswerPage:
    """An answer where it stands: its place in the session, and what its events have made of it so far."""

    session_id: int
    turn_id: int
    question_id: int
    message_id: int
    question: str
    answer: Answer
    model: str = ""
    siblings: Sequence[int] = ()
    position: int = 1
    feedback: int | None = None

    @classmethod
    def of(cls, view: TurnView, answer: Answer | None = None) -> "AnswerPage":
        """Return the page of a stored turn, or of the turn with an answer that has gone on since."""
        return cls(
            session_id=view.turn.session_id,
            turn_id=view.turn.pk,
            question_id=view.question.pk,
            message_id=view.answer.pk,
            question=view.question.content,
            answer=answer or stored_answer(view),
            model=view.turn.model,
            siblings=tuple(view.siblings),
            position=view.position,
            feedback=view.feedback,
        )

    @classmethod
    def begun(cls, started: Started, question: str) -> "AnswerPage":
        """Return the page of a turn of which nothing has come yet."""
        return cls(
            session_id=started.session_id,
            turn_id=started.turn_id,
            question_id=started.user_message_id,
            message_id=started.assistant_message_id,
            question=question,
            answer=Answer(),
            siblings=(started.turn_id,),
        )

    @property
    def id(self) -> str:
        """The answer's element id; those of its parts begin with it."""
        return f"answer-{self.message_id}"

    @property
    def streaming(self) -> bool:
        """Whether more is to come."""
        return self.answer.status == Message.Status.STREAMING

    @property
    def line(self) -> str:
        """What is being done, or how it ended, in one line."""
        return progress(self.answer) if self.streaming else _outcome(self)

    @property
    def cards(self) -> list[Card]:
        """Every source, by number."""
        return [_card(self, citation) for citation in self.answer.citations]

    @property
    def cited(self) -> list[Card]:
        """The sources that the text names."""
        numbers = self._cited_numbers
        return [card for card in self.cards if card.number in numbers]

    @property
    def also_read(self) -> list[Card]:
        """The sources that it doesn't."""
        numbers = self._cited_numbers
        return [card for card in self.cards if card.number not in numbers]

    @property
    def checked(self) -> str:
        """What the check of the citations found, in one line; of mere quotations only what is wrong."""
        return "" if self.model == QUOTING and not self.doubts else check_words.summary(self.answer.checks)

    @property
    def doubts(self) -> list[check_words.Doubt]:
        """The cited sentences that their sources don't fully bear out."""
        return check_words.doubts(self.answer.checks)

    @property
    def previous_sibling(self) -> int | None:
        """The turn before this one among its siblings."""
        return self.siblings[self.position - 2] if self.position > 1 else None

    @property
    def next_sibling(self) -> int | None:
        """The turn after this one among its siblings."""
        return self.siblings[self.position] if self.position < len(self.siblings) else None

    @property
    def _cited_numbers(self) -> set[int]:
        return {number for text in texts(self.answer.blocks) for number in markdown.cited_numbers(text)}

    def context(self) -> markdown.Context:
        """Return what Markdown needs to know of the answer's sources."""
        markers = {}
        verdicts = check_words.by_marker(self.answer.checks)
        for item in self.answer.citations:
            number = item["index"]
            label = _("Source %(number)s: %(file)s") % {"number": number, "file": item["filename"]}
            found = tuple((status, check_words.label(status)) for status in verdicts.get(number, ()))
            markers[number] = markdown.Marker(_citation_url(self, number), label, found)
        trusted = "\n".join([self.question, *(item["snippet"] for item in self.answer.citations)])
        return markdown.Context(markers, trusted)

    def blocks_html(self) -> SafeString:
        """Return all blocks as they stand."""
        context = self.context()
        return format_html_join("", "{}", ((self.block_html(block, context),) for block in self.answer.blocks))

    def block_html(self, block: dict[str, Any], context: markdown.Context) -> SafeString:
        """Return one block as it stands."""
        return block_html(f"{self.id}-{block['id']}", block, context, is_open=block["id"] in self.answer.open)


def stored_answer(view: TurnView) -> Answer:
    """Return a stored answer as the fold of its events."""
    message = view.answer
    if message.status == Message.Status.STREAMING:
        return fold(message.stream_log)
    error = {"code": message.error_code, "message": message.error_message} if message.error_code else None
    return Answer(
        last_seq=message.last_seq,
        blocks=message.blocks,
        thinking=message.thinking,
        citations=[citation_dict(citation) for citation in view.citations],
        error=error,
        status=message.status,
        usage=message.usage,
        ms=message.duration_ms,
        checks=message.checks,
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
        fragments = _part(self.page, "cards")
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
        parts = "".join(_part(self.page, part) for part in ("line", "foot"))
        if not self.page.answer.checks:
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


def _citation_url(page: AnswerPage, number: int) -> str:
    return reverse("citation", args=[page.message_id, number])


def _card(page: AnswerPage, item: dict[str, Any]) -> Card:
    return Card(
        number=item["index"],
        filename=item["filename"],
        heading=item["heading"] or "",
        page=item["page"],
        snippet=marked(item["snippet"], page.question),
        href=_citation_url(page, item["index"]),
        chunk_id=item["chunk_id"],
        deleted=item["document_id"] is None,
        found_by=_found_by(item["sources"]),
    )


def _found_by(sources: Iterable[dict[str, Any]]) -> str:
    kinds = {source["type"] for source in sources}
    if {"vector", "bm25"} <= kinds:
        return _("found by meaning and by words")
    return _("found by meaning") if "vector" in kinds else _("found by words") if kinds else ""


def _outcome(page: AnswerPage) -> str:
    status = page.answer.status
    cited = len(page.cited)
    if status == Message.Status.STOPPED:
        text = _("Stopped")
    elif status == Message.Status.FAILED:
        text = _("Broken off") if any(texts(page.answer.blocks)) else _("No answer")
    elif status == Message.Status.INTERRUPTED:
        text = _("Interrupted")
    elif cited and page.model == QUOTING:
        text = ngettext("Quoted from %(count)d passage", "Quoted from %(count)d passages", cited) % {"count": cited}
    elif cited:
        text = ngettext("Answered from %(count)d passage", "Answered from %(count)d passages", cited) % {"count": cited}
    else:
        text = _("Answered")
    return f"{text} · {duration(page.answer.ms)}" if page.answer.ms else text

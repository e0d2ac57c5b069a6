"""An answer as the page shows it: its place among its siblings, its status line and its sources."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.blocks import kind_of, texts
from conversations.citations import labels
from conversations.citations.statements import cited_statements
from conversations.citations.supporting_sentences import quoted_lines
from conversations.events import Answer, fold, plain_text
from conversations.models import Message
from conversations.pipeline import failures
from conversations.pipeline.writing.extractive_answer import MODEL as QUOTING
from conversations.prompts import truncation
from conversations.queries import TurnView
from conversations.rendering import markdown
from conversations.rendering.progress import duration, progress
from conversations.rendering.quotations import marked
from conversations.turn_store import Started, citation_dict
from knowledge.locations import place_in_line, places_in_line
from ragsite.language.sentences import join_sentences
from retrieval.types import AnswerState

_MARKS: dict[str, str] = {Message.Status.COMPLETED: "check", Message.Status.STOPPED: "circle-stop"}
_STATE_MARKS: dict[str, str] = {AnswerState.NEAREST: "equal-approximately", AnswerState.NOTHING: "search-x"}


@dataclass(frozen=True, slots=True)
class Card:
    """A citation as the page shows it."""

    number: int
    filename: str
    title: str
    heading: str
    page: int | None
    snippet: SafeString
    href: str
    chunk_id: int | None
    joined: tuple[int, ...]
    document_id: int | None
    found_by: str

    @property
    def deleted(self) -> bool:
        """Whether its document is gone."""
        return self.document_id is None

    @property
    def below(self) -> str:
        """The headings above the passage in its document, without the title."""
        first, _arrow, rest = self.heading.partition(" › ")
        return rest if first == self.title else self.heading

    @property
    def section(self) -> str:
        """The innermost of these headings, which distinguishes passages of a document without pages."""
        return self.below.rpartition(" › ")[2]

    @property
    def named(self) -> str:
        """The document and the place in it, on one line."""
        return " · ".join(
            filter(None, (self.title, place_in_line(self.filename, self.page, self.below) or self.section))
        )


@dataclass(frozen=True, slots=True)
class Chip:
    """The passages of one document, combined into one link below an answer."""

    cards: tuple[Card, ...]

    @property
    def first(self) -> Card:
        """The passage that the link opens."""
        return self.cards[0]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the passages."""
        return [card.number for card in self.cards]

    @property
    def where(self) -> str:
        """Their pages in the document, or their sections if there are no pages; may be empty."""
        places = places_in_line(self.first.filename, [(card.page, card.below) for card in self.cards])
        return places or _(", ").join(dict.fromkeys(card.section for card in self.cards if card.section))


@dataclass
class AnswerPage:
    """An answer, its place in the session and its state according to the events so far."""

    # Whether its reader can choose one of the documents that it offers.
    offers_choices: ClassVar[bool] = True

    session_id: int
    turn_id: int
    request_id: str
    question_id: int
    message_id: int
    question: str
    answer: Answer
    continues: bool = False
    model: str = ""
    action: str = ""
    siblings: Sequence[int] = ()
    position: int = 1
    feedback: int | None = None
    reason: str = ""
    comment: str = ""
    # Whether the reader can change the model, and is shown how to if it failed.
    for_staff: bool = False
    _made: tuple[list[dict[str, Any]], bool, list[Card]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    @classmethod
    def of(cls, view: TurnView, answer: Answer | None = None) -> Self:
        """Return the page of a stored turn, optionally with a newer state of its answer."""
        return cls(
            session_id=view.turn.session_id,
            turn_id=view.turn.pk,
            request_id=str(view.turn.request_id),
            question_id=view.question.pk,
            message_id=view.answer.pk,
            question=view.question.content,
            answer=answer or stored_answer(view),
            continues=view.turn.continues,
            model=view.turn.model,
            action=view.turn.action,
            siblings=tuple(view.siblings),
            position=view.position,
            feedback=view.feedback.value if view.feedback else None,
            reason=view.feedback.reason if view.feedback else "",
            comment=view.feedback.comment if view.feedback else "",
            for_staff=view.answer.status == Message.Status.FAILED and may_change_models(view.turn.session.owner),
        )

    @classmethod
    def begun(cls, started: Started, question: str) -> Self:
        """Return the page of a turn without any events yet."""
        return cls(
            session_id=started.session_id,
            turn_id=started.turn_id,
            request_id=started.request_id,
            question_id=started.user_message_id,
            message_id=started.assistant_message_id,
            question=question,
            answer=Answer(),
            siblings=(started.turn_id,),
        )

    @property
    def id(self) -> str:
        """The answer's element id, which is the prefix of its parts' ids."""
        return f"answer-{self.message_id}"

    @property
    def asked(self) -> str:
        """The text above the answer: the question, or a note that it continues the previous answer."""
        return _("Please continue.") if self.continues else self.question

    @property
    def streaming(self) -> bool:
        """Whether more is to come."""
        return self.answer.status == Message.Status.STREAMING

    @property
    def error(self) -> str:
        """The error message for the reader; empty if there was no error."""
        error = self.answer.error
        return failures.shown(error["code"], error["message"], for_staff=self.for_staff) if error else ""

    @property
    def says_something(self) -> bool:
        """Whether the answer has any content, so that it can be rated."""
        return bool(plain_text(self.answer.blocks))

    @property
    def can_continue(self) -> bool:
        """Whether the answer was cut off after it had begun, see `Message.can_continue`."""
        status, failed = self.answer.status, Message.Status.FAILED
        cut = status in (Message.Status.STOPPED, Message.Status.INTERRUPTED, failed)
        if status == failed and self.model == QUOTING:
            return False
        return self.says_something and (cut or self.answer.finish_reason == "length")

    @property
    def line(self) -> str:
        """The current step or the outcome, on one line."""
        if self.streaming:
            doing = progress(self.answer)
            nothing = self.answer_state == AnswerState.NOTHING
            return " · ".join((_("Nothing found on this"), doing)) if nothing else doing
        status, cited = self.answer.status, self.cited_count
        if status == Message.Status.STOPPED:
            text = _("Stopped")
        elif status == Message.Status.FAILED:
            text = _("Broken off") if any(texts(self.answer.blocks)) else _("No answer")
        elif status == Message.Status.INTERRUPTED:
            text = _("Interrupted")
        elif self.answer_state == AnswerState.NEAREST:
            read = len(self.answer.citations)
            words = ngettext("%(count)d passage read", "%(count)d passages read", read) % {"count": read}
            return " · ".join((_("Nothing answers this directly"), words))
        elif self.answer_state == AnswerState.NOTHING:
            return _("Nothing found on this")
        elif self.asks_back:
            text = _("A question back")
        elif self.unfounded:
            text = _("Answered without a source")
        elif cited and self.model == QUOTING:
            words = ngettext("Quoted from %(count)d passage", "Quoted from %(count)d passages", cited)
            text = words % {"count": cited}
        elif cited:
            words = ngettext("Answered from %(count)d passage", "Answered from %(count)d passages", cited)
            text = words % {"count": cited}
        else:
            text = _("Answered")
        return f"{text} · {duration(self.answer.ms)}" if self.answer.ms else text

    @property
    def mark(self) -> str:
        """The icon beside the line once it has ended."""
        if self.answer.status == Message.Status.COMPLETED and self.asks_back:
            return "message-circle-question-mark"
        if self.answer.status == Message.Status.COMPLETED and (self.answer_state in _STATE_MARKS or self.unfounded):
            return _STATE_MARKS.get(self.answer_state, "info")
        return _MARKS.get(self.answer.status, "triangle-alert")

    @property
    def answer_state(self) -> str:
        """The answer's state; may be empty. For quoting answers older than states, it depends on their citations."""
        if self.answer.answer_state or not self.unfounded or self.model != QUOTING:
            return self.answer.answer_state
        return AnswerState.NEAREST if self.answer.citations else AnswerState.NOTHING

    @property
    def shows_closest(self) -> bool:
        """Whether the answer is a list of the closest passages; a model writes prose about them instead."""
        return self.answer_state == AnswerState.NEAREST and not self.streaming and self.model == QUOTING

    @property
    def asks_back(self) -> bool:
        """Whether the answer is a question, such as which of several documents is meant."""
        return self.action == "clarify" or any(block["kind"] == "choices" for block in self.answer.blocks)

    @property
    def unfounded(self) -> bool:
        """Whether documents were searched, but the answer cites none of them."""
        if self.answer.status != Message.Status.COMPLETED or self.action != "retrieve_vector":
            return False
        return self.cited_count == 0

    @property
    def cards(self) -> list[Card]:
        """All sources by number, with cited words highlighted once the answer is complete.

        They are cached because they arrive together and are shown in several places.
        """
        if self._made is not None and self._made[0] is self.answer.citations and self._made[1] == self.streaming:
            return self._made[2]
        cards = []
        for item in self.answer.citations:
            kinds = {source["type"] for source in item["sources"]}
            if {"vector", "bm25"} <= kinds:
                found_by = _("found by meaning and by words")
            else:
                found_by = _("found by words") if kinds else ""
                if "vector" in kinds:
                    found_by = _("found by meaning")
            cards.append(
                Card(
                    number=item["index"],
                    filename=item["filename"],
                    title=_title(item),
                    heading=item["heading"] or "",
                    page=item["page"],
                    snippet=marked(item["snippet"], [] if self.streaming else self.claims(item["index"])),
                    href=self.citation_url(item["index"]),
                    chunk_id=item["chunk_id"],
                    joined=tuple(item.get("merged", ())),
                    document_id=item["document_id"],
                    found_by=found_by,
                )
            )
        self._made = self.answer.citations, self.streaming, cards
        return cards

    @property
    def cited(self) -> list[Card]:
        """The cited sources, grouped by document."""
        return [card for chip in self.cited_chips for card in chip.cards]

    @property
    def cited_chips(self) -> list[Chip]:
        """The cited sources, one chip per document."""
        numbers = self._cited_numbers
        return _by_document(card for card in self.cards if card.number in numbers)

    @property
    def cited_count(self) -> int:
        """The number of cited sources."""
        return len(self._cited_numbers & {citation["index"] for citation in self.answer.citations})

    @property
    def also_read(self) -> list[Card]:
        """The sources that aren't cited, grouped by document."""
        return [card for chip in self.also_read_chips for card in chip.cards]

    @property
    def also_read_chips(self) -> list[Chip]:
        """The sources that aren't cited, one chip per document."""
        numbers = self._cited_numbers
        return _by_document(card for card in self.cards if card.number not in numbers)

    @property
    def checked(self) -> str:
        """The result of the citation check, on one line; for quoted answers, only problems."""
        return "" if self.model == QUOTING and not self.doubts else labels.summary(self.answer.checks)

    @property
    def left_out(self) -> str:
        """A description of what did not fit into the prompt; empty if everything did."""
        return truncation.sentence(self.answer.usage)

    @property
    def removed(self) -> str:
        """A description of what was removed from the model's answer; empty if nothing was."""
        citations = int(self.answer.usage.get("citations_removed", 0))
        pictures = int(self.answer.usage.get("pictures_removed", 0))
        parts = [
            ngettext(
                "%(count)d citation of a source that doesn't exist was removed.",
                "%(count)d citations of sources that don't exist were removed.",
                citations,
            )
            % {"count": citations}
            if citations
            else "",
            ngettext(
                "%(count)d picture from elsewhere isn't shown.",
                "%(count)d pictures from elsewhere aren't shown.",
                pictures,
            )
            % {"count": pictures}
            if pictures
            else "",
        ]
        return join_sentences(*filter(None, parts)) if any(parts) else ""

    @property
    def doubts(self) -> list[labels.Doubt]:
        """The cited sentences that their sources don't fully support."""
        return labels.doubts(self.answer.checks)

    @property
    def previous_sibling(self) -> int | None:
        """The turn before this one among its siblings."""
        return self.siblings[self.position - 2] if self.position > 1 else None

    @property
    def next_sibling(self) -> int | None:
        """The turn after this one among its siblings."""
        return self.siblings[self.position] if self.position < len(self.siblings) else None

    @property
    def again_id(self) -> str:
        """The request id for regenerating, so that pressing the button twice asks once."""
        return self._derived_id(f"again {len(self.siblings)}")

    @property
    def continue_id(self) -> str:
        """The request id of the turn that continues an answer that was cut off."""
        return self._derived_id("continue")

    def claims(self, number: int) -> list[str]:
        """Return the claims about a source: the supported sentences that cite it, or everything that is quoted.

        If nothing was checked, such as in a stopped answer, they are all sentences that cite it.
        """
        if self.model == QUOTING:
            return quoted_lines(self.answer.blocks, number)
        if not self.answer.checks:
            sentences = (statement for text in texts(self.answer.blocks) for statement in cited_statements(text))
            return [claim.text for claim in sentences if number in claim.sources]
        checks = (item for item in self.answer.checks if item["status"] not in ("not_found", "contradicted"))
        return [item["text"] for item in checks if number in item["sources"]]

    def citation_url(self, number: int) -> str:
        """Return the URL of a source."""
        return reverse("citation", args=[self.message_id, number])

    def _derived_id(self, what: str) -> str:
        """Return an id that is stable between renderings and known only to those who see the turn."""
        return str(uuid.uuid5(uuid.UUID(self.request_id), what))

    @property
    def _cited_numbers(self) -> set[int]:
        return {number for text in texts(self.answer.blocks) for number in markdown.cited_numbers(text)}

    def context(self) -> markdown.Context:
        """Return the answer's sources for rendering Markdown."""
        markers = {}
        # Passages that may not answer the question are named by document next to their number.
        names = {card.number: card.named for card in self.cards} if self.answer_state == AnswerState.NEAREST else {}
        verdicts = labels.by_marker(self.answer.checks)
        for item in self.answer.citations:
            number = item["index"]
            label = _("Source %(number)s: %(file)s") % {"number": number, "file": _title(item)}
            verdict = tuple(verdicts.get(number, ()))
            markers[number] = markdown.Marker(self.citation_url(number), label, verdict, names.get(number, ""))
        trusted = "\n".join([self.question, *(item["snippet"] for item in self.answer.citations)])
        return markdown.Context(markers, trusted, labels.uncited(self.answer.checks))

    def blocks_html(self) -> SafeString:
        """Return all blocks in their current state."""
        context = self.context()
        return format_html_join("", "{}", ((self.block_html(block, context),) for block in self.answer.blocks))

    def block_html(self, block: dict[str, Any], context: markdown.Context) -> SafeString:
        """Return one block in its current state; documents to choose from are buttons."""
        if block["kind"] == "choices" and self.offers_choices:
            choices = [
                choice | {"request_id": self._derived_id(f"choose {choice['document_id']} {len(self.siblings)}")}
                for choice in block["choices"]
            ]
            offered = {"page": self, "name": f"{self.id}-{block['id']}", "choices": choices}
            return SafeString(render_to_string("conversations/_choices.html", offered))
        return kind_of(block).html(block, f"{self.id}-{block['id']}", context, is_open=block["id"] in self.answer.open)


def may_change_models(user: Any) -> bool:
    """Whether a user can change the site's models; queries their permissions."""
    return bool(user.is_staff) and bool(user.has_perm("conversations.change_modelprofile"))


def stored_answer(view: TurnView) -> Answer:
    """Return a stored answer in the form that results from its events."""
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
        answer_state=message.answer_state,
        usage=message.usage,
        ms=message.duration_ms,
        checks=message.checks,
        finish_reason=message.finish_reason,
    )


def _by_document(cards: Iterable[Card]) -> list[Chip]:
    """Group cards, given by number, by document, in the order of each document's first card."""
    groups: dict[tuple[int | None, str, str], list[Card]] = {}
    for card in cards:
        groups.setdefault((card.document_id, card.filename, card.title), []).append(card)
    return [Chip(tuple(group)) for group in groups.values()]


def _title(item: dict[str, Any]) -> str:
    return str(item.get("title") or item["filename"])

"""Queries for the list of sessions, for search, and for one branch of a session's turns as the page shows it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Min, OuterRef, Prefetch, Q, QuerySet, Window
from django.db.models.fields.tuple_lookups import Tuple, TupleLessThan
from django.db.models.functions import Lower
from django.utils.translation import gettext

from conversations import access, turn_store
from conversations.message_search import having_word
from conversations.models import ChatLabel, ChatSession, Citation, ContextEntry, Feedback, Message, Turn
from conversations.turn_tree import Stretch, TurnTree
from knowledge.queries import contains

T = TypeVar("T")

# The characters of a question by which a branch is named.
QUESTION_BEGINNING = 120


@dataclass(slots=True)
class TurnView:
    """A turn with everything that the page shows. `siblings` are turn ids, oldest first; `position` starts at 1."""

    turn: Turn
    question: Message
    answer: Message
    citations: list[Citation] = field(default_factory=list)
    siblings: list[int] = field(default_factory=list)
    position: int = 1
    feedback: Feedback | None = None

    @property
    def previous_sibling(self) -> int | None:
        """The sibling before this one, if any."""
        return self.siblings[self.position - 2] if self.position > 1 else None

    @property
    def next_sibling(self) -> int | None:
        """The sibling after this one, if any."""
        return self.siblings[self.position] if self.position < len(self.siblings) else None


@dataclass(frozen=True, slots=True)
class Place:
    """A session's place in the list, used as the cursor of its pages."""

    pinned: bool
    last_activity_at: datetime
    pk: int

    @classmethod
    def read(cls, text: str) -> "Place | None":
        """Return the place that a URL parameter encodes, or None if it is invalid."""
        try:
            pinned, at, pk = text.split("_")
            return cls(pinned == "1", datetime.fromtimestamp(int(at) / 1_000_000, UTC), int(pk[:18]))
        except (ValueError, OverflowError, OSError):
            return None

    @classmethod
    def of(cls, session: ChatSession) -> "Place":
        """Return the place of a session."""
        return cls(session.pinned, session.last_activity_at, session.pk)

    def __str__(self) -> str:
        since = self.last_activity_at - datetime.fromtimestamp(0, UTC)
        return f"{int(self.pinned)}_{since // timedelta(microseconds=1)}_{self.pk}"

    def following(self, sessions: QuerySet[ChatSession]) -> QuerySet[ChatSession]:
        """Return the sessions after this place."""
        own = Tuple(F("pinned"), F("last_activity_at"), F("pk"))
        return sessions.filter(TupleLessThan(own, (self.pinned, self.last_activity_at, self.pk)))


def session_list(user: Any, *, archived: bool | None = False, label_id: int | None = None) -> QuerySet[ChatSession]:
    """Return the user's sessions, pinned first, then by newest activity.

    `archived` chooses the archive or the list, None both. With `label_id`, return only sessions with that label.
    """
    found = access.sessions(user).order_by("-pinned", "-last_activity_at", "-id")
    if archived is not None:
        found = found.filter(archived=archived)
    return found.filter(labels__owner=user, labels=label_id) if label_id is not None else found


def split_words(words: str) -> list[str]:
    """Return the words of a search query, eight at most."""
    return words.replace("\x00", " ").split()[:8]


def search_sessions(
    user: Any, words: str, *, archived: bool | None = None, label_id: int | None = None
) -> QuerySet[ChatSession]:
    """Return the user's sessions whose title or messages contain every word; words match as prefixes.

    Answers that are still being written are not searched.
    """
    found = session_list(user, archived=archived, label_id=label_id)
    for word in split_words(words):
        messages = messages_saying(word).filter(turn__session__owner=user)
        found = found.filter(titled(word) | Q(pk__in=messages.values("turn__session_id")))
    return found


def titled(word: str) -> Q:
    """Return the condition for sessions whose title, as displayed to the reader, contains a word."""
    chosen = contains("title", word) & Q(title_is_automatic=False)
    word, untitled = word.casefold(), gettext("New chat").casefold()
    number = word.removeprefix(untitled)
    if word in untitled:
        return chosen | Q(title_is_automatic=True)
    return chosen | Q(title_is_automatic=True, title__endswith=number) if number.isdecimal() else chosen


def with_labels(sessions: QuerySet[ChatSession]) -> QuerySet[ChatSession]:
    """Annotate sessions with `label_names`, in alphabetical order."""
    labels = ChatLabel.objects.filter(sessions=OuterRef("pk")).order_by(Lower("name"))
    return sessions.annotate(label_names=ArraySubquery(labels.values("name")))


def messages_found(sessions: Iterable[ChatSession], words: Sequence[str]) -> dict[int, Message]:
    """Return, by session id, the newest message with all of the words, or else with the longest word that occurs."""
    found: dict[int, Message] = {}
    missing = {session.pk for session in sessions}
    for wanted in [list(words), *([word] for word in sorted(words, key=len, reverse=True) if len(words) > 1)]:
        if not missing:
            break
        matching = Message.objects.exclude(status=Message.Status.STREAMING).filter(turn__session_id__in=missing)
        for word in wanted:
            matching = having_word(matching, word, "content")
        newest = matching.order_by("turn__session_id", "-turn_id", "role").distinct("turn__session_id")
        for message in newest.select_related("turn").only("content", "turn__session_id"):
            found[message.turn.session_id] = message
        missing -= found.keys()
    return found


def messages_saying(word: str) -> QuerySet[Message]:
    """Return the messages that contain a word, also as a prefix, without answers that are still being written."""
    return having_word(Message.objects.exclude(status=Message.Status.STREAMING), word, "content")


def message_list(messages: QuerySet[Message]) -> QuerySet[Message]:
    """Return messages, oldest first, with the related rows that the API and exports need."""
    return (
        messages.select_related("turn")
        .prefetch_related(Prefetch("citations", by_document(Citation.objects.all())))
        .defer("stream_log", "turn__embedding")
        .order_by("turn__created_at", "turn_id", "id")
    )


def by_document(citations: QuerySet[Citation]) -> QuerySet[Citation]:
    """Return citations grouped by document.

    Documents are ordered by their first cited number, followed by documents that were only read; within a document,
    citations are ordered by number.
    """
    of_document = [F("message_id"), F("document_id"), F("filename"), F("title")]
    first_cited = Window(Min("index", filter=Q(cited=True)), partition_by=of_document)
    first = Window(Min("index"), partition_by=of_document)
    return citations.order_by("message_id", first_cited.asc(nulls_last=True), first, "index")


def system_prompt(session: ChatSession) -> str:
    """Return the system prompt of the session's first turn; empty before it.

    Later turns may have used another, if an administrator changed the prompt; their traces contain it.
    """
    kept = session.context_entries.filter(type=ContextEntry.Type.ROUTES).values_list("content", flat=True)
    return kept.first() or ""


def tree(session: ChatSession) -> TurnTree:
    """Return the turns of a session as a tree."""
    return TurnTree(session.turns.order_by("created_at", "id").values_list("id", "parent_turn_id"))


def transcript(session: ChatSession, through: int | None = None) -> list[TurnView]:
    """Return one branch of the session, oldest turn first, in at most five queries.

    The branch runs through the turn `through` to its newest descendant, by default to the newest turn.
    """
    turns = tree(session)
    return views(session, turns, turns.branch(through))


def turn_view(session: ChatSession, turn_id: int) -> TurnView | None:
    """Return one turn of the session as the page shows it, or None."""
    turns = tree(session)
    return next(iter(views(session, turns, [turn_id])), None) if turn_id in turns.parent else None


def views(
    session: ChatSession, turns: TurnTree, wanted: Sequence[int], outline: Sequence[Stretch] = ()
) -> list[TurnView]:
    """Return turns of the session as the page shows them, and mark answers whose process has died as interrupted.

    The parts of an outline of its branches get their questions, without a further query.
    """
    stretches = {stretch.first: stretch for root in outline for stretch in root.walk()}
    messages = _messages(wanted, stretches)
    if any(turn_store.is_stale(message) for pair in messages.values() for message in pair):
        turn_store.interrupt_stale(session_id=session.pk)
        messages = _messages(wanted, stretches)
    for turn_id, stretch in stretches.items():
        for message in messages[turn_id]:
            if message.role == Message.Role.USER:
                asked = gettext("Please continue.") if message.turn.continues else message.content
                stretch.question = " ".join(asked[:QUESTION_BEGINNING].split())
    citations = _grouped(Citation.objects.filter(message__turn_id__in=wanted).order_by("index"), "message_id")
    given = Feedback.objects.filter(message__turn_id__in=wanted, user_id=session.owner_id)
    feedback = {thumb.message_id: thumb for thumb in given}
    found = []
    for turn_id in wanted:
        by_role = {message.role: message for message in messages[turn_id]}
        question, answer = by_role.get(Message.Role.USER), by_role.get(Message.Role.ASSISTANT)
        if question is None or answer is None:
            continue
        siblings = turns.siblings(turn_id)
        place = siblings.index(turn_id) + 1
        sources = citations[answer.pk]
        answer.turn.session = session
        found.append(TurnView(answer.turn, question, answer, sources, siblings, place, feedback.get(answer.pk)))
    return found


def _messages(turn_ids: Sequence[int], asked: Collection[int]) -> defaultdict[int, list[Message]]:
    """Return the messages of turns, and the questions of others (`asked`), by turn."""
    found = Message.objects.filter(Q(turn_id__in=turn_ids) | Q(turn_id__in=asked, role=Message.Role.USER))
    found = found.select_related("turn")
    return _grouped(found.defer("stream_log", "turn__embedding"), "turn_id")


def _grouped(rows: Iterable[T], key: str) -> defaultdict[int, list[T]]:
    grouped: defaultdict[int, list[T]] = defaultdict(list)
    for row in rows:
        grouped[getattr(row, key)].append(row)
    return grouped

"""Reading sessions: the list, and one branch of a session's tree as the page shows it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from conversations import access, store
from conversations.models import ChatSession, Citation, Feedback, Message, Turn
from conversations.words import word_query, word_vector


@dataclass(slots=True)
class TurnView:
    """A turn with all that the page shows of it. `siblings` are turn ids, oldest first; `position` is from 1."""

    turn: Turn
    question: Message
    answer: Message
    citations: list[Citation] = field(default_factory=list)
    siblings: list[int] = field(default_factory=list)
    position: int = 1
    feedback: int | None = None

    @property
    def previous_sibling(self) -> int | None:
        """The sibling before this one, if any."""
        return self.siblings[self.position - 2] if self.position > 1 else None

    @property
    def next_sibling(self) -> int | None:
        """The sibling after this one, if any."""
        return self.siblings[self.position] if self.position < len(self.siblings) else None


def session_list(user: Any) -> QuerySet[ChatSession]:
    """Return the user's sessions, pinned first, then by newest activity."""
    return access.sessions(user).order_by("-pinned", "-last_activity_at", "-id")


def search_sessions(user: Any, words: str) -> QuerySet[ChatSession]:
    """Return the user's sessions whose title or messages contain every word, also one that is only begun."""
    found = session_list(user)
    for word in words.split()[:8]:
        named = Q(title__icontains=word)
        query = word_query(word)
        if query is not None:
            said = Message.objects.alias(words=word_vector("content")).filter(words=query)
            named |= Q(pk__in=said.filter(turn__session__owner=user).values("turn__session_id"))
        found = found.filter(named)
    return found


def transcript(session: ChatSession, leaf_turn_id: int | None = None) -> list[TurnView]:
    """Return one branch of the session, oldest turn first, in at most six queries.

    The branch leads through `leaf_turn_id` and on to its newest descendant; without it, to the newest turn.
    Answers whose generator died are marked interrupted on the way.
    """
    store.interrupt_stale(session_id=session.pk)
    tree = _Tree(session.turns.order_by("created_at", "id").values_list("id", "parent_turn_id"))
    path = tree.branch(leaf_turn_id)
    turns = Turn.objects.in_bulk(path)
    messages = _by_turn(Message.objects.filter(turn_id__in=path).defer("stream_log"), "turn_id")
    citations = _by_turn(
        Citation.objects.filter(message__turn_id__in=path).select_related("message").order_by("index"), "message_id"
    )
    feedback = dict(
        Feedback.objects.filter(message__turn_id__in=path, user_id=session.owner_id).values_list("message_id", "value")
    )
    views = []
    for turn_id in path:
        by_role = {message.role: message for message in messages[turn_id]}
        question, answer = by_role.get(Message.Role.USER), by_role.get(Message.Role.ASSISTANT)
        if question is None or answer is None:
            continue
        siblings = tree.siblings(turn_id)
        views.append(
            TurnView(
                turns[turn_id],
                question,
                answer,
                citations[answer.pk],
                siblings,
                siblings.index(turn_id) + 1,
                feedback.get(answer.pk),
            )
        )
    return views


def turn_view(session: ChatSession, turn_id: int) -> TurnView | None:
    """Return one turn of the session as the page shows it, or None."""
    return next((view for view in transcript(session, turn_id) if view.turn.pk == turn_id), None)


class _Tree:
    """The turns of a session as a tree, from (id, parent id) pairs in order of creation."""

    def __init__(self, pairs: Iterable[tuple[int, int | None]]) -> None:
        self.parent = dict(pairs)
        self.children: dict[int | None, list[int]] = defaultdict(list)
        for turn, parent in self.parent.items():
            self.children[parent].append(turn)

    def siblings(self, turn: int) -> list[int]:
        return self.children[self.parent[turn]]

    def branch(self, through: int | None) -> list[int]:
        """Return the path from the root through a turn to its newest descendant."""
        if not self.parent:
            return []
        leaf = through if through in self.parent else next(reversed(self.parent))
        while self.children.get(leaf):
            leaf = self.children[leaf][-1]
        path: list[int] = []
        turn: int | None = leaf
        while turn is not None:
            path.append(turn)
            turn = self.parent[turn]
        return path[::-1]


def _by_turn(rows: Iterable[Any], key: str) -> defaultdict[int, list[Any]]:
    grouped: defaultdict[int, list[Any]] = defaultdict(list)
    for row in rows:
        grouped[getattr(row, key)].append(row)
    return grouped

"""Unanswered questions, grouped by meaning; they show which documents are missing.

Two questions are the same if they contain the same numbers and codes, and either their vectors are similar (from the
same model, which covers their language) or they share most of their words. Starting with the oldest, each question
joins the group whose first question is most similar to it, or starts a new group. The same questions thus always form
the same groups, and the cost is bounded by the square of `LOOKED_AT`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import OuterRef, Subquery
from pgvector import HalfVector

from conversations.models import Message
from ragsite.language.analysis import terms
from ragsite.language.detection import language_of
from ragsite.llm.embedding.model_card import Calibration
from ragsite.llm.errors import LLMError
from retrieval.engine import spaces
from retrieval.models import EmbeddingSpace
from retrieval.types import AnswerState

# Maximum number of questions to group, starting with the newest.
LOOKED_AT = 400
# The minimum share of common words of two questions that are the same: docs/decisions/unanswered.md.
SHARED = 0.8
_CODE = re.compile(r"[A-Za-z0-9.-]*\d[A-Za-z0-9.-]*")
WORDINGS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """An unanswered question: its user, its time, and its vector in an embedding space, if it has one.

    `alike` is the minimum cosine similarity of two questions of this space that are the same.
    """

    turn_id: int
    text: str
    user_id: int
    at: datetime
    space: int | None = None
    vector: Any = None
    session_id: int = 0
    alike: float = Calibration().alike


@dataclass(slots=True)
class Group:
    """Questions with the same meaning, oldest first."""

    questions: list[Asked] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The most frequent wording; of equally frequent ones, the newest."""
        counts = Counter(_plain(each.text) for each in self.questions)
        most = max(counts.values())
        return next(each.text for each in reversed(self.questions) if counts[_plain(each.text)] == most)

    @property
    def wordings(self) -> list[str]:
        """Some other wordings, newest first."""
        own = _plain(self.text)
        others = {_plain(each.text): each.text for each in reversed(self.questions) if _plain(each.text) != own}
        return list(others.values())[:WORDINGS_SHOWN]

    @property
    def count(self) -> int:
        """The number of times it was asked."""
        return len(self.questions)

    @property
    def people(self) -> int:
        """The number of people who asked it."""
        return len({each.user_id for each in self.questions})

    @property
    def last(self) -> Asked:
        """The newest question."""
        return self.questions[-1]


def unanswered(since: datetime) -> list[Asked]:
    """Return the newest questions that found nothing or only the closest passages, oldest first."""
    said = Message.objects.filter(turn=OuterRef("turn"), role=Message.Role.USER).values("content")
    rows = (
        Message.objects.filter(
            role=Message.Role.ASSISTANT,
            created_at__gte=since,
            status=Message.Status.COMPLETED,
            answer_state__in=[AnswerState.NEAREST, AnswerState.NOTHING],
        )
        .annotate(question=Subquery(said))
        .order_by("-created_at", "-pk")
        .values_list(
            "turn_id", "question", "turn__session__owner_id", "created_at", "turn__embedding_space_id",
            "turn__embedding", "turn__session_id",
        )[:LOOKED_AT]
    )  # fmt: skip
    found, alike = [], {}
    for space in EmbeddingSpace.objects.filter(pk__in={row[4] for row in rows}):
        with suppress(LLMError):  # its model was removed
            alike[space.pk] = spaces.embedder_of(space).calibration.alike, space
    for turn_id, text, user_id, at, space_id, vector, session_id in rows:
        threshold, known = alike.get(space_id, (0.0, None))
        pointing = direction(vector) if known is not None and known.knows(language_of(text or "")) else None
        if text:
            found.append(Asked(turn_id, text, user_id, at, space_id, pointing, session_id, threshold))
    return found[::-1]


def groups(questions: Sequence[Asked]) -> list[Group]:
    """Return the questions in groups, largest first; of equally large ones, the most recently asked first."""
    alike = likeness(questions)
    made: dict[int, Group] = {}  # by the position of the first question
    for place, asked in enumerate(questions):
        firsts = [*made]
        scores = alike[place, firsts]
        if firsts and scores.max() >= 1:
            made[firsts[int(scores.argmax())]].questions.append(asked)
        else:
            made[place] = Group([asked])
    return sorted(made.values(), key=lambda group: (group.count, group.last.at, group.last.turn_id), reverse=True)


def likeness(questions: Sequence[Asked]) -> Any:
    """Return the similarity of each two questions as a square array of floats; those with at least 1 are the same.

    For questions with the same numbers and codes, it is the larger of their share of common words and the cosine
    similarity of vectors from the same model, each divided by its threshold; for others, it is 0.
    """
    found = np.zeros((len(questions), len(questions)), dtype=np.float32)
    by_codes: dict[Any, list[int]] = defaultdict(list)
    by_space: dict[Any, list[int]] = defaultdict(list)
    for place, each in enumerate(questions):
        codes = frozenset(_CODE.findall(each.text.lower()))
        by_codes[codes].append(place)
        if each.vector is not None:
            by_space[codes, each.space, len(each.vector)].append(place)
    for places in by_codes.values():
        words = [set(terms(questions[place].text)) for place in places]
        known = {word: number for number, word in enumerate(sorted(set().union(*words)))}
        has = np.zeros((len(places), len(known)), dtype=np.float32)
        for row, own in enumerate(words):
            has[row, [known[word] for word in own]] = 1
        common, sizes = has @ has.T, has.sum(axis=1)
        shared = common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1)
        found[np.ix_(places, places)] = shared / SHARED
    for places in by_space.values():
        vectors, square = np.stack([questions[place].vector for place in places]), np.ix_(places, places)
        found[square] = np.maximum(found[square], vectors @ vectors.T / questions[places[0]].alike)
    return found


def direction(vector: Any) -> Any:
    """Return a stored vector, normalised to a length of one; None for no vector or a zero vector."""
    if vector is None:
        return None
    numbers = np.asarray(vector.to_list() if isinstance(vector, HalfVector) else vector, dtype=np.float32)
    length = float(np.linalg.norm(numbers))
    return numbers / length if length else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" ?？.。!！")

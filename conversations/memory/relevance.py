"""Search for earlier turns of a session that are similar to a question, by vectors or by words."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from pgvector import HalfVector
from pgvector.django import CosineDistance

from conversations.history import GROUPED_FIELDS, PastTurn, grouped, with_texts
from conversations.models import Message, Turn
from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.language.detection import language_of
from ragsite.language.questions import question_words
from ragsite.site_settings.config import config
from retrieval.engine import spaces
from retrieval.engine.bm25 import inverse_document_frequency

# Without vectors, the share of a question's words, weighted by their rarity among the turns, that a turn must contain.
# Of 40 English and 15 Chinese questions that refer to a turn, 54 reach it with that turn; of other turns, 1 % do.
WORDS_FLOOR = 0.2
# The newest turns that are searched by words, and the characters read of each answer.
_SEARCHED = 100
_CHARACTERS = 500
# Characters of an answer that are embedded in its turn's vector.
_EMBEDDED = 2000


@dataclass(frozen=True, slots=True)
class RelevantTurns:
    """Similar turns, oldest first, how they were found (`vector`, `words` or an empty string), and their similarities.

    `similarities`, by turn id, are of meaning, or shares of the question's words; `nearest` is the highest of any turn,
    including those below the floor.
    """

    turns: list[PastTurn] = field(default_factory=list)
    by: str = ""
    similarities: dict[int, float] = field(default_factory=dict)
    nearest: float | None = None


async def relevant_turns(
    question: str, earlier: Sequence[int], recent: Sequence[PastTurn], limit: int, asked: Collection[str] = ()
) -> RelevantTurns:
    """Return the `limit` earlier turns that are most similar to the question, without the recent ones.

    Those with a question of `asked` are left out: they are other versions of this turn. Turns are compared by their
    stored vectors, and must reach `RELEVANT_TURN_FLOOR`. If the embedding model doesn't know the question's language,
    or no turn has a vector in its space, they are compared by words.
    """
    taken = {turn.turn_id for turn in recent}
    older = [turn for turn in earlier if turn not in taken]
    if not older:
        return RelevantTurns()
    known = {_same(text) for text in (*asked, *(turn.question for turn in recent))}
    space = await spaces.space_for_search()
    if space.knows(language_of(question)):
        vector = await spaces.with_model(spaces.embed_query, space, question)
        nearest = await in_database(_nearest, older, space.pk, vector.tolist(), limit + len(recent))
        if nearest:
            similarity, asked_in = spaces.embedder_of(space).calibration.similarity, language_of(question)
            # Turns in another language have to be as similar as those in the question's language: across languages,
            # the similarity of texts as short as questions means little.
            turns = [(similarity(cosine, asked_in, asked_in), turn) for cosine, turn in nearest]
            return _chosen(turns, known, limit, "vector", config.RELEVANT_TURN_FLOOR or -math.inf)
    floor = WORDS_FLOOR if config.RELEVANT_TURN_FLOOR else 0.0
    return _chosen(await in_database(_by_words, question, older), known, limit, "words", floor)


async def store_vector(turn_id: int, question: str, answer: str) -> None:
    """Store a turn's vector in the active space, if its model knows the question's language."""
    space = await in_database(spaces.active_space)
    if not space.knows(language_of(question)):
        return
    text = f"{question}\n{answer[:_EMBEDDED]}"
    vectors = await spaces.with_model(spaces.embedder_of(space).embed_documents, [text])
    await in_database(
        Turn.objects.filter(pk=turn_id).update, embedding=HalfVector(vectors[0].tolist()), embedding_space=space
    )


def _nearest(turn_ids: Sequence[int], space_id: int, vector: list[float], limit: int) -> list[tuple[float, PastTurn]]:
    """Return complete turns with their cosine similarities, most similar first, in one query."""
    messages = Message.objects.filter(turn_id__in=turn_ids, turn__embedding_space_id=space_id)
    messages = messages.annotate(distance=CosineDistance("turn__embedding", HalfVector(vector)))
    rows = _rows(messages.order_by("distance", "-turn_id", "role"), limit, "distance")
    distances = {row["turn_id"]: row["distance"] for row in rows}
    return [(1 - distances[turn.turn_id], turn) for turn in _turns(rows)]


def _by_words(question: str, turn_ids: Sequence[int]) -> list[tuple[float, PastTurn]]:
    """Return complete turns that share words with the question, with their share of its weight, highest first."""
    messages = Message.objects.filter(turn_id__in=turn_ids).order_by("-turn_id", "role")
    turns = _turns(_rows(messages, _SEARCHED))
    texts = [set(terms(f"{turn.question}\n{turn.answer[:_CHARACTERS]}")) for turn in turns]
    words = set(terms(question)) - question_words()
    weights = {word: inverse_document_frequency(len(texts), sum(word in text for text in texts)) for word in words}
    whole = sum(weights.values()) or 1.0
    shares = [sum(weights[word] for word in words & text) / whole for text in texts]
    found = [(share, turn) for share, turn in zip(shares, turns, strict=True) if share > 0]
    return sorted(found, key=lambda item: -item[0])


def _rows(messages: QuerySet[Message], limit: int, *more: str) -> list[dict[str, Any]]:
    """Return the values that `grouped` needs of the first `limit` turns of these messages, and more; one query."""
    return list(with_texts(messages).values(*GROUPED_FIELDS, *more)[: 2 * limit])  # a question and an answer each


def _turns(rows: Sequence[dict[str, Any]]) -> list[PastTurn]:
    """Return the complete turns of the rows, in their order."""
    return [turn for turn in grouped(dict.fromkeys(row["turn_id"] for row in rows), rows) if turn.answer]


def _chosen(
    turns: Sequence[tuple[float, PastTurn]], known: Collection[str], limit: int, by: str, floor: float
) -> RelevantTurns:
    """Return the first `limit` turns that reach the floor; `turns` are given with their similarities, highest first.

    Turns that repeat a known question, or that of one already chosen, are left out.
    """
    asked = set(known)
    chosen: list[PastTurn] = []
    similarities: dict[int, float] = {}
    nearest: float | None = None
    for similarity, turn in turns:
        if _same(turn.question) in asked:
            continue
        nearest = round(similarity, 4) if nearest is None else nearest
        if len(chosen) < limit and similarity >= floor:
            asked.add(_same(turn.question))
            chosen.append(turn)
            similarities[turn.turn_id] = round(similarity, 4)
    return RelevantTurns(sorted(chosen, key=lambda turn: turn.turn_id), by if chosen else "", similarities, nearest)


def _same(question: str) -> str:
    return " ".join(question.split()).casefold()

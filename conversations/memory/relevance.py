"""Which earlier turns of a branch are like a question: by their vectors, or by words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet
from pgvector import HalfVector
from pgvector.django import CosineDistance

from conversations.history import grouped, with_texts
from conversations.models import Message, Turn
from conversations.pipeline.state import PastTurn
from ragsite.db import in_database
from ragsite.language import language_of
from retrieval import spaces
from retrieval.analysis import terms
from retrieval.words import QUESTION_WORDS

# Turns that are looked through by words, the newest, and characters of each.
_LOOKED_THROUGH = 100
_CHARACTERS = 500
# Characters of an answer that its turn's vector is made from.
_EMBEDDED = 2000


@dataclass(frozen=True, slots=True)
class Found:
    """Turns, oldest first, and how they were found: `vector`, `words`, or an empty string."""

    turns: list[PastTurn] = field(default_factory=list)
    by: str = ""


async def relevant_turns(question: str, branch: Sequence[int], recent: Sequence[PastTurn], limit: int) -> Found:
    """Return up to `limit` turns of the branch that are most like the question, without the recent ones.

    Turns are compared by the vectors that were stored with them. Where the embedding model doesn't know the question's
    language, or no turn has a vector of its own space, the words decide.
    """
    taken = {turn.turn_id for turn in recent}
    older = [turn for turn in branch if turn not in taken]
    if not older:
        return Found()
    space = spaces.seen()
    if space is None:
        space = await in_database(spaces.active_space)
    if space.knows(language_of(question)):
        vector = await spaces.with_model(spaces.embed_query, space, question)
        turns = await in_database(_nearest, older, space.pk, vector.tolist(), limit + len(recent))
        if turns:
            return Found(_chosen(turns, recent, limit), "vector")
    found = _chosen(await in_database(_by_words, question, older), recent, limit)
    return Found(found, "words" if found else "")


async def store_vector(turn_id: int, question: str, answer: str) -> None:
    """Store a turn's vector in the active space, where its model knows the question's language."""
    space = await in_database(spaces.active_space)
    if not space.knows(language_of(question)):
        return
    text = f"{question}\n{answer[:_EMBEDDED]}"
    vectors = await spaces.with_model(spaces.embedder_of(space).embed_documents, [text])
    await in_database(
        Turn.objects.filter(pk=turn_id).update, embedding=HalfVector(vectors[0].tolist()), embedding_space=space
    )


def _nearest(turn_ids: Sequence[int], space_id: int, vector: list[float], limit: int) -> list[PastTurn]:
    """Return complete turns by the nearness of their vectors, nearest first, in one query."""
    messages = Message.objects.filter(turn_id__in=turn_ids, turn__embedding_space_id=space_id)
    nearest = messages.order_by(CosineDistance("turn__embedding", HalfVector(vector)), "-turn_id", "role")
    return _turns(nearest, limit)


def _by_words(question: str, turn_ids: Sequence[int]) -> list[PastTurn]:
    """Return complete turns that share words with the question, those with the rarest first."""
    turns = _turns(Message.objects.filter(turn_id__in=turn_ids).order_by("-turn_id", "role"), _LOOKED_THROUGH)
    texts = [set(terms(f"{turn.question}\n{turn.answer[:_CHARACTERS]}")) for turn in turns]
    words = {word for word in terms(question) if word not in QUESTION_WORDS}
    weights = {word: _rarity(sum(word in text for text in texts), len(texts)) for word in words}
    scores = [sum(weights[word] for word in words & text) for text in texts]
    order = sorted(range(len(turns)), key=lambda place: -scores[place])
    return [turns[place] for place in order if scores[place] > 0]


def _rarity(count: int, total: int) -> float:
    """Return a word's inverse document frequency as BM25 has it (Robertson and Spärck Jones, never below 0)."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def _turns(messages: QuerySet[Message], limit: int) -> list[PastTurn]:
    """Return the complete ones of the first `limit` turns of these messages, in their order; one query."""
    told = with_texts(messages).values("turn_id", "role", "told", "status")
    rows = list(told[: 2 * limit])  # a question and its answer each
    return grouped(dict.fromkeys(row["turn_id"] for row in rows), rows)


def _chosen(turns: Sequence[PastTurn], recent: Sequence[PastTurn], limit: int) -> list[PastTurn]:
    """Return the first `limit` turns whose questions are not asked twice, the recent ones included, oldest first."""
    asked = {_same(turn.question) for turn in recent}
    chosen: list[PastTurn] = []
    for turn in turns:
        if len(chosen) < limit and _same(turn.question) not in asked:
            asked.add(_same(turn.question))
            chosen.append(turn)
    return sorted(chosen, key=lambda turn: turn.turn_id)


def _same(question: str) -> str:
    return " ".join(question.split()).casefold()

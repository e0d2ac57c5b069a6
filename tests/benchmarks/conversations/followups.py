"""The measurements of `manage.py bench_followups`: retrieval for later questions of conversations.

Each question of a public set is asked in every way on the same base, so that the ways are compared in one run. Each is
also asked after questions of another conversation, to measure that self-contained questions lose nothing. Complete
questions of other sets are asked within chats, to measure how many are searched as they stand.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from conversations.history import PastTurn
from conversations.pipeline.understanding.rules import queries_with_rewrite, understand
from conversations.pipeline.understanding.scope import look_up
from ragsite.db import in_database
from retrieval.evaluation.metrics import ndcg, recall
from retrieval.search import Query, SearchRequest, search
from tests.benchmarks.conversations.answers import Question

RANKS = 5
# More would compete for the same cores.
SIDE_BY_SIDE = 4
# The number of turns that the site recalls by default.
RECALLED = 5
# The mark before each question, in sets that store those of a conversation as one text.
MARK = "|user|:"


@dataclass(frozen=True, slots=True)
class Case:
    """A question, those before it (oldest first), a stand-alone version by people, and the grades of right passages.

    `unrelated` are questions of another conversation.
    """

    question: str
    earlier: tuple[str, ...]
    rewrite: str
    unrelated: tuple[str, ...]
    relevant: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ask:
    """Weighted queries, and the question by which passages are judged."""

    queries: tuple[tuple[str, float], ...]
    ranking_query: str


# Takes a question and a base's id; may read the database.
Way = Callable[[Case, int], Ask]


def _by_rules(question: str, earlier: Sequence[str], base_id: int) -> Ask:
    recalled = earlier[-RECALLED:]
    history = [PastTurn(number, text, "") for number, text in enumerate(recalled)]
    found = understand(question, history, look_up(question, recalled, [base_id]))
    return Ask(found.queries, found.ranking_query) if found.queries else _one(question)


def _one(text: str) -> Ask:
    return Ask(((text, 1.0),), text)


WAYS: dict[str, Way] = {
    "the question alone": lambda case, base_id: _one(case.question),
    "by the rules": lambda case, base_id: _by_rules(case.question, case.earlier, base_id),
    "all questions joined": lambda case, base_id: _one("\n".join([*case.earlier, case.question])),
    "people's rewriting": lambda case, base_id: _one(case.rewrite),
    "people's rewriting and the question": lambda case, base_id: Ask(
        queries_with_rewrite(case.question, case.rewrite), case.rewrite
    ),
    "stand-alone, first": lambda case, base_id: _one(case.rewrite),
    "stand-alone, after unrelated questions": lambda case, base_id: _by_rules(case.rewrite, case.unrelated, base_id),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A way's mean recall@5 and nDCG@5, over later questions of conversations (None if there are none) and over all."""

    way: str
    later: tuple[float, float] | None
    all: tuple[float, float]


@dataclass(frozen=True, slots=True)
class AloneRow:
    """How many complete questions of a language were asked after others, and the share that was searched unchanged."""

    which: str
    language: str
    questions: int
    share: float


def cases(
    last: Mapping[str, str],
    joined: Mapping[str, str],
    rewrites: Mapping[str, str],
    relevant: Mapping[str, Mapping[str, int]],
) -> list[Case]:
    """Return the questions that have right passages, from texts by the questions' ids.

    `joined` has all questions of a conversation up to this one. Without it, a question counts as a first one; without a
    rewriting, as a stand-alone one.
    """
    talks = {key: questions_of(joined.get(key, text)) or (text,) for key, text in last.items()}
    keys = [key for key in last if relevant.get(key)]
    found = []
    for place, key in enumerate(keys):
        around = [*keys[place + 1 :], *keys[:place]]
        others = (text for other in around if talks[other][0] != talks[key][0] for text in talks[other])
        unrelated = tuple(islice(dict.fromkeys(others), 1 + place % 3))
        found.append(Case(last[key], talks[key][:-1], rewrites.get(key, last[key]), unrelated, relevant[key]))
    return found


def questions_of(joined: str) -> tuple[str, ...]:
    """Return the questions of a conversation from a text in which each follows a mark."""
    return tuple(text.strip() for text in joined.split(MARK) if text.strip())


async def measure(questions: Sequence[Case], base_id: int, progress: Callable[[], object]) -> list[Row]:
    """Ask every question of a base in every way, calling `progress` after each question. Raises `SearchFailed`."""
    waiting = iter(questions)
    scores: dict[str, list[tuple[bool, tuple[float, float]]]] = {way: [] for way in WAYS}

    async def work() -> None:
        for case in waiting:
            for way, asks in WAYS.items():
                ask = await in_database(asks, case, base_id)
                scores[way].append((bool(case.earlier), await _score(ask, case, base_id)))
            progress()

    await asyncio.gather(*(work() for _ in range(SIDE_BY_SIDE)))
    return [_row(way, scores[way]) for way in WAYS]


async def _score(ask: Ask, case: Case, base_id: int) -> tuple[float, float]:
    queries = tuple(Query(text, weight) for text, weight in ask.queries)
    result = await search(SearchRequest(queries, (base_id,), ranking_query=ask.ranking_query))
    ranked = [str(hit.document_id) for hit in result.hits]
    return recall(ranked, case.relevant, RANKS), ndcg(ranked, case.relevant, RANKS)


def alone_rows(questions: Sequence[Question], base_id: int) -> list[AloneRow]:
    """Ask each complete question after one to three others: of the same document, and of other ones."""
    asked: dict[tuple[str, str], list[bool]] = {}
    for place, question in enumerate(questions):
        others = [*questions[place + 1 :], *questions[:place]]
        for which, is_same in (("the same document", True), ("other documents", False)):
            before = (each.text for each in others if (each.document == question.document) == is_same)
            if earlier := tuple(islice(before, 1 + place % 3)):
                ask = _by_rules(question.text, earlier, base_id)
                unchanged = ask.queries == ((question.text.strip(), 1.0),)
                asked.setdefault((which, question.language), []).append(unchanged)
    return [AloneRow(*key, len(shares), fmean(shares)) for key, shares in sorted(asked.items())]


def _row(way: str, scores: Sequence[tuple[bool, tuple[float, float]]]) -> Row:
    later = [score for is_later, score in scores if is_later]
    return Row(way, _mean(later) if later else None, _mean([score for _later, score in scores]))


def _mean(scores: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return fmean(score[0] for score in scores), fmean(score[1] for score in scores)

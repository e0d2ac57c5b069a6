"""Queries: terms sampled from passages, and the questions of a public set with their right passages."""

import csv
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext as _

from ragsite.language.analysis import CHINESE_STOP_WORDS, STOP_WORDS
from tests.benchmarks.retrieval.passages import NoTexts

FEWEST, MOST = 3, 8
_ATTEMPTS = 20  # per query; few passages have fewer words


@dataclass(frozen=True, slots=True)
class Judged:
    """Questions of a public set, with the grades of their passages by chunk id."""

    questions: tuple[str, ...]
    relevant: tuple[Mapping[str, int], ...]

    def first(self, count: int) -> "Judged":
        """Return the first `count` questions."""
        return Judged(self.questions[:count], self.relevant[:count])


def sampled(passages: Sequence[str], count: int, seed: int = 2) -> list[str]:
    """Return queries of 3 to 8 words, each from one passage, in their order and without stop words.

    Raises `NoTexts` if hardly any passage has that many.
    """
    rng = random.Random(seed)
    queries: list[str] = []
    for _attempt in range(_ATTEMPTS * count):
        words = list(dict.fromkeys(_words(rng.choice(passages))))
        if len(words) >= FEWEST:
            chosen = rng.sample(range(len(words)), min(len(words), rng.randint(FEWEST, MOST)))
            queries.append(" ".join(words[place] for place in sorted(chosen)))
        if len(queries) == count:
            return queries
    raise NoTexts(_("The passages are too short to ask for anything."))


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text as people see them: for Chinese, those in the dictionary."""
    import rjieba

    for word in rjieba.cut(text, False):
        if len(word) > 1 and word.isalnum() and word.lower() not in STOP_WORDS and word not in CHINESE_STOP_WORDS:
            yield word


def judged(queries: Path, qrels: Path, chunk_ids: Mapping[str, int]) -> Judged:
    """Read BEIR-style questions and judgements; `chunk_ids` are those of the passages by their own ids.

    Questions without any existing passage are left out.
    """
    texts = {str(row["_id"]): str(row["text"]) for row in map(json.loads, queries.read_text("utf-8").splitlines())}
    relevant: dict[str, dict[str, int]] = {}
    with qrels.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t")
        next(rows)
        for query_id, passage_id, grade in rows:
            if passage_id in chunk_ids and int(grade) > 0 and query_id in texts:
                relevant.setdefault(query_id, {})[str(chunk_ids[passage_id])] = int(grade)
    return Judged(tuple(texts[query_id] for query_id in relevant), tuple(relevant.values()))

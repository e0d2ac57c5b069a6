"""Parts of the benchmarks: texts, vectors and figures. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.engine.bm25 import count_terms
from tests.benchmarks.retrieval import embeddings, passages, questions
from tests.benchmarks.retrieval.measuring import Timing, overlap, table, timed
from tests.benchmarks.retrieval.passages import Crossover, NoTexts

TEXT = "The planner reads statistics. ANALYZE refreshes them! 数据库的统计信息很重要。真空会清理旧行。"


def test_halves_contain_all_terms_of_their_passage() -> None:
    first, second = passages.halves(TEXT)
    assert first and second
    assert count_terms(first) + count_terms(second) == count_terms(TEXT)
    assert passages.halves("One sentence only.") == ("One sentence only.", "")


def test_crossovers_begin_with_the_real_ones() -> None:
    made = list(passages.crossovers(3, 50))
    assert made[:3] == [Crossover(0, 0), Crossover(1, 1), Crossover(2, 2)]
    assert len(made) == 50
    assert {crossover.first for crossover in made} == {0, 1, 2}
    assert made == list(passages.crossovers(3, 50))


def test_passages_are_read_from_folders_and_lines(tmp_path: Path) -> None:
    sentence = "Vacuum frees the space of dead rows, so that it can be used again by new ones in the same table."
    (tmp_path / "a.txt").write_text(f"{sentence}\n", encoding="utf-8")
    (tmp_path / "same.md").write_text(f"{sentence}\n", encoding="utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    written = tmp_path / "written.jsonl"
    found = passages.read([tmp_path], 10)
    assert [text for _name, text in found] == [sentence]
    passages.write([("1", "one"), ("2", "二")], written)
    assert passages.read([written, tmp_path], 10)[:2] == [("1", "one"), ("2", "二")]
    assert len(passages.read([written], 1)) == 1


def test_missing_texts_are_reported(tmp_path: Path) -> None:
    with pytest.raises(NoTexts, match=str(tmp_path)):
        passages.read([tmp_path], 10)


def test_sampled_vectors_are_near_their_origins() -> None:
    known = np.eye(4, 64, dtype=np.float32)
    made = [Crossover(0, 0), Crossover(3, 3), Crossover(0, 1), Crossover(5, 5)]
    drawn = embeddings.drawn(known, made, seed=1)
    assert np.linalg.norm(drawn, axis=1) == pytest.approx([1, 1, 1, 1], rel=1e-5)
    assert (drawn[:2] == known[[0, 3]]).all()
    assert drawn[2] @ known[0] > 0.4 < drawn[2] @ known[1]
    assert 0.7 < drawn[3] @ known[1] < 0.99  # the sixth has no vector of its own
    assert (drawn == embeddings.drawn(known, made, seed=1)).all()


class CountingEmbedder:
    """Returns the vector (length, 1) for each text, and counts the texts."""

    provider, model, dimension, languages = "local", "counting", 2, ["en"]

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen.update(texts)
        return np.array([(len(text), 1) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed_documents([text])[0]


def test_vectors_are_computed_once(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(embeddings, "WINDOW", 2)
    embedder, texts = CountingEmbedder(), ["a", "bb", "ccc", "dddd", "eeeee"]
    embeddings.real(embedder, texts[:4])
    vectors = embeddings.real(embedder, texts)
    assert vectors[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert set(embedder.seen.values()) == {1}


def test_queries_are_words_of_a_passage_in_their_order() -> None:
    text = "planner statistics vacuum analyze buffer page tuple lock transaction 数据库 索引 统计"
    for query in questions.sampled([text], 20):
        words = query.split()
        assert questions.FEWEST <= len(words) <= questions.MOST
        assert [text.index(word) for word in words] == sorted(text.index(word) for word in words)


def test_too_short_passages_are_reported() -> None:
    with pytest.raises(NoTexts, match="too short"):
        questions.sampled(["two words", "the of and"], 5)


def test_judgements_are_read_for_existing_passages(tmp_path: Path) -> None:
    asked, grades = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    asked.write_text('{"_id": 1, "text": "why?"}\n{"_id": "2", "text": "how?"}\n', encoding="utf-8")
    grades.write_text("query-id\tcorpus-id\tscore\n1\tp\t2\n1\tq\t0\n2\tgone\t1\n", encoding="utf-8")
    judged = questions.judged(asked, grades, {"p": 7, "q": 8})
    assert (judged.questions, judged.relevant) == (("why?",), ({"7": 2},))
    assert judged.first(0).questions == ()


def test_figures() -> None:
    assert overlap([[1, 2, 3], [], [9]], [[3, 1, 4], [], [9]], 3) == pytest.approx((2 / 3 + 1) / 2)
    assert Timing([float(number) for number in range(101)]).percentile(95) == 95
    calls: list[str] = []

    def way(name: str) -> Callable[[str, int], list[int]]:
        return lambda query, k: calls.append(name + query) or [k]

    timings = timed({"x": way("x"), "y": way("y")}, ["1", "2"], 5, rounds=2)
    assert (len(timings["y"].milliseconds), timings["x"].found) == (2, [[5], [5]])
    assert calls[4:] == ["x1", "y1", "x1", "y1", "x2", "y2", "x2", "y2"]  # alternating, after warming up


def test_a_table_is_aligned() -> None:
    assert table(["way", "ms"], [["词", "1"], ["long", "22"]]).splitlines() == [
        "| way  | ms |",
        "|------|----|",
        "| 词   | 1  |",
        "| long | 22 |",
    ]

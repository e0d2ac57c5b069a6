"""Fast filling compared with real indexing, and the command in a separate database."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from knowledge.models import Chunk, KnowledgeBase
from retrieval.engine import bm25, fulltext, index
from retrieval.engine.index import IndexRow
from retrieval.models import IndexEntry, TermFrequency, VectorCount
from tests import factories
from tests.benchmarks.retrieval import loading, passages
from tests.benchmarks.retrieval.baselines import base as ways
from tests.benchmarks.retrieval.loading import Corpus

TOPICS = [
    *("vacuum", "index", "lock", "buffer", "page", "tuple", "stream", "slot"),
    *("archive", "restore", "role", "grant", "schema", "view", "trigger", "rule"),
]


@pytest.fixture
def corpus() -> Corpus:
    texts = [
        f"The {topic} of a table is read by the planner. Each {topic} has its own statistics, number {number}."
        for number, topic in enumerate(TOPICS)
    ]
    vectors = np.eye(len(texts), 384, dtype=np.float32)
    return Corpus([(str(number), text) for number, text in enumerate(texts)], vectors, 40)


@pytest.mark.django_db(transaction=True)
def test_fast_filling_equals_indexing(corpus: Corpus, owner: User) -> None:
    filled = loading.fill(corpus)
    again = factories.make_knowledge_base(owner)
    document = factories.make_document(again)
    for text in Chunk.objects.filter(document__knowledge_base=filled).order_by("pk").values_list("content", flat=True):
        factories.make_chunk(document, text)
    chunks = document.chunks.order_by("pk")
    assert index.index(IndexRow(chunk.pk, document.pk, chunk.content) for chunk in chunks) == 40
    assert _weights(filled) == _weights(again)
    assert _frequencies(filled) == _frequencies(again)
    assert VectorCount.objects.get(knowledge_base=filled).vectors == 40
    found = fulltext.search("vacuum statistics", [filled.pk], 40)
    expected = fulltext.search("vacuum statistics", [again.pk], 40)
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_indexes WHERE indexname = 'retrieval_terms_gin'")
        assert cursor.fetchone() == (1,)


def _weights(base: KnowledgeBase) -> list[str]:
    entries = IndexEntry.objects.filter(knowledge_base=base).order_by("chunk_id")
    return [str(entry.weights) for entry in entries]


def _frequencies(base: KnowledgeBase) -> dict[int, int]:
    return dict(TermFrequency.objects.filter(knowledge_base=base).values_list("term", "document_frequency"))


def test_a_corpus_is_identified_by_its_content(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    before = corpus.fingerprint
    assert Corpus(corpus.passages, corpus.vectors, 40).fingerprint == before
    assert Corpus(corpus.passages, corpus.vectors, 41).fingerprint != before
    assert Corpus([("0", "other"), *corpus.passages[1:]], corpus.vectors, 40).fingerprint != before
    monkeypatch.setattr(bm25, "K1", 1.5)  # rows with other weights
    assert Corpus(corpus.passages, corpus.vectors, 40).fingerprint != before


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_command_uses_a_separate_database(corpus: Corpus, owner: User, tmp_path: Path) -> None:
    texts, queries, qrels = tmp_path / "corpus.jsonl", tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    passages.write(corpus.passages, texts)
    queries.write_text('{"_id": "q", "text": "Which vacuum?"}\n', encoding="utf-8")
    qrels.write_text("query-id\tcorpus-id\tscore\nq\t0\t1\n", encoding="utf-8")
    said = StringIO()
    judged = ["--corpus", str(texts), "--queries", str(queries), "--qrels", str(qrels)]
    options = ["--chunks", "100", "--samples", "4", "--rounds", "1", "--ways", "ours,exact,tutorial"]
    call_command("bench", "search", "--texts", str(texts), *options, *judged, stdout=said)
    assert "100 chunks, 4 sampled queries, 1 questions with judged passages" in said.getvalue()
    ours = [line for line in said.getvalue().splitlines() if line.startswith("| Ragsite")]
    assert "| 100.0%" in ours[0] and "| 1.000" in ours[0]  # the same as exact BM25; the right passage is first
    assert "| 1.000" in ours[1]
    assert User.objects.get() == owner  # back in the site's database, which is unchanged
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_database WHERE datname = 'ragsite_bench_100'")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["search", "--texts", "/nowhere", "--chunks", "many"], "not a list of numbers"),
        (["search", "--texts", "/nowhere", "--chunks", "5"], "at least 100"),
        (["search", "--texts", "/nowhere", "--ways", "magic"], "choose from ours, exact"),
        (["search", "--texts", "/nowhere", "--corpus", "a"], "--corpus, --queries and --qrels"),
        (["search", "--texts", "/nowhere"], "No passage was found in /nowhere"),
    ],
)
def test_errors_are_reported(arguments: list[str], complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        call_command("bench", *arguments)


def test_reciprocal_rank_fusion() -> None:
    assert ways.fused([1, 2], [2, 3], 2) == [2, 1]

"""`manage.py load_corpus`."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError

from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.llm.embedding.local import LocalEmbedder
from ragsite.llm.errors import TimedOut
from retrieval.engine import bm25, vectors
from retrieval.evaluation.loading import loading
from retrieval.evaluation.models import EvaluationSet
from retrieval.models import CorpusSize, IndexEntry, TermFrequency
from tests import factories
from tests.retrieval.counts import counted
from tests.retrieval.evaluation.conftest import PASSAGES, Benchmark, write_lines

pytestmark = pytest.mark.django_db


def test_each_passage_becomes_a_ready_document_of_one_chunk(benchmark: Benchmark, owner: User) -> None:
    assert "Passages of 'Small': 4 added, 0 already here." in benchmark.load(questions=False)
    base = KnowledgeBase.objects.get(name="Small", owner=owner)
    documents = {document.external_id: document for document in base.documents.all()}
    assert set(documents) == {"cats", "42", "stats", "zh"}
    assert {document.status for document in documents.values()} == {"ready"}
    assert (documents["cats"].original_filename, documents["42"].original_filename) == ("Cats", "42")
    assert (documents["zh"].language, documents["cats"].uploaded_by) == ("zh", owner)
    (chunk,) = documents["stats"].chunks.all()
    assert (chunk.heading_path, chunk.content) == (["PostgreSQL"], PASSAGES[2]["text"])
    assert chunk.token_count > 5


def test_all_passages_have_words_and_vectors(benchmark: Benchmark) -> None:
    benchmark.load(questions=False)
    base = KnowledgeBase.objects.get(name="Small")
    assert counted(base) == (4, 4)
    assert CorpusSize.objects.get(pk=base.pk).chunks == 4
    # "cat" is in one passage, twice: as its title and in its text.
    (term,) = bm25.count_terms("cats")
    assert TermFrequency.objects.get(knowledge_base=base, term=term).document_frequency == 1


def test_the_queries_with_an_answer_become_a_set(benchmark: Benchmark, owner: User) -> None:
    assert "Questions of the set 'Small': 2, of which 2 are new." in benchmark.load()
    stored = EvaluationSet.objects.get(name="Small", owner=owner, knowledge_base__name="Small")
    assert list(stored.questions.values_list("key", "text", "relevant")) == [
        ("q1", "How many ports does the TL-SE2109 have?", [{"grade": 1, "passage": "42"}]),
        ("q2", "statistics of a table", [{"grade": 2, "passage": "stats"}]),
    ]
    benchmark.load(set="Other")
    assert set(EvaluationSet.objects.values_list("name", flat=True)) == {"Small", "Other"}


def test_a_second_run_adds_nothing_twice(benchmark: Benchmark) -> None:
    benchmark.load()
    before = list(Chunk.objects.values_list("pk", flat=True))
    out = benchmark.load()
    assert "Passages of 'Small': 0 added, 4 already here." in out
    assert ": 2, of which 0 are new." in out
    assert list(Chunk.objects.values_list("pk", flat=True)) == before
    assert CorpusSize.objects.get().chunks == 4


def test_a_changed_passage_is_replaced(benchmark: Benchmark) -> None:
    benchmark.load(questions=False)
    changed = [PASSAGES[0] | {"text": "A dog barks."}, *PASSAGES[1:]]
    write_lines(benchmark.corpus, changed)
    assert "Passages of 'Small': 1 added, 3 already here." in benchmark.load(questions=False)
    assert Document.objects.get(external_id="cats").chunks.get().content == "A dog barks."
    assert CorpusSize.objects.get().chunks == 4
    (purrs,) = bm25.count_terms("purrs")
    assert not TermFrequency.objects.filter(term=purrs, document_frequency__gt=0).exists()


def test_an_interrupted_load_resumes(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "BATCH", 1)
    embed: Callable[..., Any] = LocalEmbedder.embed_documents

    def fail_at_the_third(self: LocalEmbedder, texts: list[str]) -> Any:
        if any(PASSAGES[2]["text"] in text for text in texts):
            raise TimedOut
        return embed(self, texts)

    monkeypatch.setattr(LocalEmbedder, "embed_documents", fail_at_the_third)
    with pytest.raises(CommandError, match="Run the same command again"):
        benchmark.load()
    assert Document.objects.count() == IndexEntry.objects.count() == 2
    assert not EvaluationSet.objects.exists()
    monkeypatch.setattr(LocalEmbedder, "embed_documents", embed)
    assert "Passages of 'Small': 2 added, 2 already here." in benchmark.load()


def test_batches_are_stored_atomically(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise TimedOut

    monkeypatch.setattr(vectors, "insert_into_active", fail)
    with pytest.raises(CommandError):
        benchmark.load()
    assert not Document.objects.exists() and not Chunk.objects.exists() and not CorpusSize.objects.exists()


def test_batches_are_embedded_in_parallel(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(loading, "BATCH", 1)
    settings.EMBEDDING_THREADS = 2
    together = threading.Barrier(2)

    def embed(self: LocalEmbedder, texts: list[str]) -> Any:
        together.wait(timeout=60)  # fails unless another is embedded at the same time
        return np.ones((len(texts), self.dimension), dtype=np.float32) / np.sqrt(self.dimension)

    monkeypatch.setattr(LocalEmbedder, "embed_documents", embed)
    assert ": 4 added" in benchmark.load(questions=False)


def test_a_switch_of_models_is_reported(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(*args: object) -> None:
        raise vectors.SpaceChanged

    monkeypatch.setattr(vectors, "insert_into_active", change)
    with pytest.raises(CommandError, match="model was switched meanwhile"):
        benchmark.load()
    assert not Document.objects.exists()


def test_progress_is_shown(benchmark: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.load(questions=False)
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"_id": "x", "text": "y"', "line 2: this is not valid JSON (Expecting ',' delimiter at character 25)"),
        ('["x", "y"]', "line 2: this is not a JSON object"),
        ('{"title": "x", "text": "y"}', "line 2: “_id” is missing"),
        ('{"_id": "", "text": "y"}', "line 2: “_id” must be a non-empty string"),
        ('{"_id": ["x"], "text": "y"}', "line 2: “_id” must be a non-empty string"),
        ('{"_id": "x", "title": "y"}', "line 2: “text” is missing"),
        ('{"_id": "x", "text": 7}', "line 2: “text” must be a string"),
        ('{"_id": "x", "text": "y", "title": 7}', "line 2: “title” must be a string"),
        ('{"_id": "cats", "text": "y"}', "line 2: “_id” cats is already used on line 1"),
        ('{"_id": "' + "x" * 256 + '", "text": "y"}', "line 2: “_id” is longer than 255 characters"),
        ("[" * 100_000, "line 2: this is nested too deeply"),
        ('{"_id": ' + "9" * 5000 + ', "text": "y"}', "line 2: this contains a number with too many digits"),
    ],
)
def test_an_invalid_line_is_reported_and_nothing_is_stored(benchmark: Benchmark, line: str, words: str) -> None:
    lines = benchmark.corpus.read_text(encoding="utf-8").splitlines()
    benchmark.corpus.write_text("\n".join([lines[0], line, *lines[1:]]), encoding="utf-8")
    with pytest.raises(CommandError) as refused:
        benchmark.load()
    assert str(benchmark.corpus) in str(refused.value) and words in str(refused.value)
    assert not Document.objects.exists() and not KnowledgeBase.objects.exists()


def test_invalid_utf8_is_reported(benchmark: Benchmark) -> None:
    benchmark.corpus.write_bytes(b'{"_id": "x", "text": "\xff"}\n')
    with pytest.raises(CommandError, match=r"line 1: this is not UTF-8 text \(byte 23\)"):
        benchmark.load()


def test_characters_the_database_cannot_store_are_dropped(benchmark: Benchmark) -> None:
    benchmark.corpus.write_bytes(b'\xef\xbb\xbf{"_id": 7, "title": null, "text": "a\\u0000b \\ud800 c"}\r\n\r\n')
    assert ": 1 added" in benchmark.load(questions=False)
    assert Document.objects.get(external_id="7").chunks.get().content == "ab  c"


@pytest.mark.parametrize(
    ("qrels", "words"),
    [
        ("h\th\th\nq1\t42\t1\nq9\t42\t1\nq8\t42\t1\n", "2 lines name queries that aren't in the queries file"),
        ("h\th\th\nq1\tdog\t1\n", "1 line names a passage that isn't in the corpus (line 2: dog)"),
        ("h\th\th\nq1\t42\n", "line 2: expected three tab-separated fields"),
        ("h\th\th\nq1\t42\tgood\n", "line 2: the grade must be a whole number, not “good”"),
        ("h\th\th\nq1\t42\t1\nq1\t42\t2\n", "line 3: this pair has a different grade on line 2"),
        ("h\th\th\nq1\t42\t0\n", "has no relevant passage for any of the queries"),
        ("", "has no relevant passage for any of the queries"),
    ],
)  # fmt: skip
def test_invalid_qrels_are_refused(benchmark: Benchmark, qrels: str, words: str) -> None:
    benchmark.qrels.write_text(qrels, encoding="utf-8")
    with pytest.raises(CommandError) as refused:
        benchmark.load()
    assert words in str(refused.value) and str(benchmark.qrels) in str(refused.value)
    assert not Document.objects.exists()


def test_qrels_without_a_header_lose_no_line(benchmark: Benchmark) -> None:
    benchmark.qrels.write_text("q1\t42\t1\r\nq2\tstats\t2\r\n", encoding="utf-8")
    assert "Questions of the set 'Small': 2," in benchmark.load()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"user": "nobody"}, "There is no user 'nobody'."),
        ({"corpus": Path("/nowhere/c.jsonl")}, "/nowhere/c.jsonl can't be read: No such file or directory"),
        ({"corpus": Path("/")}, "/ can't be read: Is a directory"),
        ({"qrels": None}, "--queries and --qrels must be used together"),
        ({"queries": Path("/nowhere/q.jsonl")}, "/nowhere/q.jsonl can't be read"),
        ({"queries": None, "qrels": None, "set": "X"}, "--set requires --queries and --qrels"),
    ],
)
def test_invalid_arguments_are_reported(benchmark: Benchmark, options: dict[str, Any], words: str) -> None:
    from django.core.management import call_command

    given = {"queries": benchmark.queries, "qrels": benchmark.qrels, "user": "owner"} | options
    corpus = given.pop("corpus", benchmark.corpus)
    with pytest.raises(CommandError) as refused:
        call_command("load_corpus", corpus, knowledge_base="Small", **given)
    assert words in str(refused.value)


def test_an_empty_corpus_is_refused(benchmark: Benchmark) -> None:
    benchmark.corpus.write_text("\n\n")
    with pytest.raises(CommandError, match="contains no passages"):
        benchmark.load()


def test_a_shared_base_is_used(benchmark: Benchmark, owner: User, colleague: User) -> None:
    shared = factories.make_knowledge_base(colleague, "Small")
    factories.share(shared, owner, "editor")
    benchmark.load()
    assert shared.documents.count() == 4
    assert EvaluationSet.objects.get().owner == owner

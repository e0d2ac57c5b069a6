"""`manage.py evaluate`."""

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from knowledge.models import Chunk, KnowledgeBase
from retrieval.evaluation import sets
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from tests import factories
from tests.retrieval.evaluation.conftest import Benchmark, write_lines

pytestmark = pytest.mark.django_db(transaction=True)


def evaluate(name: str | Path, base: str = "Small", **options: Any) -> str:
    out = StringIO()
    call_command("evaluate", str(name), knowledge_base=base, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_a_benchmark_is_loaded_and_scored(benchmark: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.load()
    out = evaluate("Small")
    assert out.splitlines()[0] == "Small on Small, hybrid; questions: 2"
    assert re.findall(r"^(\S+) +(\d\.\d{3})$", out, re.MULTILINE) == [
        ("nDCG@10", "1.000"),
        ("recall@5", "1.000"),
        ("recall@10", "1.000"),
        ("MRR@10", "1.000"),
    ]
    counts = dict(re.findall(r"^(answered|nearest|nothing) +(\d+)$", out, re.MULTILINE))
    assert len(counts) == 3 and sum(map(int, counts.values())) == 2
    assert "Asking:   0%" in capsys.readouterr().err
    run = EvaluationRun.objects.get()
    assert run.status == "done" and run.evaluation_set.name == "Small" and run.results.count() == 2


def test_options_are_stored_with_the_run(benchmark: Benchmark) -> None:
    benchmark.load()
    for options in (
        {"mode": "fulltext", "reorder": "off", "reader": "off"},
        {"mode": "vector", "reader": "on"},
        {"rerank": "off", "vector_weight": 0.5, "rrf_constant": 60, "per_document": 1},
    ):
        evaluate("Small", **options)
    assert [run.settings for run in EvaluationRun.objects.order_by("pk")] == [
        {"mode": "fulltext", "reorder": False, "reader": False},
        {"mode": "vector", "reader": True},
        {"mode": "hybrid", "rerank": "off", "vector_weight": 0.5, "rrf_constant": 60, "per_document": 1},
    ]


def test_a_file_is_stored_as_a_set_and_updated(benchmark: Benchmark, tmp_path: Path, owner: User) -> None:
    benchmark.load(questions=False)
    file = write_lines(tmp_path / "golden.jsonl", [{"question": "purrs", "relevant": ["cats"]}])
    assert "golden.jsonl on Small, hybrid; questions: 1" in evaluate(file)
    write_lines(file, [{"question": "ports", "relevant": ["42"]}, {"question": "fish", "relevant": {"zh": 2}}])
    assert "golden.jsonl on Small, hybrid; questions: 2" in evaluate(file)
    kept = EvaluationSet.objects.get(name="golden.jsonl", owner=owner)
    assert list(kept.questions.values_list("text", flat=True)) == ["ports", "fish"]
    assert kept.runs.count() == 2


def test_relevant_documents_and_chunks(tmp_path: Path, base: KnowledgeBase, fill: Callable[..., list[Chunk]]) -> None:
    _warranty, returns = fill("The warranty lasts two years.", "Goods may be returned within thirty days.")
    fill("Tea is made of leaves.", filename="Tea.pdf")
    questions = [
        {"question": "warranty", "relevant": ["Handbook.pdf"]},
        {"question": "returned goods", "relevant": [returns.pk]},
        {"question": "leaves", "relevant": [{"document": "Tea.pdf", "text": "Tea is made of leaves."}]},
    ]
    out = evaluate(write_lines(tmp_path / "q.jsonl", questions), base.name, mode="fulltext")
    assert "nDCG@10    1.000" in out


def test_ambiguous_names_need_a_user(benchmark: Benchmark, owner: User, colleague: User) -> None:
    benchmark.load()
    twin = factories.make_knowledge_base(colleague, "Small")
    with pytest.raises(CommandError, match="Several users have a knowledge base 'Small': colleague, owner"):
        evaluate("Small")
    evaluate("Small", user="owner")
    with pytest.raises(CommandError, match="There is no set 'Small'"):
        evaluate("Small", user="colleague")
    twin.delete()
    base = KnowledgeBase.objects.get()
    factories.share(base, colleague)
    for user in (owner, colleague):
        sets.create_set(user, base, "Twice")
    lines = [line.encode() for line in sets.export(EvaluationSet.objects.get(name="Small"))]
    sets.create_set(colleague, base, "Theirs", sets.parse_questions(lines))
    assert "Theirs on Small" in evaluate("Theirs")
    EvaluationSet.objects.filter(owner=owner, name="Twice").delete()
    factories.make_user("third")
    sets.create_set(User.objects.get(username="third"), base, "Twice")
    with pytest.raises(CommandError, match="Several users have a set named 'Twice' on 'Small': colleague, third"):
        evaluate("Twice", user="owner")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "Nope"}, "There is no set 'Nope'. Sets of 'Small': Small."),
        ({"name": "/nowhere/q.jsonl"}, "There is no file '/nowhere/q.jsonl'. Sets of 'Small': Small."),
        ({"name": "n" * 300}, f"There is no set {'n' * 300!r}. Sets of 'Small': Small."),
        ({"base": "Nope"}, "There is no knowledge base 'Nope'. Existing ones: Small."),
        ({"user": "nobody"}, "There is no user 'nobody'."),
        ({"user": "stranger"}, "There is no knowledge base 'Small' that stranger may read. There are none yet."),
        ({"rrf_constant": 0}, "“rrf_constant” must be a whole number of at least 1."),
    ],
)
def test_errors_are_one_line(benchmark: Benchmark, stranger: User, given: dict[str, Any], words: str) -> None:
    benchmark.load()
    with pytest.raises(CommandError) as refused:
        evaluate(**{"name": "Small"} | given)
    assert str(refused.value) == words
    assert not EvaluationRun.objects.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("nonsense", "line 1: this is not valid JSON"),
        ("", "This file contains no questions."),
        ('{"question": "q", "relevant": ["here"]}', "is not in this knowledge base: here (line 1)"),
    ],
)  # fmt: skip
def test_an_invalid_file_leaves_no_set(benchmark: Benchmark, tmp_path: Path, content: str, words: str) -> None:
    benchmark.load(questions=False)
    (tmp_path / "q.jsonl").write_text(content)
    with pytest.raises(CommandError) as refused:
        evaluate(tmp_path / "q.jsonl")
    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert not EvaluationSet.objects.exists()


def test_missed_passages_are_stored_with_their_text(benchmark: Benchmark) -> None:
    benchmark.load()
    evaluate("Small", mode="fulltext", bm25_threshold=1000.0)
    missed = EvaluationRun.objects.get().results.order_by("pk")[0].missed
    assert [item["snippet"] for item in missed] == ["The TL-SE2109 switch has eight gigabit ports."]
    assert Chunk.objects.get(pk=missed[0]["chunk_id"]).document_id == missed[0]["document_id"]


def test_notes_are_printed_to_stderr(benchmark: Benchmark) -> None:
    benchmark.load()
    KnowledgeBase.objects.get().documents.filter(external_id="42").delete()
    err = StringIO()
    call_command("evaluate", "Small", knowledge_base="Small", stdout=StringIO(), stderr=err)
    assert "1 question was skipped" in err.getvalue()

"""A small benchmark: a corpus, queries and qrels as files, and a base with an indexed document."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from knowledge.models import Chunk, KnowledgeBase
from tests import factories

PASSAGES = [
    {"_id": "cats", "title": "Cats", "text": "A cat purrs when it is content."},
    {"_id": "42", "title": "", "text": "The TL-SE2109 switch has eight gigabit ports."},
    {"_id": "stats", "title": "PostgreSQL", "text": "The planner keeps statistics about the columns of a table."},
    {"_id": "zh", "title": "猫", "text": "狸花猫喜欢晒太阳，也喜欢吃鱼。"},
]
QUERIES = [
    {"_id": "q1", "text": "How many ports does the TL-SE2109 have?"},
    {"_id": "q2", "text": "statistics of a table"},
    {"_id": "q3", "text": "a query that nothing is known to answer"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\t42\t1\nq2\tstats\t2\nq2\tcats\t0\n"


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


@dataclass
class Benchmark:
    """The files of a benchmark, and `load`, which calls the command and returns its output."""

    corpus: Path
    queries: Path
    qrels: Path

    def load(self, *, questions: bool = True, name: str = "Small", **options: Any) -> str:
        out = StringIO()
        if questions:
            options = {"queries": self.queries, "qrels": self.qrels} | options
        call_command("load_corpus", self.corpus, knowledge_base=name, user="owner", stdout=out, **options)
        return out.getvalue()


@pytest.fixture
def benchmark(tmp_path: Path, owner: User) -> Benchmark:
    (tmp_path / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    return Benchmark(
        write_lines(tmp_path / "corpus.jsonl", PASSAGES),
        write_lines(tmp_path / "queries.jsonl", QUERIES),
        tmp_path / "qrels.tsv",
    )


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return factories.make_knowledge_base(owner, "Handbooks")


@pytest.fixture
def fill(base: KnowledgeBase) -> Callable[..., list[Chunk]]:
    """Return a function that adds an indexed document of some passages."""

    def add(*passages: str, filename: str = "Handbook.pdf") -> list[Chunk]:
        document = factories.make_document(base, filename)
        chunks = factories.make_chunks(document, passages)
        factories.index_document(document.pk)
        return chunks

    return add

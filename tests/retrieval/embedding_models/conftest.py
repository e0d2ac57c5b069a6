"""A site with a few passages and a question set, model files that suit them better, and a hub."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from huggingface_hub import constants
from pytest_django import Settings

from knowledge.models import Chunk, KnowledgeBase
from ragsite.llm.embedding import embedding
from retrieval.embedding_models import jobs, registry
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.evaluation import sets
from retrieval.evaluation.models import EvaluationSet
from tests import factories
from tests.fakes.hub import FakeHub
from tests.ragsite.llm import embedder

# Made-up words: only the model in the files can know that they are synonyms.
PAIRS = [("brolt", "quandle"), ("vasp", "merk"), ("tunder", "oxil"), ("gribe", "sloon"), ("pallow", "wix")]


@pytest.fixture(autouse=True)
def _own_data(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DATA_DIR = tmp_path / "data"
    cache.clear()
    monkeypatch.setattr(embedding, "_embedders", {})


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    words = [*(f"{one}|{other}" for one, other in PAIRS), "the", "shelf", "holds"]
    return embedder.write(tmp_path / "stick" / "pairs", dimension=24, words=words)


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    knowledge_base = factories.make_knowledge_base(owner, name="Store")
    document = factories.make_document(knowledge_base, language="en")
    things = [*(f"number {number}" for number in range(40)), *(one for one, _other in PAIRS)]
    factories.make_chunks(document, [f"The shelf holds {thing}." for thing in things])
    factories.index_document(document.pk)
    return knowledge_base


@pytest.fixture
def golden(base: KnowledgeBase, owner: User) -> EvaluationSet:
    made = sets.create_set(owner, base, "Golden")
    for one, other in PAIRS:
        sets.add_question(made, other, [Chunk.objects.get(content__contains=one).pk])
    return made


@pytest.fixture
def fake_hub(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with FakeHub() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        server.serve("Qdrant/all-MiniLM-L6-v2-onnx", Path(settings.BUNDLED_MODEL_DIR))
        yield server


def add(stick: Path, name: str = "pairs") -> RegisteredModel:
    model = registry.register(name, registry.Source.FILES)
    jobs.run(model, ModelJob.Kind.ADD, lambda done, total: None, lambda line: None, {"origin": str(stick)})
    return model


def done(job: ModelJob) -> ModelJob:
    """Run a queued job as a worker does, and return it afterwards."""
    jobs.execute(job.pk)
    job.refresh_from_db()
    return job

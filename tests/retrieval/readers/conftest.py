"""A site with a question set, and another kind of reader in its data folder, which knows one word."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from pytest_django import Settings

from knowledge.models import Chunk
from ragsite.llm.reranking import reader
from retrieval.evaluation import sets
from retrieval.evaluation.models import EvaluationSet
from tests import factories
from tests.ragsite.llm import reading_model

CARD = "---\nlicense: mit\nlanguage: [en, zh]\n---\n"


@pytest.fixture(autouse=True)
def _own_data(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    settings.READER_MODEL = "off"
    cache.clear()
    reader.forget_readers()


@pytest.fixture
def tiny() -> Path:
    """A reader that always prefers the fifth shelf."""
    folder = reading_model.write(
        reader.own_folder() / "tiny", {"five": 9.0}, calibration={"answers": [1, 0], "blend": 99}
    )
    (folder / "README.md").write_text(CARD)
    return folder


@pytest.fixture
def golden(owner: User) -> EvaluationSet:
    base = factories.make_knowledge_base(owner, name="Store")
    document = factories.make_document(base, language="en")
    shelves = "one", "two", "three", "four", "five"
    factories.make_chunks(document, [f"The shelf number {each} holds bolts." for each in shelves])
    factories.index_document(document.pk)
    made = sets.create_set(owner, base, "Golden")
    right = Chunk.objects.get(content__contains="five").pk
    sets.add_question(made, "Which shelf holds bolts?", [right])
    sets.add_question(made, "What does the shelf number one hold?", [right])
    return made

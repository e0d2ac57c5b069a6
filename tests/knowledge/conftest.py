"""Fixtures for the tests of knowledge bases."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from knowledge import services
from knowledge.models import Document, KnowledgeBase
from tests import factories
from tests.fakes import indexer as fakes
from tests.fakes.indexer import FakeIndexer

TEXT = b"# Tea\n\nGreen tea is steeped at 80 degrees.\n\n# Coffee\n\nCoffee is brewed at 93 degrees.\n"


@pytest.fixture
def base(owner: User, colleague: User) -> KnowledgeBase:
    """A private base of the owner's, shared with the colleague for reading."""
    made = factories.make_knowledge_base(owner, "Drinks")
    factories.share(made, colleague)
    return made


@pytest.fixture
def indexer(settings: Any, monkeypatch: pytest.MonkeyPatch) -> FakeIndexer:
    """An indexer that indexes nothing, so that no model is loaded."""
    made = FakeIndexer()
    monkeypatch.setattr(fakes, "made", lambda: made, raising=False)
    settings.INDEXER = f"{fakes.__name__}.made"
    return made


def upload_of(name: str = "drinks.md", content: bytes = TEXT) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def add(base: KnowledgeBase, name: str = "drinks.md", content: bytes = TEXT) -> Document:
    """Upload as the owner."""
    return services.add_document(base, base.owner, name, upload_of(name, content)).document

"""What tests of the knowledge room share."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from knowledge import services
from knowledge.models import Document, KnowledgeBase
from knowledge.signals import document_chunked, indexing_due
from tests import factories

TEXT = b"# Tea\n\nGreen tea is steeped at 80 degrees.\n\n# Coffee\n\nCoffee is brewed at 93 degrees.\n"


@pytest.fixture
def base(owner: User, colleague: User) -> KnowledgeBase:
    """A private base of the owner's, shared with the colleague for reading."""
    made = factories.make_knowledge_base(owner, "Drinks")
    factories.share(made, colleague)
    return made


@pytest.fixture
def no_index() -> Iterator[None]:
    """Nobody listens when a document is to be indexed, so that no model is loaded."""
    kept = [(signal, signal.receivers) for signal in (document_chunked, indexing_due)]
    for signal, _ in kept:
        signal.receivers = []
        signal.sender_receivers_cache.clear()
    yield
    for signal, receivers in kept:
        signal.receivers = receivers
        signal.sender_receivers_cache.clear()


def upload_of(name: str = "drinks.md", content: bytes = TEXT) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def add(base: KnowledgeBase, name: str = "drinks.md", content: bytes = TEXT) -> Document:
    """Upload as the owner."""
    return services.add_document(base, base.owner, name, upload_of(name, content)).document

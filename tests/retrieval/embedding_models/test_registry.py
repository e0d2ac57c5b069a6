"""What the site notes of models that it meets."""

import pytest
from pytest_django import Settings

from retrieval.embedding_models import registry
from retrieval.embedding_models.models import RegisteredModel

pytestmark = pytest.mark.django_db


def test_an_endpoint_that_no_language_is_named_for_knows_all(settings: Settings) -> None:
    """As its embedder says: else Chinese questions would lose the vote of the vectors."""
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "text-embedding-3-small"
    settings.EMBEDDING_BASE_URL = "http://models/v1"
    registry.all_models()
    assert RegisteredModel.objects.get(name="text-embedding-3-small").languages == []

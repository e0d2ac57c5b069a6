"""Registration of models that nobody added."""

import pytest
from pytest_django import Settings

from retrieval.embedding_models import registry
from retrieval.embedding_models.models import RegisteredModel

pytestmark = pytest.mark.django_db


def test_an_endpoint_knows_all_languages_by_default(settings: Settings) -> None:
    """Its embedder says so: otherwise Chinese questions wouldn't use vectors."""
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "text-embedding-3-small"
    settings.EMBEDDING_BASE_URL = "http://models/v1"
    registry.all_models()
    assert RegisteredModel.objects.get(name="text-embedding-3-small").languages == []

"""Embedding spaces: creation, their models, and settings that name another model."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from django.core.checks import Tags, run_checks
from django.db import connection
from numpy.typing import NDArray
from pytest_django import Settings

from ragsite.llm.embedding.embedding import EmbeddingModel
from ragsite.llm.errors import Unauthorized
from retrieval.engine import partitions, spaces
from retrieval.models import EmbeddingSpace
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db


def use_endpoint(settings: Settings, provider: FakeProvider, model: str = "first", key: str = "my-key") -> None:
    settings.EMBEDDING_PROVIDER = "openai"
    settings.EMBEDDING_BASE_URL, settings.EMBEDDING_API_KEY = provider.base_url, key
    settings.EMBEDDING_MODEL = model
    settings.EMBEDDING_GIVEN = ("EMBEDDING_PROVIDER", "EMBEDDING_MODEL")


def warnings() -> list[str]:
    found = run_checks(tags=[Tags.database], databases=["default"])
    return [f"{message.msg} {message.hint}" for message in found if message.id == "retrieval.W001"]


def test_the_first_use_makes_one_active_space_with_its_languages() -> None:
    space = spaces.active_space()
    assert spaces.active_space() == space
    assert (space.active, space.dimension, space.filled) == (True, 384, True)
    assert space.languages == spaces.embedder_of(space).languages
    assert space.knows("en")
    assert space.knows("zh")
    assert not space.knows("ar")
    assert partitions.has_index(space)


def test_a_space_keeps_the_dimension_of_its_table() -> None:
    space = spaces.active_space()
    with pytest.raises(Exception, match=f"{space.table_name}_dimension"), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {space.table_name} (chunk_id, space_id, knowledge_base_id, embedding)"
            f" VALUES (1, {space.pk}, 1, '[1,2]')"
        )


@pytest.mark.parametrize(("setting", "languages"), [((), []), (("en",), ["en"]), (("en", "zh"), ["en", "zh"])])
def test_languages_can_be_set(settings: Settings, setting: tuple[str, ...] | None, languages: list[str]) -> None:
    settings.EMBEDDING_LANGUAGES = setting
    assert spaces.active_space().languages == languages


def test_query_vectors_are_cached_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    space = spaces.active_space()
    monkeypatch.setattr(spaces, "CACHED_QUERIES", 2)
    first = spaces.embed_query(space, "one")
    assert spaces.embed_query(space, "one") is first
    spaces.embed_query(space, "two")
    spaces.embed_query(space, "three")
    assert spaces.embed_query(space, "one") is not first
    assert len(spaces._cache) == 2


def test_a_space_keeps_its_endpoint_if_the_settings_name_another_model(
    settings: Settings, provider: FakeProvider
) -> None:
    use_endpoint(settings, provider)
    space = spaces.active_space()
    assert b"my-key" not in bytes(space.encrypted_key)
    assert not warnings()
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL, settings.EMBEDDING_API_KEY = "local", "bundled", ""
    assert spaces.active_space() == space
    assert spaces.embed_query(space, "a question").shape == (32,)
    assert provider.requests[-1]["model"] == "first"
    assert provider.headers[-1]["Authorization"] == "Bearer my-key"
    (warning,) = warnings()
    assert "'bundled' (local)" in warning
    assert "'first' (openai, 32 dimensions)" in warning
    assert "manage.py reembed" in warning


def test_a_new_key_in_the_settings_is_used(settings: Settings, provider: FakeProvider) -> None:
    use_endpoint(settings, provider)
    space = spaces.active_space()
    settings.EMBEDDING_API_KEY = "another-key"
    spaces.embed_query(space, "another question")
    assert provider.headers[-1]["Authorization"] == "Bearer another-key"


def test_an_unreadable_key_is_reported(settings: Settings, provider: FakeProvider) -> None:
    use_endpoint(settings, provider)
    space = spaces.active_space()
    settings.EMBEDDING_MODEL = "second"
    settings.SECRET_KEY = "another"
    with pytest.raises(Unauthorized):
        spaces.embedder_of(space)


def test_the_dimension_of_the_settings_is_another_space(settings: Settings, provider: FakeProvider) -> None:
    use_endpoint(settings, provider)
    settings.EMBEDDING_DIMENSION = 16
    space = spaces.active_space()
    assert space.dimension == 16
    assert spaces.embed_query(space, "short").shape == (16,)
    assert provider.requests[-1]["dimensions"] == 16
    settings.EMBEDDING_DIMENSION = 32
    assert not space.is_configured


class _Slow:
    """A model that signals when it is called, and starts on a signal."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun, self.go_on, self.asked, self._error = threading.Event(), threading.Event(), 0, error

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.asked += 1
        self.begun.set()
        assert self.go_on.wait(30)
        if self._error is not None:
            raise self._error
        return np.ones(3, np.float32)


@pytest.mark.parametrize("error", [None, Unauthorized("No.")])
def test_simultaneous_requests_compute_a_vector_once(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    space, model = EmbeddingSpace(pk=987_655), _Slow(error)
    monkeypatch.setattr(spaces, "embedder_of", lambda space: model)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(spaces.embed_query, space, f"asked twice: {error}")
        assert model.begun.wait(30)
        (pending,) = spaces._computed.values()
        waits = threading.Event()
        result = pending.result
        monkeypatch.setattr(pending, "result", lambda: (waits.set(), result())[1])
        second = threads.submit(spaces.embed_query, space, f"asked twice: {error}")
        assert waits.wait(30)
        model.go_on.set()
        assert [type(future.exception(30)) for future in (first, second)] == [type(error)] * 2
    assert (model.asked, spaces._computed) == (1, {})


def test_a_question_in_both_scripts_has_one_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    space, asked = EmbeddingSpace(pk=987_656), []
    model = SimpleNamespace(embed_query=lambda text: asked.append(text) or np.ones(3, np.float32))
    monkeypatch.setattr(spaces, "embedder_of", lambda space: model)
    spaces.embed_query(space, "運費由誰承擔？")
    spaces.embed_query(space, "运费由谁承担？")
    assert asked == ["运费由谁承担？"]


def test_a_dropped_space_leaves_nothing() -> None:
    space = spaces.find_or_create(EmbeddingModel("local", "bundled"), 384)
    assert space.counts.count() == 0
    partitions.build_index(space)
    partitions.drop(space)
    assert not EmbeddingSpace.objects.exists()
    assert not partitions.has_index(space)
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [space.table_name])
        assert cursor.fetchone() == (None,)


def test_tables_left_by_a_flush_are_dropped() -> None:
    gone = EmbeddingSpace(pk=987_654, model="gone", dimension=3)
    partitions.create(gone)
    kept = spaces.active_space()
    assert partitions.drop_orphans() == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s), to_regclass(%s)", [gone.table_name, kept.table_name])
        assert cursor.fetchone() == (None, kept.table_name)


def test_an_interrupted_index_is_invalid() -> None:
    space = spaces.active_space()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [space.index_name])
    assert not partitions.has_index(space)
    partitions.build_index(space)
    assert partitions.has_index(space)

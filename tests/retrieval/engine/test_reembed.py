"""`manage.py reembed`: switching models while search and ingestion go on, with failures and interruptions."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import count
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections, transaction
from django.db.backends.utils import CursorWrapper
from pytest_django import Settings

from knowledge.models import Chunk, KnowledgeBase
from ragsite.llm.embedding.embedding import EmbeddingModel
from retrieval.engine import engine, indexing, partitions, reembedding, spaces, vectors
from retrieval.models import EmbeddingSpace, Vector, VectorCount
from tests import factories
from tests.fakes.provider import FakeProvider
from tests.retrieval.engine.test_spaces import use_endpoint

pytestmark = pytest.mark.django_db(transaction=True)

COUNT = 60
_COMMAND = """
import django, sys
django.setup()
from django.core.management import call_command
from django.db import connection
from retrieval.engine import reembedding
reembedding.WINDOW = 4
connection.settings_dict["NAME"] = sys.argv[1]
call_command("reembed", "--model", "second")
"""


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch, settings: Settings, provider: FakeProvider) -> None:
    monkeypatch.setattr(reembedding, "WINDOW", 8)
    provider.embeddings.dimension = 64
    use_endpoint(settings, provider)


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    knowledge_base = factories.make_knowledge_base(owner)
    for start in range(0, COUNT, 20):
        add(knowledge_base, start, 20)
    return knowledge_base


def text_of(number: int) -> str:
    return f"passage{number} speaks of topic{number * 7} and of place{number * 13}"


def add(knowledge_base: KnowledgeBase, start: int, count: int) -> None:
    """Ingest a document of `count` passages."""
    document = factories.make_document(knowledge_base)
    factories.make_chunks(document, map(text_of, range(start, start + count)))
    factories.index_document(document.pk)


def reembed(*arguments: str) -> str:
    out = StringIO()
    call_command("reembed", *arguments, stdout=out)
    return out.getvalue()


def similarity(knowledge_base: KnowledgeBase, number: int) -> float:
    """Search for a passage by its own text, and return its similarity, which is 1 only within one space."""
    space = spaces.active_space()
    found = vectors.search(space, spaces.embed_query(space, text_of(number)), [knowledge_base.pk], 3)
    return next((score for pk, score, _language in found if Chunk.objects.get(pk=pk).content == text_of(number)), 0.0)


def assert_searched_by(model: str, knowledge_base: KnowledgeBase, passages: int = COUNT) -> None:
    space = EmbeddingSpace.objects.get(active=True)
    assert space.model == model
    assert Vector.objects.filter(space=space).count() == passages
    assert VectorCount.objects.get(space=space, knowledge_base=knowledge_base).vectors == passages
    assert [similarity(knowledge_base, number) for number in range(0, passages, 9)] == pytest.approx(
        [1.0] * len(range(0, passages, 9)), abs=1e-3
    )


def test_another_model_takes_over(base: KnowledgeBase, provider: FakeProvider) -> None:
    old = spaces.active_space()
    provider.embeddings.texts.clear()
    output = reembed("--model", "second")
    assert_searched_by("second", base)
    assert partitions.has_index(spaces.active_space())
    assert sorted(provider.embeddings.texts).count(text_of(1)) == 1
    assert EmbeddingSpace.objects.count() == 1
    assert Vector.objects.count() == COUNT
    assert f"Deleted: {old}" in output
    assert "Set EMBEDDING_PROVIDER=openai and EMBEDDING_MODEL=second" in output


def test_the_model_in_the_settings_is_the_default(
    base: KnowledgeBase, provider: FakeProvider, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = "second"
    # The defaults of options are those that the command was loaded with.
    arguments = ("--model", "second", "--provider", "openai", "--base-url", provider.base_url)
    assert "Set EMBEDDING" not in reembed(*arguments)
    provider.embeddings.texts.clear()
    assert "Search now uses second (64)." in reembed(*arguments)
    assert not [text for text in provider.embeddings.texts if text.startswith("passage")]
    assert_searched_by("second", base)


def test_old_vectors_can_be_kept_and_used_again(base: KnowledgeBase, provider: FakeProvider) -> None:
    reembed("--model", "second", "--keep-old")
    assert EmbeddingSpace.objects.count() == 2
    assert Vector.objects.count() == 2 * COUNT
    provider.embeddings.texts.clear()
    reembed("--model", "first")
    assert not [text for text in provider.embeddings.texts if text.startswith("passage")]
    assert_searched_by("first", base)
    assert EmbeddingSpace.objects.count() == 1


def test_another_dimension_is_another_space(base: KnowledgeBase) -> None:
    reembed("--model", "first", "--dimension", "16", "--languages", "en,zh")
    assert_searched_by("first", base)
    space = spaces.active_space()
    assert (space.dimension, space.languages) == (16, ["en", "zh"])


def test_a_failing_endpoint_loses_nothing(base: KnowledgeBase, provider: FakeProvider) -> None:
    for _ in range(3):
        provider.reply("")  # the usual answer
    provider.fail(401)
    with pytest.raises(CommandError, match=r"rejected the API key(.|\n)*run the same command again to continue"):
        reembed("--model", "second")
    assert_searched_by("first", base)
    stored = Vector.objects.filter(space__model="second").count()
    assert 0 < stored < COUNT
    provider.embeddings.texts.clear()
    reembed("--model", "second")
    assert len([text for text in provider.embeddings.texts if text.startswith("passage")]) == COUNT - stored
    assert_searched_by("second", base)


def test_unusable_models_are_refused(base: KnowledgeBase, provider: FakeProvider) -> None:
    provider.embeddings.manner = "garbage"
    with pytest.raises(CommandError, match="didn't return the requested vectors"):
        reembed("--model", "second")
    with pytest.raises(CommandError, match="is not a folder"):
        reembed("--provider", "local", "--model", "/no/such/folder")
    assert EmbeddingSpace.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--base-url", "ftp://host"], "http://"),
        (["--dimension", "0"], "1 to 4000"),
        (["--languages", "en,fr"], "'fr'"),
        (["--provider", "openai", "--base-url", "http://x/v1", "--model", ""], "--model"),
    ],
)
def test_bad_options_are_named(arguments: list[str], complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        reembed(*arguments)


def test_an_interruption_says_how_to_continue(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reembedding, "reembed", interrupt)
    with pytest.raises(CommandError, match="run the same command again to continue"):
        call_command("reembed", "--model", "second")


def test_two_at_once_are_refused(base: KnowledgeBase) -> None:
    with elsewhere() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [reembedding._LOCK])
        with pytest.raises(CommandError, match="Another reembed is running"):
            reembed("--model", "second")
        cursor.execute("SELECT pg_advisory_unlock(%s)", [reembedding._LOCK])
    reembed("--model", "second")
    assert_searched_by("second", base)


@contextmanager
def elsewhere() -> Iterator[CursorWrapper]:
    """A cursor on a separate connection."""
    other = connection.copy()
    try:
        yield other.cursor()
    finally:
        other.close()


def test_a_running_search_delays_the_drop(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    old = spaces.active_space()
    reembed("--model", "second", "--keep-old")
    monkeypatch.setattr(partitions, "LOCK_ATTEMPTS", 2)
    monkeypatch.setattr(partitions, "LOCK_PATIENCE_MS", 20)
    with elsewhere() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"SELECT count(*) FROM {old.table_name}")
        with pytest.raises(partitions.Busy):
            reembedding.drop_others()
        assert EmbeddingSpace.objects.filter(pk=old.pk).exists()
        cursor.execute("COMMIT")
    assert reembedding.drop_others() == [str(old)]


async def test_a_search_during_the_drop_uses_the_new_space(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragsite.db import in_database

    old = await in_database(spaces.active_space)
    await in_database(reembed, "--model", "second")
    monkeypatch.setattr(spaces, "_seen", (time.monotonic(), old))
    monkeypatch.setattr(spaces, "ACTIVE_SPACE_SECONDS", 60.0)
    found = await engine.search_vectors(text_of(5), [base.pk], 1)
    assert (await Chunk.objects.aget(pk=found[0][0])).content == text_of(5)
    assert spaces.cached_active_space() != old


async def test_the_active_space_is_looked_up_regularly(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    active = spaces.active_space

    def ask() -> EmbeddingSpace:
        asked.append(1)
        return active()

    monkeypatch.setattr(spaces, "active_space", ask)
    spaces.forget_active_space()
    monkeypatch.setattr(spaces, "ACTIVE_SPACE_SECONDS", 60.0)
    for _search in range(3):
        await engine.search_vectors(text_of(5), [base.pk], 1)
    assert len(asked) == 1
    monkeypatch.setattr(spaces, "ACTIVE_SPACE_SECONDS", 0.0)
    await engine.search_vectors(text_of(5), [base.pk], 1)
    assert len(asked) == 2


def test_vectors_stored_before_the_switch_are_found_after_it(base: KnowledgeBase) -> None:
    old = spaces.active_space()
    new = spaces.find_or_create(EmbeddingModel("openai", "second", old.base_url, "my-key"), 64)
    assert not reembedding._switched(new, COUNT - 1)
    assert spaces.active_space() == old
    assert reembedding._switched(new, COUNT)
    assert_searched_by("second", base)
    with pytest.raises(vectors.SpaceChanged):
        vectors.insert_into_active(old, [1], np.ones((1, 64), dtype=np.float32))


def test_the_switch_and_storing_workers_wait_for_each_other(base: KnowledgeBase) -> None:
    old = spaces.active_space()
    new = spaces.find_or_create(EmbeddingModel("openai", "second", old.base_url, "my-key"), 64)
    document = factories.make_document(base)
    late = factories.make_chunk(document, text_of(COUNT))
    indexing.index_words(document.pk)
    switch = threading.Thread(target=run_and_close, args=(lambda: reembedding._switched(new, None),))
    with transaction.atomic():
        vectors.insert_into_active(old, [late.pk], spaces.embedder_of(old).embed_documents([late.content]))
        switch.start()
        switch.join(0.4)
        assert switch.is_alive()
    switch.join(120)
    assert_searched_by("second", base, COUNT + 1)


def run_and_close(work: Callable[[], object]) -> None:
    try:
        work()
    finally:
        connections.close_all()


def test_search_and_ingestion_survive_kill_and_resumption(base: KnowledgeBase, provider: FakeProvider) -> None:
    killed = hold_second_model(provider, COUNT // 2)
    with someone_searches(base) as problems, someone_ingests(base) as added:
        old = spaces.active_space()
        process = start_reembed(provider)
        filled = Vector.objects.filter(space__model="second")
        while filled.count() < 8:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.wait()
        killed.set()
        assert spaces.active_space() == old
        assert 8 <= filled.count() < COUNT
        provider.requests.clear()
        reembed("--model", "second")
        asked = [body["input"] for body in provider.requests if body["model"] == "second"]
        again = [text for texts in asked if len(texts) > 1 for text in texts]  # a single text comes from a search
        assert again and text_of(0) not in again
        time.sleep(0.3)
    assert not problems
    assert added
    assert_searched_by("second", base, COUNT + 4 * len(added))
    assert EmbeddingSpace.objects.count() == 1


def hold_second_model(provider: FakeProvider, texts: int) -> threading.Event:
    """Let the second model embed no more than so many texts until the returned event is set."""
    go_on, reply, asked = threading.Event(), provider.embeddings.reply, count()

    def held(body: dict[str, Any]) -> dict[str, Any] | bytes:
        if body["model"] == "second" and [next(asked) for _ in body["input"]][-1] >= texts:
            go_on.wait(120)
        return reply(body)

    provider.embeddings.reply = held  # type: ignore[method-assign]
    return go_on


def start_reembed(provider: FakeProvider) -> "subprocess.Popen[bytes]":
    """Run the command in a separate process, on this test's database."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "ragsite.settings",
        "EMBEDDING_PROVIDER": "openai",
        "EMBEDDING_BASE_URL": provider.base_url,
        "EMBEDDING_API_KEY": "my-key",
        "EMBEDDING_MODEL": "first",
    }
    name = str(connection.settings_dict["NAME"])
    return subprocess.Popen([sys.executable, "-c", _COMMAND, name], env=environment, stderr=subprocess.DEVNULL)


@contextmanager
def someone_searches(base: KnowledgeBase) -> Iterator[list[str]]:
    """Search for one passage after the other; collect errors."""
    problems: list[str] = []

    async def ask(number: int) -> None:
        found = await engine.search_vectors(text_of(number), [base.pk], 3)
        best = [(await Chunk.objects.aget(pk=pk)).content for pk, score in found if score > 0.999]
        if text_of(number) not in best:
            problems.append(f"{number}: {found}")

    with repeated(lambda step: asyncio.run(ask(step % COUNT)), problems):
        yield problems


@contextmanager
def someone_ingests(base: KnowledgeBase) -> Iterator[list[int]]:
    """Ingest documents of four passages; collect the numbers of their first passages."""
    added: list[int] = []
    problems: list[str] = []

    def ingest(step: int) -> None:
        start = COUNT + 4 * step
        add(base, start, 4)
        added.append(start)

    with repeated(ingest, problems):
        yield added
    assert not problems


@contextmanager
def repeated(work: Callable[[int], object], problems: list[str]) -> Iterator[None]:
    """Repeat `work` in a thread, until the end or until it fails."""
    finished = threading.Event()

    def loop() -> None:
        try:
            for step in count():
                if finished.is_set():
                    return
                work(step)
        except Exception as error:
            problems.append(repr(error))
            raise

    thread = threading.Thread(target=run_and_close, args=(loop,))
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join(120)

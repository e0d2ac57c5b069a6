"""Computing vectors across documents: no work is repeated, and failures affect only their document."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from numpy.typing import NDArray

from knowledge import services
from knowledge.ingestion import claims
from knowledge.ingestion.claims import Claim
from knowledge.models import Document, KnowledgeBase
from ragsite.llm.embedding.local import LocalEmbedder
from ragsite.llm.errors import Unreachable
from retrieval.engine import fulltext, indexing, spaces, vectors
from tests import factories
from tests.retrieval.counts import counted

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "WINDOW", 2)


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return factories.make_knowledge_base(owner)


def test_words_in_the_heading_count_more(base: KnowledgeBase) -> None:
    document = factories.make_document(base)
    below = factories.make_chunk(document, "The pump is oiled.", heading_path=["Care of machines"])
    above = factories.make_chunk(document, "It is oiled, machines care.", heading_path=["Pump"])
    indexing.index_words(document.pk)
    hits = fulltext.search("pump", [base.pk], 2)
    assert [chunk_id for chunk_id, _score in hits] == [above.pk, below.pk]
    assert hits[0][1] > hits[1][1]


def waiting(base: KnowledgeBase, passages: int, word: str = "passage") -> Document:
    """Make documents that are indexed by words and wait for their vectors."""
    document = factories.make_document(base, status="chunked", progress=35, heartbeat_at=None)
    factories.make_chunks(document, [f"{word} number {number}" for number in range(passages)])
    indexing.index_words(document.pk)
    return document


def claim(document: Document) -> Claim:
    held = claims.claim_indexing(document.pk)
    assert held is not None
    return held


def state(document: Document) -> tuple[str, int]:
    document.refresh_from_db()
    return document.status, len(vectors.missing(spaces.active_space(), document.pk))


def test_documents_become_ready_in_one_stream(base: KnowledgeBase) -> None:
    documents = [waiting(base, passages) for passages in (1, 5, 0, 2)]
    indexing.embed_claimed(claim(document) for document in documents)
    assert [state(document) for document in documents] == [("ready", 0)] * 4
    assert counted(base)[1] == 8


def test_existing_vectors_are_not_computed_again(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    document = waiting(base, 5)
    space = spaces.active_space()
    there = vectors.missing(space, document.pk)[:3]
    vectors.insert_into_active(space, there, np.eye(3, space.dimension, dtype=np.float32))
    computed = _count_embedded(monkeypatch)
    indexing.embed_claimed([claim(document)])
    assert sum(computed) == 2
    assert state(document) == ("ready", 0)


def test_a_failure_affects_only_its_document(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad, after = waiting(base, 3), waiting(base, 3, "poison"), waiting(base, 3)
    _count_embedded(monkeypatch, refuse="poison")
    indexing.embed_claimed([claim(good), claim(bad), claim(after), None])
    assert state(bad) == ("failed", 3)
    assert bad.error_code == "unreachable"
    assert state(good) == state(after) == ("ready", 0)


def test_a_large_document_yields_after_its_turn(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "TURN", 4)
    giant = waiting(base, 10)
    indexing.embed_claimed([claim(giant)])
    assert state(giant) == ("chunked", 6)
    assert (giant.progress, giant.heartbeat_at) == (61, None)
    indexing.embed_claimed([claim(giant)])
    assert state(giant) == ("chunked", 2)
    indexing.embed_claimed([claim(giant)])
    assert state(giant) == ("ready", 0)


def test_a_cancelled_document_is_dropped_while_the_others_go_on(base: KnowledgeBase) -> None:
    gone, stays = waiting(base, 9), waiting(base, 3)

    def held() -> Iterator[Claim]:
        taken = claim(gone)
        services.cancel_document(gone)
        taken.lost.set()  # as its heartbeat finds out
        yield taken
        yield claim(stays)

    indexing.embed_claimed(held())
    gone.refresh_from_db()
    assert gone.status == "cancelled"
    assert state(stays) == ("ready", 0)


def test_a_large_document_yields_sooner_if_others_wait(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "WINDOW", 2)
    monkeypatch.setattr(indexing, "TURN_SECONDS", 0.0)
    giant = waiting(base, 10)
    indexing.embed_claimed([claim(giant)])
    assert state(giant) == ("ready", 0)
    giant, other = waiting(base, 10), waiting(base, 1)
    indexing.embed_claimed([claim(giant)])
    assert (state(giant), state(other)) == (("chunked", 8), ("chunked", 1))


def test_a_document_waits_for_another_turn_if_the_space_changes(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = waiting(base, 3)
    store = vectors.insert_into_active

    def changed(*args: Any) -> None:
        raise vectors.SpaceChanged

    monkeypatch.setattr(vectors, "insert_into_active", changed)
    indexing.embed_claimed([claim(document)])
    assert state(document) == ("chunked", 3)
    assert document.heartbeat_at is None
    monkeypatch.setattr(vectors, "insert_into_active", store)
    indexing.embed_claimed([claim(document)])
    assert state(document) == ("ready", 0)


def test_windows_with_their_vectors(base: KnowledgeBase) -> None:
    document = waiting(base, 5)
    space = spaces.active_space()
    ids = vectors.missing(space, document.pk)
    windows = list(indexing.embedded(space, [*ids, 10**9], 2))
    assert [window for window, _ in windows] == [ids[:2], ids[2:4], ids[4:]]
    assert [computed.shape for _, computed in windows] == [(2, space.dimension), (2, space.dimension), (1, 384)]


def test_pending_windows_are_cancelled(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "_threads", lambda: 1)
    document = waiting(base, 12)
    space = spaces.active_space()
    computed = _count_embedded(monkeypatch, pause=0.2)
    windows = indexing.embedded(space, vectors.missing(space, document.pk), 2)
    next(windows)
    windows.close()  # as an interruption does
    assert len(computed) < 3


def test_an_ending_process_fails_no_document(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    document = waiting(base, 3)

    def submit(*arguments: object) -> None:
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    with monkeypatch.context() as patch:
        patch.setattr(indexing.ThreadPoolExecutor, "submit", submit)
        indexing.embed_claimed([claim(document)])
    assert state(document) == ("indexing", 3)  # taken over by another process when it is stale


def _count_embedded(monkeypatch: pytest.MonkeyPatch, refuse: str = "\x00", pause: float = 0) -> list[int]:
    """Count the model's calls by text; refuse texts that contain `refuse`."""
    embed = LocalEmbedder.embed_documents
    counts: list[int] = []

    def counting(self: LocalEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        if any(refuse in text for text in texts):
            raise Unreachable(where="http://models")
        counts.append(len(texts))
        time.sleep(pause)
        return embed(self, texts)

    monkeypatch.setattr(LocalEmbedder, "embed_documents", counting)
    return counts

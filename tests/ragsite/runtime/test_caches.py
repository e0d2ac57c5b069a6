"""Clearing all caches of a process."""

from typing import Any

import pytest

from ragsite.llm.embedding.embedding import EmbeddingModel, get_embedder
from ragsite.runtime import caches


def test_what_is_registered_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_clear", [])
    kept = caches.register({}.clear)
    known = {"a": 1}

    @caches.register
    def forget_all() -> None:
        known.clear()

    assert callable(kept) and known
    caches.clear_all()
    assert not known


def test_embedders_of_endpoints_are_made_anew_and_local_ones_kept(settings: Any) -> None:
    local = EmbeddingModel("local", "BAAI/bge-small-zh-v1.5")
    remote = EmbeddingModel("openai", "other", base_url="http://127.0.0.1:9/v1")
    before = get_embedder(local), get_embedder(remote)
    caches.clear_all()
    assert get_embedder(local) is before[0] and get_embedder(remote) is not before[1]

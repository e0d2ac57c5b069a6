"""A cache of the bundled model's vectors, so that each text is embedded only once per process.

Tests search the same passages again and again, and embedding a text takes as long as the rest of a small test.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from ragsite.llm.embedding.local import BUNDLED, LocalEmbedder

embed = LocalEmbedder._embed
_vectors: dict[str, NDArray[np.float32]] = {}


def _embed(self: LocalEmbedder, texts: list[str]) -> NDArray[np.float32]:
    if self.model != BUNDLED or not texts:
        return embed(self, texts)
    if unknown := [text for text in dict.fromkeys(texts) if text not in _vectors]:
        _vectors.update(zip(unknown, embed(self, unknown), strict=True))
    return np.stack([_vectors[text] for text in texts])


@pytest.fixture(scope="session", autouse=True)
def _remember() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEmbedder, "_embed", _embed)
        yield


@pytest.fixture
def model_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the cache of vectors, for tests of the model."""
    monkeypatch.setattr(LocalEmbedder, "_embed", embed)

"""The passages' vectors: computed and stored in a file for the first ones, drawn around those for the rest."""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from django.conf import settings
from numpy.typing import NDArray
from tqdm import tqdm

from ragsite.llm.embedding.embedding import Embedder
from tests.benchmarks.retrieval.passages import Crossover

WINDOW = 512
# Length of the noise added to a vector of length 1: a drawn vector's cosine similarity to its origin is about 0.9.
NOISE = 0.5


def real(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the texts' vectors, shape (texts, dimension); each window is stored in a file in the data folder.

    So an interrupted run can be resumed, and a larger one reuses what a smaller one computed.
    """
    folder = Path(settings.DATA_DIR) / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    windows = [texts[start : start + WINDOW] for start in range(0, len(texts), WINDOW)]
    return np.concatenate(
        [_window(embedder, window, folder) for window in tqdm(windows, desc="Embedding", file=sys.stderr)]
    )


def _window(embedder: Embedder, texts: Sequence[str], folder: Path) -> NDArray[np.float32]:
    digest = hashlib.blake2b(repr((embedder.provider, embedder.model, texts)).encode(), digest_size=12)
    path = folder / f"{digest.hexdigest()}.npy"
    if not path.exists():
        half_written = path.with_suffix(".new.npy")
        np.save(half_written, embedder.embed_documents(texts))
        half_written.rename(path)
    vectors: NDArray[np.float32] = np.load(path)
    return vectors


def drawn(vectors: NDArray[np.float32], passages: Sequence[Crossover], seed: int) -> NDArray[np.float32]:
    """Return a vector of length 1 for each passage, shape (passages, dimension).

    `vectors` are the computed ones of the first passages, which keep theirs. Any other passage gets the middle between
    those of its halves' origins (or of two of the first, if the origins have none), with noise.
    """
    known = len(vectors)
    first = np.array([passage.first for passage in passages])
    second = np.array([passage.second for passage in passages])
    result: NDArray[np.float32] = vectors[first % known] + vectors[second % known]
    made = (first != second) | (first >= known)
    result /= np.linalg.norm(result, axis=1, keepdims=True)
    dimension = vectors.shape[1]
    noise = np.random.default_rng(seed).standard_normal((int(made.sum()), dimension), dtype=np.float32)
    result[made] += noise * np.float32(NOISE / np.sqrt(dimension))
    result /= np.linalg.norm(result, axis=1, keepdims=True)
    return result


def batches(passages: Iterator[Crossover], size: int) -> Iterator[list[Crossover]]:
    """Yield the passages in lists of `size`."""
    batch: list[Crossover] = []
    for passage in passages:
        batch.append(passage)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch

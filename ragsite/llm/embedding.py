"""Embedding models: texts to vectors, in this process or behind an OpenAI-compatible endpoint."""

import threading
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from ragsite.llm.errors import NotConfigured
from ragsite.llm.local_embedding import LocalEmbedder
from ragsite.llm.remote_embedding import OpenAIEmbedder
from ragsite.llm.types import Endpoint

__all__ = ["Embedder", "LocalEmbedder", "OpenAIEmbedder", "get_embedder"]

_lock = threading.Lock()
_embedders: dict[tuple[str, str], "Embedder"] = {}


class Embedder(Protocol):
    """Turns texts into vectors of one space. The methods block, raise `LLMError`, and are safe from any thread."""

    @property
    def provider(self) -> str:
        """`local` or `openai`."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def dimension(self) -> int:
        """Numbers per vector."""

    @property
    def languages(self) -> list[str]:
        """The languages that the model knows (`en`, `zh`); empty means every language."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of shape (texts, dimension), in the order of the texts, each row of length 1."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return an array of shape (dimension,) and of length 1."""


def get_embedder(provider: str = "local", model: str | None = None) -> Embedder:
    """Return the process's one embedder for a provider (`local` or `openai`) and model.

    Without `model`, `local` takes the one of the settings. Loading waits for the first text.
    Raises `NotConfigured` when the endpoint or its model isn't set.
    """
    name = model or (settings.EMBEDDING_MODEL if provider == "local" else "")
    with _lock:
        if (provider, name) not in _embedders:
            _embedders[provider, name] = _make(provider, name)
        return _embedders[provider, name]


def _make(provider: str, model: str) -> Embedder:
    if provider == "local":
        return LocalEmbedder(model)
    if provider != "openai":
        raise ValueError(f"No embedding provider {provider!r}; it is local or openai.")
    if not settings.LLM_BASE_URL or not model:
        raise NotConfigured("An embedding endpoint takes a base URL and a model.")
    return OpenAIEmbedder(Endpoint(settings.LLM_BASE_URL, settings.LLM_API_KEY, model))

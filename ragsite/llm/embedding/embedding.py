"""Embedding models, in this process or behind an OpenAI-compatible endpoint."""

import threading
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from ragsite.llm.embedding import local
from ragsite.llm.embedding.local import LocalEmbedder
from ragsite.llm.embedding.remote import OpenAIEmbedder
from ragsite.llm.errors import NotConfigured
from ragsite.llm.types import Endpoint
from ragsite.runtime import caches

__all__ = ["Embedder", "EmbeddingModel", "LocalEmbedder", "OpenAIEmbedder", "configured", "get_embedder"]

# Turns texts into vectors of one space. The methods block, raise `LLMError`, and are thread-safe.
Embedder = LocalEmbedder | OpenAIEmbedder
_lock = threading.Lock()
_embedders: dict["EmbeddingModel", Embedder] = {}


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The identity of an embedding model, and how to reach it.

    `provider` is `local` or `openai`; base URL and key are for an endpoint. `dimension` is None for the model's own.
    `languages` is None for those according to its name, and empty for every language. `own_network` is `Endpoint`'s.
    """

    provider: str
    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    dimension: int | None = None
    languages: tuple[str, ...] | None = field(default=None, compare=False)
    own_network: bool | None = None


def configured() -> EmbeddingModel:
    """Return the model in the settings."""
    remote = settings.EMBEDDING_PROVIDER == "openai"
    return EmbeddingModel(
        provider=settings.EMBEDDING_PROVIDER,
        model=settings.EMBEDDING_MODEL,
        base_url=settings.EMBEDDING_BASE_URL if remote else "",
        api_key=settings.EMBEDDING_API_KEY if remote else "",
        dimension=settings.EMBEDDING_DIMENSION,
        languages=settings.EMBEDDING_LANGUAGES,
    )


@caches.register
def forget_remote_embedders() -> None:
    """Forget the embedders of endpoints; those in this process are expensive to load and are kept."""
    for model in [model for model in _embedders if model.base_url]:
        del _embedders[model]


def get_embedder(model: EmbeddingModel | None = None) -> Embedder:
    """Return the process's embedder for a model, by default that in the settings. It is loaded with the first text.

    Raises `NotConfigured` if an endpoint lacks its base URL or model, `LocalModelNotFound` if there is no such local
    model.
    """
    wanted = model or configured()
    with _lock:
        existing = _embedders.get(wanted)
        if existing is not None and (not isinstance(existing, LocalEmbedder) or existing.is_current):
            return existing
        embedder: Embedder
        if wanted.provider == "local":
            embedder = LocalEmbedder(wanted.model)
            if wanted.dimension not in (None, embedder.dimension):
                known = f"that of {wanted.model!r} is {embedder.dimension}"
                raise _not_configured(f"The dimension is set to {wanted.dimension}, but {known}.")
        elif wanted.provider != "openai":
            raise ValueError(f"Unknown embedding provider {wanted.provider!r}; it must be local or openai.")
        elif not wanted.base_url or not wanted.model:
            raise _not_configured("An endpoint needs EMBEDDING_BASE_URL and EMBEDDING_MODEL.")
        else:
            endpoint = Endpoint(
                wanted.base_url,
                wanted.api_key,
                wanted.model,
                connect_timeout=settings.LLM_CONNECT_TIMEOUT,
                idle_timeout=settings.EMBEDDING_TIMEOUT,
                own_network=wanted.own_network,
            )
            embedder = OpenAIEmbedder(endpoint, dimension=wanted.dimension, languages=languages_of(wanted))
        _embedders[wanted] = embedder
        return embedder


def languages_of(model: EmbeddingModel) -> list[str]:
    """Return the languages of a model: those given, else those according to its name; empty means every language.

    A model behind an endpoint is assumed to know every language unless its name says otherwise.
    """
    if model.languages is not None:
        return list(model.languages)
    if model.provider == "local":
        return local.languages_of(model.model)
    return [language for language in ("zh", "en") if f"-{language}" in model.model.lower()][:1]


def _not_configured(detail: str) -> NotConfigured:
    error = NotConfigured(detail)
    error.text = _("The embedding model isn't set up correctly.")
    return error

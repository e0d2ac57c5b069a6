"""System checks of retrieval.

A site whose rerankers or answerer can't be imported doesn't start; one whose embedding model differs from the settings
gets a warning.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError
from django.utils.module_loading import import_string

from ragsite.llm.errors import LLMError
from retrieval.ranking.rerank_options import METHODS


@register()
def rerankers_are_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that `RERANKERS` has an importable function for each method that calls a model."""
    problems: list[CheckMessage] = []
    for method in (method for method in METHODS if method not in ("off", "blend")):
        try:
            import_string(settings.RERANKERS.get(method, ""))
        except ImportError as error:
            message = f"The reranker {method!r} can't be imported: {error}"
            problems.append(Error(message, hint="Correct the setting RERANKERS.", id="retrieval.E001"))
    return problems


@register()
def answerer_is_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that the class named by `EVALUATION_ANSWERER` can be imported."""
    try:
        import_string(settings.EVALUATION_ANSWERER)
    except ImportError as error:
        message = f"The answerer of evaluations can't be imported: {error}"
        return [Error(message, hint="Correct the setting EVALUATION_ANSWERER.", id="retrieval.E003")]
    return []


@register()
def reader_is_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn if the reader's folder or weights are missing: search goes on without it."""
    from ragsite.llm.embedding.local import weights_in
    from ragsite.llm.reranking.reader import OFF, reader_folder

    try:
        folder = None if settings.READER_MODEL == OFF else reader_folder(settings.READER_MODEL)
    except LLMError as error:
        problem = error.detail
    else:
        if folder is None or (folder / weights_in(folder)).exists():
            return []
        problem = f"{folder} contains no model.onnx."
    hint = "Correct the setting READER_MODEL, or put the model there. manage.py readers list shows the available ones."
    return [Warning(f"The reader can't be loaded: {problem}", hint=hint, id="retrieval.W003")]


@register(Tags.database)
def search_uses_the_settings_model(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Warn if the passages' vectors come from an embedding model other than the one in the environment."""
    from retrieval.engine import spaces
    from retrieval.models import EmbeddingSpace

    if "default" not in (databases or ()) or not settings.EMBEDDING_GIVEN:
        return []
    try:
        space = EmbeddingSpace.objects.filter(active=True).first()
        if space is None or space.is_configured or spaces.profile_of(space) is not None:
            return []
    except (DatabaseError, LLMError):  # not migrated yet, or a key can't be read, which the search reports
        return []
    return [
        Warning(
            f"The settings name the embedding model {settings.EMBEDDING_MODEL!r} ({settings.EMBEDDING_PROVIDER}), but "
            f"search and ingestion still use {space.model!r} ({space.provider}, {space.dimension} dimensions).",
            hint="Run manage.py reembed to switch to the model in the settings, or name the current one there.",
            id="retrieval.W001",
        )
    ]


@register(Tags.database)
def the_model_knows_the_language(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Warn if most passages are in a language that the embedding model doesn't know."""
    from retrieval.embedding_models.notices import notice_of

    if "default" not in (databases or ()):
        return []
    try:
        notice = notice_of()
    except DatabaseError:  # not migrated yet
        return []
    if notice is None:
        return []
    return [
        Warning(
            f"{notice.percent}% of the passages are in a language ({notice.language}) that the embedding model "
            f"{notice.model!r} doesn't know. They can be found only by their words.",
            hint="Choose another model: see manage.py embedding_models offered, or “Embedding models” in the admin.",
            id="retrieval.W002",
        )
    ]

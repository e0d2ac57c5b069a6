"""System checks of retrieval.

A site whose rerankers or answerer can't be found does not start; one whose model changed gets a warning.
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
    """Look up the functions of `RERANKERS`, one for each method that asks a model."""
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
    """Look up the class of `EVALUATION_ANSWERER`."""
    try:
        import_string(settings.EVALUATION_ANSWERER)
    except ImportError as error:
        message = f"The answerer of evaluations can't be imported: {error}"
        return [Error(message, hint="Correct the setting EVALUATION_ANSWERER.", id="retrieval.E003")]
    return []


@register()
def reader_is_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Tell when the folder of the reader, or the weights in it, are missing: answers go on without being read."""
    from ragsite.llm.embedding.local import weights_in
    from ragsite.llm.reranking.reader import OFF, reader_folder

    try:
        folder = None if settings.READER_MODEL == OFF else reader_folder(settings.READER_MODEL)
    except LLMError as error:
        problem = error.detail
    else:
        if folder is None or (folder / weights_in(folder)).exists():
            return []
        problem = f"{folder} holds no model.onnx."
    hint = "Correct the setting READER_MODEL, or put the model there; manage.py readers list tells what there is."
    return [Warning(f"The reader can't be loaded: {problem}", hint=hint, id="retrieval.W003")]


@register(Tags.database)
def search_uses_the_settings_model(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Tell when passages have their vectors from another embedding model than the one that the environment names."""
    from retrieval.engine import spaces
    from retrieval.models import EmbeddingSpace

    if "default" not in (databases or ()) or not settings.EMBEDDING_GIVEN:
        return []
    try:
        space = EmbeddingSpace.objects.filter(active=True).first()
        if space is None or space.is_configured or spaces.profile_of(space) is not None:
            return []
    except (DatabaseError, LLMError):  # not migrated yet; or the search will tell of a key that can't be read
        return []
    return [
        Warning(
            f"The settings name the embedding model {settings.EMBEDDING_MODEL!r} ({settings.EMBEDDING_PROVIDER}), but "
            f"search and ingestion go on with {space.model!r} ({space.provider}, {space.dimension} numbers).",
            hint="Run manage.py reembed to change to the model of the settings, or name the other one there.",
            id="retrieval.W001",
        )
    ]


@register(Tags.database)
def the_model_knows_the_language(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Tell when most passages are in a language that the embedding model doesn't know."""
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
            f"{notice.model!r} doesn't know: they are found by their words only.",
            hint="Run manage.py embedding_models offered, or open “Embedding models” in the administration.",
            id="retrieval.W002",
        )
    ]

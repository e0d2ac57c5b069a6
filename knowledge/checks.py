"""System checks: the setting `INDEXER` has to name an indexer."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from knowledge.indexer import Indexer, indexer


@register()
def indexer_is_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that the class named by `INDEXER` can be imported and has all methods of an indexer."""
    try:
        complete = isinstance(indexer(), Indexer)
        problem = "" if complete else f"The class {settings.INDEXER} lacks methods of an indexer."
    except (ImportError, TypeError) as error:
        problem = f"The indexer can't be created: {error}"
    if not problem:
        return []
    hint = "Correct the setting INDEXER: the dotted path of a class with the methods of knowledge.indexer.Indexer."
    return [Error(problem, hint=hint, id="knowledge.E001")]

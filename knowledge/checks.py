"""System checks of knowledge: a site whose indexer can't be found does not start."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from knowledge.indexer import Indexer, indexer


@register()
def indexer_is_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Look up the class of `INDEXER`, and whether it can do what is asked of it."""
    try:
        problem = "" if isinstance(indexer(), Indexer) else f"{settings.INDEXER!r} lacks methods of an indexer"
    except (ImportError, TypeError) as error:
        problem = f"The indexer can't be made: {error}"
    if not problem:
        return []
    hint = "Correct the setting INDEXER: the dotted path of a class with the methods of knowledge.indexer.Indexer."
    return [Error(problem, hint=hint, id="knowledge.E001")]

"""System checks of the site's own settings and of its database."""

import difflib
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections

from ragsite import env

OLDEST_POSTGRESQL = 15
OLDEST_PGVECTOR = (0, 8)
# Renamed variables: the old name and the new one.
RENAMED = {
    "BROAD_PER_DOCUMENT": "BROAD_MAX_HITS_PER_DOCUMENT",
    "DEFAULT_TOP_K": "ANSWER_TOP_K",
    "FUSION_DEPTH": "RETRIEVER_TOP_K",
}


@register()
def bundled_model_is_complete(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that the files of the bundled embedding model exist."""
    missing = [name for name in ("model.onnx", "tokenizer.json") if not (settings.BUNDLED_MODEL_DIR / name).exists()]
    if not missing:
        return []
    return [
        Error(
            f"Files of the bundled embedding model are missing: {', '.join(missing)}.",
            hint=f"Restore {settings.BUNDLED_MODEL_DIR} from the repository.",
            id="ragsite.E001",
        )
    ]


@register()
def variables_are_known(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn about environment variables that nothing reads, which are most likely misspelt or renamed."""
    found: list[CheckMessage] = []
    for name in env.unknown("RAGSITE_", *RENAMED):
        similar = difflib.get_close_matches(name, env.options, n=1)
        hint = f"Did you mean {similar[0]}?" if similar else "See docs/settings.md for the list of variables."
        if name in RENAMED:
            hint = f"It was renamed to {RENAMED[name]}."
        found.append(Warning(f"The environment variable {name} is unknown and has no effect.", hint, id="ragsite.W001"))
    return found


@register(Tags.database)
def database_is_new_enough(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Check the versions of PostgreSQL and pgvector."""
    found: list[CheckMessage] = []
    wanted = ".".join(map(str, OLDEST_PGVECTOR))
    for alias in databases or ():
        with connections[alias].cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            (number,) = cursor.fetchone()
            cursor.execute(
                "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'"
            )
            offered, installed = cursor.fetchone() or ("", None)
        if int(number) < OLDEST_POSTGRESQL * 10_000:
            message = f"The database is PostgreSQL {int(number) // 10_000}; Ragsite needs {OLDEST_POSTGRESQL} or newer."
            found.append(Error(message, "Upgrade the database server.", id="ragsite.E002"))
        elif installed and _version(installed) < OLDEST_PGVECTOR <= _version(offered):
            message = f"The database uses pgvector {installed}; Ragsite needs {wanted} or newer."
            found.append(Error(message, "Run ALTER EXTENSION vector UPDATE in it.", id="ragsite.E003"))
        elif _version(installed or offered) < OLDEST_PGVECTOR:
            state = f"has pgvector {installed or offered}" if offered else "doesn't have the pgvector extension"
            message = f"The database server {state}; Ragsite needs {wanted} or newer."
            found.append(Error(message, "Install a newer pgvector package on the database server.", id="ragsite.E003"))
    return found


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())

"""Secrets that the site makes for itself and keeps in its data folder, readable by its user alone."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def load_or_create(path: Path) -> str:
    """Return the secret kept at `path`, making it (mode 600) when there is none.

    Two processes that start together agree on one secret: the file is created exclusively. Raises
    `ImproperlyConfigured` when the folder can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"The data folder {path.parent} can't be written: {error.strerror}.") from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        value = secrets.token_urlsafe(48)
        file.write(value)
    return value

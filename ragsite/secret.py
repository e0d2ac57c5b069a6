"""Secrets that the site makes for itself and keeps in its data folder, readable by its user alone."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.core.exceptions import ImproperlyConfigured


def load_or_create(path: Path) -> str:
    """Return the secret kept at `path`, making it (mode 600) when there is none.

    Two processes that start together agree on one secret: the file gets its name once it is whole, and the first one
    keeps it. Raises `ImproperlyConfigured` when the folder can't be written.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        return path.read_text(encoding="utf-8").strip()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8") as file:  # which is made with mode 600
            file.write(secrets.token_urlsafe(48))
            file.flush()
            with suppress(FileExistsError):
                os.link(file.name, path)
    except OSError as error:
        raise ImproperlyConfigured(f"The data folder {path.parent} can't be written: {error.strerror}.") from error
    return path.read_text(encoding="utf-8").strip()

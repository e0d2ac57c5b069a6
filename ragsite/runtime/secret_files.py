"""Secrets that the site generates and stores in its data folder, readable only by its user."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.core.exceptions import ImproperlyConfigured


def load_or_create(path: Path) -> str:
    """Return the secret stored at `path`, creating it (mode 600) if there is none.

    Two processes that start together get the same secret: a complete file is linked to `path`, and the first link wins.
    Raises `ImproperlyConfigured` if the folder can't be written.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        return path.read_text(encoding="utf-8").strip()
    try:
        private_folder(path.parent)
        with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8") as file:  # created with mode 600
            file.write(secrets.token_urlsafe(48))
            file.flush()
            with suppress(FileExistsError):
                os.link(file.name, path)
    except OSError as error:
        raise ImproperlyConfigured(f"The data folder {path.parent} can't be written: {error.strerror}.") from error
    return path.read_text(encoding="utf-8").strip()


def private_folder(path: Path) -> None:
    """Create a folder that only its user may read, or restrict the user's existing folder to that.

    For root, permission to traverse it is kept, since the embedded database then runs as another user. Raises
    `OSError`.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = path.stat()
    shared = stat.S_IRWXG | stat.S_IRWXO
    passing = (stat.S_IXGRP | stat.S_IXOTH) if os.geteuid() == 0 else 0
    if now.st_uid == os.geteuid() and not now.st_mode & stat.S_ISVTX and now.st_mode & shared & ~passing:
        path.chmod(stat.S_IMODE(now.st_mode) & ~(shared & ~passing))

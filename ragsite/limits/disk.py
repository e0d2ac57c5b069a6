"""Space on the disk of the data folder: a reserve that uploads leave alone, and errors of a full disk."""

import errno
import shutil

from django.conf import settings
from django.utils.translation import gettext as _

_MB = 1024**2
# The error of PostgreSQL for a full disk.
_DISK_FULL = "53100"


def is_full(error: BaseException | None) -> bool:
    """Return whether an exception, or one that caused it, means that a disk is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if getattr(error, "sqlstate", None) == _DISK_FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


def full_message() -> str:
    """Return the message for users while the disk is full."""
    return _("The server's disk is full, so nothing was stored. An administrator has to free some space.")


def space() -> tuple[int, int]:
    """Return the free bytes of the data folder's disk, and all of them."""
    folder = next(folder for folder in (settings.DATA_DIR, *settings.DATA_DIR.parents) if folder.exists())
    usage = shutil.disk_usage(folder)
    return usage.free, usage.total


def has_room(size: int = 0) -> bool:
    """Return whether the reserve (`DISK_RESERVE_MB`) is left after `size` more bytes are stored."""
    return space()[0] - size >= settings.DISK_RESERVE_MB * _MB


def is_low() -> bool:
    """Return whether an administrator should free space: less than four times the reserve is left."""
    return not has_room(3 * settings.DISK_RESERVE_MB * _MB)

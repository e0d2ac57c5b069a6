"""Temporary folders in which documents are read, and the removal of those that killed workers left."""

import fcntl
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

logger = logging.getLogger(__name__)

_PREFIX = "ragsite-ingest-"
# Seconds after which a folder that nobody has locked is left over, and not just being made.
_SETTLED = 60.0


@contextmanager
def working_folder() -> Iterator[Path]:
    """Make a temporary folder, locked while it is used, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        lock = os.open(name, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(name)
        finally:
            os.close(lock)


def remove_leftovers() -> int:
    """Remove the folders of processes that were killed; return their number."""
    count = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # somebody else's, in use, or gone
            state = folder.stat()
            if state.st_uid != os.getuid() or time.time() - state.st_mtime < _SETTLED:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
                count += 1
            finally:
                os.close(lock)
    if count:
        logger.info("Removed %d folders that killed workers had left", count)
    return count

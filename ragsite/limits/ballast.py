"""A file that takes up space until the disk is full, and is deleted then, so that people can sign in and delete things.

PostgreSQL needs space to delete rows, too, and to start again after it ran out. Uploads stop before (`disk.has_room`),
but other programs may fill the disk completely.
"""

import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from ragsite.limits import disk

logger = logging.getLogger(__name__)

SIZE = 64 * 1024**2  # bytes: four segments of PostgreSQL's log
_FULL = 24 * 1024**2  # bytes; with less space PostgreSQL may fail: one segment and some rows
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")

Answer = Callable[[HttpRequest], HttpResponse] | Callable[[HttpRequest], Awaitable[HttpResponse]]


def keep() -> None:
    """Make the file if it is missing and the reserve is left afterwards."""
    path = _path()
    if path.exists() or not disk.has_room(SIZE):
        return
    unfinished = path.with_suffix(f".{os.getpid()}")
    try:
        with unfinished.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, SIZE)
        unfinished.replace(path)
    except (OSError, AttributeError):  # AttributeError: macOS
        logger.warning("Space could not be set aside for a full disk", exc_info=True)
        unfinished.unlink(missing_ok=True)


def release() -> bool:
    """Delete the file if the disk is full; return whether that was so."""
    with suppress(OSError):  # it is missing, or the disk can't be asked
        if disk.space()[0] < _FULL:
            _path().unlink()
            logger.warning("The disk is full; %d MB were released, so that people can delete things", SIZE // 1024**2)
            return True
    return False


@sync_and_async_middleware
def release_for_changes(get_response: Answer) -> Answer:
    """Release the space before a request that may change something, as signing in and deleting do."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponse:
            if request.method not in _SAFE_METHODS:
                await sync_to_async(release)()
            response: HttpResponse = await get_response(request)
            return response

        return answer_async

    def answer(request: HttpRequest) -> HttpResponse:
        if request.method not in _SAFE_METHODS:
            release()
        return get_response(request)  # type: ignore[return-value]

    return answer


def _path() -> Path:
    return Path(settings.DATA_DIR) / "ballast"

"""Database work from asynchronous code, on a small, bounded set of threads.

Each thread keeps its own connection, so that async code holds none while it waits for a model, and two
searches really run side by side. `thread_sensitive` executors would put every coroutine of the process
behind one thread.
"""

import asyncio
import contextvars
import select
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from asgiref.sync import SyncToAsync, ThreadSensitiveContext
from django.conf import settings
from django.db import InterfaceError, OperationalError, connections
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

P = ParamSpec("P")
T = TypeVar("T")

# What a database raises that is away: restarting, or not to be reached.
DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
# Of these, the states (SQLSTATE, by their beginnings) that tell of the moment instead of what was asked: connection
# lost, shutting down or starting, no connection left, another transaction in the way.
_AWAY_STATES = ("08", "57P", "53300", "40")

# Seconds that what must be stored waits for it, and between two tries.
PATIENCE = 60.0
PAUSE = 1.0

_executor: ThreadPoolExecutor | None = None


def is_away(error: BaseException) -> bool:
    """Whether an error tells that the database is away, so that the same may well be done when it is back."""
    state = getattr(error.__cause__, "sqlstate", None)
    return isinstance(error, DATABASE_UNAVAILABLE) and (state is None or state.startswith(_AWAY_STATES))


def database_unavailable_message() -> str:
    """Say that the database is away, and what to do."""
    return _("The database can't be reached at this moment. Please try again in a moment.")


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a synchronous function that uses the ORM on a database thread, in the caller's language."""
    context = contextvars.copy_context()
    language = get_language()  # kept in a local that doesn't cross to other threads

    def call() -> T:
        with override(language):
            return function(*args, **kwargs)

    def work() -> T:
        _look_after_connections()
        try:
            return context.run(call)
        finally:
            _look_after_connections()

    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="database")
    return await asyncio.get_running_loop().run_in_executor(_executor, work)


def context_of_its_own() -> contextvars.Context:
    """Return this context for a task that may outlive the request that began it.

    A request's thread, on which `sync_to_async` and the asynchronous ORM work, goes to the next request; such a task
    gets another when it asks for one.
    """
    context = contextvars.copy_context()
    context.run(SyncToAsync.thread_sensitive_context.set, ThreadSensitiveContext())
    return context


async def retry_while_database_is_down(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run as `in_database` does, again and again while the database is away.

    For what must not be lost and may be done twice. Raises what is in `DATABASE_UNAVAILABLE` after `PATIENCE`, other
    errors at once.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return await in_database(function, *args, **kwargs)
        except DATABASE_UNAVAILABLE as error:
            if not is_away(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(PAUSE)


def _look_after_connections() -> None:
    """Close this thread's connections that are broken or old; have the others checked before they are used again."""
    for connection in connections.all(initialized_only=True):
        connection.close_if_unusable_or_obsolete()
        # Where nothing has come from the server since the last call, a `SELECT 1` before the next would tell nothing: a
        # server that ends a connection says so, or closes it, and either can be read.
        quiet = False
        if connection.connection is not None and not connection.connection.closed:
            poll = select.poll()
            poll.register(connection.connection.fileno(), select.POLLIN)
            quiet = not poll.poll(0)
        connection.health_check_done = quiet  # type: ignore[attr-defined]  # which the stubs lack

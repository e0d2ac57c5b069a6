"""Database access from asynchronous code, on a small, bounded set of threads.

Each thread keeps its own connection, so that async code holds none while it waits for a model, and two searches really
run in parallel. `thread_sensitive` executors would serialise all coroutines of the process on one thread.
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

# Exceptions of a database that is restarting or can't be reached.
DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
# Prefixes of the SQLSTATE codes that don't depend on the query: connection lost, shutting down or starting, no
# connection left, conflict with another transaction.
_AWAY_STATES = ("08", "57P", "53300", "40")

# Seconds for which work that must be stored is retried, and between two tries.
PATIENCE = 60.0
PAUSE = 1.0

_executor: ThreadPoolExecutor | None = None


def is_away(error: BaseException) -> bool:
    """Return whether an error means that the database is unavailable, so that the query may succeed later."""
    state = getattr(error.__cause__, "sqlstate", None)
    return isinstance(error, DATABASE_UNAVAILABLE) and (state is None or state.startswith(_AWAY_STATES))


def database_unavailable_message() -> str:
    """Return the message for users while the database is unavailable."""
    return _("The database is temporarily unavailable. Try again in a moment.")


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a synchronous function that uses the ORM on a database thread, in the caller's language."""
    context = contextvars.copy_context()
    language = get_language()  # thread-local, so it isn't part of the context

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
    """Return a copy of the context, for a task that may outlive the request that began it.

    The request's thread, on which `sync_to_async` and the asynchronous ORM work, is passed on to another request; in
    this context the task gets a thread of its own.
    """
    context = contextvars.copy_context()
    context.run(SyncToAsync.thread_sensitive_context.set, ThreadSensitiveContext())
    return context


async def retry_while_database_is_down(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do the same as `in_database`, retrying while the database is unavailable.

    For idempotent work that must not be lost. Raises errors in `DATABASE_UNAVAILABLE` after `PATIENCE` seconds, and
    others at once.
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
    """Close this thread's connections that are broken or old; the others are checked before their next use."""
    for connection in connections.all(initialized_only=True):
        connection.close_if_unusable_or_obsolete()
        # If there is nothing to read from the server, a `SELECT 1` before the next query is unnecessary: a server that
        # ends a connection sends a message or closes the socket, and both make it readable.
        quiet = False
        if connection.connection is not None and not connection.connection.closed:
            poll = select.poll()
            poll.register(connection.connection.fileno(), select.POLLIN)
            quiet = not poll.poll(0)
        connection.health_check_done = quiet  # type: ignore[attr-defined]  # missing in the stubs

"""Counting the queries of a turn by node, over all threads that use the database."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from conversations.pipeline.hooks import Proceed
from conversations.pipeline.node import Node
from conversations.pipeline.state import State
from tests import database_threads

OUTSIDE = "(the turn itself)"

# The running node; its database threads inherit it.
_running: ContextVar[str] = ContextVar("running", default=OUTSIDE)


async def name_node(node: Node, state: State, proceed: Proceed) -> None:
    """Pipeline hook: count the queries within for the node."""
    token = _running.set(node.key)
    try:
        await proceed()
    finally:
        _running.reset(token)


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Yield the number of queries by node so far; those outside of all nodes under `OUTSIDE`."""
    counts: Counter[str] = Counter()
    watched: list[BaseDatabaseWrapper] = []

    def count(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        counts[_running.get()] += 1
        return execute(sql, params, many, context)

    def watch(sender: Any, connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
        if connection not in watched:
            connection.execute_wrappers.append(count)
            watched.append(connection)

    database_threads.shut_down()  # its threads reconnect
    connection_created.connect(watch)
    for own in connections.all():  # not `django.db.connection`, which differs by thread
        watch(None, own)
    try:
        yield counts
    finally:
        connection_created.disconnect(watch)
        for one in watched:
            one.execute_wrappers.remove(count)

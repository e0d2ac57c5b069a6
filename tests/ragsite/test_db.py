"""Database access on other threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from django.utils.translation import get_language, override

from ragsite.db import in_database
from ragsite.runtime.embedded_backend.base import DatabaseWrapper
from tests import database_threads


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
async def test_the_callers_language_goes_along(language: str) -> None:
    with override(language):
        assert await in_database(get_language) == language


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
async def test_connections_are_kept_between_calls() -> None:
    assert len({await in_database(backend) for _ in range(3 * settings.DATABASE_THREADS)}) <= settings.DATABASE_THREADS


@pytest.mark.django_db(transaction=True)
async def test_old_connections_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    database_threads.shut_down()
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    assert len({await in_database(backend) for _ in range(3)}) == 3
    database_threads.shut_down()


@pytest.mark.django_db(transaction=True)
async def test_a_connection_that_the_server_ended_is_replaced() -> None:
    def end(backends: set[int]) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pid, 30000) FROM unnest(%s) AS pid", [list(backends)])
            assert all(ended for (ended,) in cursor.fetchall())

    seen = {await in_database(backend) for _ in range(4)}
    await sync_to_async(end)(seen)  # on another thread than theirs
    assert not seen & {await in_database(backend) for _ in range(4)}


@pytest.mark.django_db
def test_a_database_that_many_want_at_once_is_made_by_one_of_them() -> None:
    """As on a first start, where the web server comes beside what prepares the database."""
    together = threading.Barrier(4)

    def connect(_: int) -> str:
        wrapper = DatabaseWrapper(connection.settings_dict | {"NAME": "wanted"})
        together.wait()
        with wrapper.cursor() as cursor:
            cursor.execute("SELECT current_database()")
            name = cursor.fetchone()[0]
        wrapper.close()
        return name

    try:
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(connect, range(4))) == ["wanted"] * 4
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute("DROP DATABASE IF EXISTS wanted WITH (FORCE)")

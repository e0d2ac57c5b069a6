"""Concurrent changes to a user's sessions by two tabs."""

import threading
import time

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from conversations import access, services
from conversations.models import ChatSession

pytestmark = pytest.mark.django_db(transaction=True)


def delete(session: ChatSession) -> None:
    try:
        services.delete_session(session)
    finally:
        connection.close()


def someone_waits() -> bool:
    """Return whether another connection waits for a lock of this one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return bool(cursor.fetchone()[0])


def test_deleting_the_last_two_chats_at_once_creates_a_new_one(owner: User) -> None:
    first, second = services.create_session(owner), services.create_session(owner)
    other = threading.Thread(target=delete, args=(second,))
    with transaction.atomic():
        services.delete_session(first)
        other.start()
        while other.is_alive() and not someone_waits():
            time.sleep(0.01)
    other.join()
    assert access.sessions(owner).count() == 1

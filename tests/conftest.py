"""The cast: an owner, a colleague with whom things are shared, and a stranger; staff where it matters."""

from collections.abc import Iterator

import pytest
from asgiref.sync import SyncToAsync
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from tests import factories

pytest_plugins = ["tests.fakes.fixtures"]


@pytest.fixture
def owner(db: None) -> User:
    return factories.make_user("owner")


@pytest.fixture
def colleague(db: None) -> User:
    return factories.make_user("colleague")


@pytest.fixture
def stranger(db: None) -> User:
    return factories.make_user("stranger")


@pytest.fixture
def staff(db: None) -> User:
    return factories.make_user("staff", is_staff=True, is_superuser=True)


@pytest.fixture
def as_owner(owner: User) -> Client:
    return _client(owner)


@pytest.fixture
def as_colleague(colleague: User) -> Client:
    return _client(colleague)


@pytest.fixture
def as_stranger(stranger: User) -> Client:
    return _client(stranger)


@pytest.fixture
def as_staff(staff: User) -> Client:
    return _client(staff)


@pytest.fixture
def anonymous() -> Client:
    return Client()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Before the test database is dropped, let go of the connections of the database threads."""
    yield
    from ragsite import db

    db.shut_down()
    # The thread on which asgiref runs the ORM's asynchronous methods.
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client

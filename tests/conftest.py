"""Shared fixtures: an owner, a colleague with whom things are shared, a stranger, and staff."""

import gc
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_django
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.db import connection, connections
from django.test import Client, TransactionTestCase
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from ragsite.runtime import caches
from tests import durations, factories, flush, nightly, prepared, schedule, site
from tests.redis_server import RedisServer

pytest_plugins = ["tests.fakes.fixtures", "tests.remembered"]

# Modules and tests are never garbage, and checking them again and again takes a tenth of a run.
gc.disable()

# The same examples in every run, and no time limit, since the machine may be busy.
hypothesis_settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("steady")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> schedule.ByFile | None:
    return schedule.ByFile(config, log) if config.option.dist == "loadgroup" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run all cases of which other runs take a sample")
    parser.addoption("--record-durations", action="store_true", help="write tests/durations.json from this run")


def pytest_configure(config: pytest.Config) -> None:
    nightly.takes_all = config.getoption("--nightly")
    if config.getoption("--record-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(durations.Recorder())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of cores plus one, but at most four: tests of browsers and processes mostly wait."""
    return min(4, (os.cpu_count() or 1) + 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    durations.mark(items)
    if config.getoption("loadgroup", False):
        schedule.order(items)


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("loadgroup", False):  # in a worker of pytest-xdist
        grouped = (item.nodeid for item in session.items if item.get_closest_marker("xdist_group"))
        assert all("@" in nodeid for nodeid in grouped), "groups of tests would be split"
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


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


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis server for one test, which may kill and restart it."""
    server = RedisServer(tmp_path).start()
    yield server
    server.kill()


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Clear caches and the language before each test: databases and the servers at a port differ between tests."""
    translation.deactivate()  # a request leaves its language activated
    caches.clear_all()
    cache.clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Copy a server's files with a migrated database, which is the template of the test database."""
    if not settings.POSTGRES_DIR.exists():
        prepared.migrated(settings.DATA_DIR)
        with (settings.POSTGRES_DIR / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.EMBEDDED_POSTGRES_CONF.items())
        connection.settings_dict["TEST"]["TEMPLATE"] = site.DATABASE


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker) -> Iterator[None]:
    """Prepare fast flushing of the database; before it is dropped, close the connections of other threads."""
    with django_db_blocker.unblock():
        flush.keep()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush.restore)
        # The server process of a new connection has to load its catalogues, which takes longer than most tests.
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda _: False)
        yield
    from tests import database_threads

    database_threads.shut_down()
    # The thread on which asgiref runs the ORM's asynchronous methods.
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()
    # Terminate the connections of background threads left by tests, waiting up to two seconds for each.
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _client(user: User) -> Client:
    """Return a client with a session of the user; signing in would take longer than many tests."""
    session = SessionStore(secrets.token_hex(16))
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save(must_create=True)
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    return client

"""Scratch databases beside the site's on the same server: created, migrated, and dropped at the end."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from django.utils.translation import gettext as _

from tests import database_threads


class NoDatabase(Exception):
    """The database can't be created; the message says why."""


@contextmanager
def database(name: str, *, keep: bool) -> Iterator[None]:
    """Context manager: connect this process to a database of this name, which is dropped at the end unless kept.

    Raises `NoDatabase` if it can't be created.
    """
    site = connection.settings_dict["NAME"]
    _make(name)
    _connect_to(name)
    try:
        call_command("migrate", verbosity=0, interactive=False)
        yield
    finally:
        _connect_to(site)
        if not keep:
            _drop(name)


def stamp() -> str:
    """Return the database's last stamp; empty if it is new, or filling it was interrupted."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()"
        )
        return str(cursor.fetchone()[0] or "")


def set_stamp(text: str) -> None:
    """Stamp the database with a description of its content."""
    with connection.cursor() as cursor:
        cursor.execute(f"COMMENT ON DATABASE {_quoted(str(connection.settings_dict['NAME']))} IS %s", [text])


def empty() -> None:
    """Drop everything in the database, and create its tables again."""
    set_stamp("")
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    call_command("migrate", verbosity=0, interactive=False)


def _make(name: str) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            if cursor.fetchone() is None:
                cursor.execute(f"CREATE DATABASE {_quoted(name)} TEMPLATE template0 ENCODING 'UTF8'")
    except DatabaseError as error:
        raise NoDatabase(_("A database to measure in can't be made: %(error)s") % {"error": error}) from error


def _drop(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {_quoted(name)} WITH (FORCE)")


def _connect_to(name: str) -> None:
    """Close every connection of this process and its database threads, so that new ones use this database."""
    database_threads.shut_down()
    connections.close_all()
    connection.settings_dict["NAME"] = name  # the one dictionary that all threads' connections share


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)

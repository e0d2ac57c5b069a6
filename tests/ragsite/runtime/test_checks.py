"""System checks: unknown variables and outdated versions, with hints."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import OutputWrapper, SystemCheckError
from django.db import connections

from ragsite import env
from ragsite.runtime import checks, startup
from ragsite.runtime.supervisor import Options, Supervisor


def test_unknown_variables_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.variables_are_known(None) == []
    monkeypatch.setenv("RAGSITE_ALOWED_HOSTS", "ask.example.com")
    monkeypatch.setenv("RAGSITE_XYZ", "1")
    monkeypatch.setenv("FUSION_DEPTH", "50")
    renamed, misspelt, unlike = checks.variables_are_known(None)
    assert "RAGSITE_ALOWED_HOSTS is unknown" in misspelt.msg
    assert misspelt.hint == "Did you mean RAGSITE_ALLOWED_HOSTS?"
    assert "RAGSITE_XYZ" in unlike.msg
    assert renamed.hint == "It was renamed to RETRIEVER_TOP_K."
    assert set(checks.RENAMED.values()) <= set(env.options)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "oldest", "expected"),
    [
        ("OLDEST_POSTGRESQL", 99, "Ragsite needs 99 or newer"),
        ("OLDEST_PGVECTOR", (99, 1), "The database server has pgvector .*; Ragsite needs 99.1 or newer"),
    ],
)
def test_a_database_that_is_too_old_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, oldest: object, expected: str
) -> None:
    startup.check_database()
    monkeypatch.setattr(checks, name, oldest)
    with pytest.raises(startup.CannotStart, match=expected):
        startup.check_database()
    with pytest.raises(SystemCheckError, match=expected):
        call_command("migrate", skip_checks=False, verbosity=0)


class Server:
    """A database server of a version, with a version of pgvector on offer and another, perhaps, in the database."""

    def __init__(self, number: int, vector: tuple[str, str | None] | None) -> None:
        self.answers: list[Any] = [(str(number),), vector]

    def cursor(self) -> "Server":
        return self

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, query: str) -> None:
        assert ("server_version" if len(self.answers) == 2 else "extensions") in query

    def fetchone(self) -> Any:
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("number", "vector", "expected"),
    [
        (150_000, ("0.8.0", None), None),
        (180_001, ("0.8.1", "0.8.0"), None),
        (149_999, ("0.8.0", None), "The database is PostgreSQL 14; Ragsite needs 15 or newer."),
        (170_000, ("0.7.4", None), "The database server has pgvector 0.7.4; Ragsite needs 0.8 or newer."),
        (170_000, ("0.6.2", "0.6.2"), "The database server has pgvector 0.6.2; Ragsite needs 0.8 or newer."),
        (170_000, ("0.8.0", "0.7.4"), "The database uses pgvector 0.7.4; Ragsite needs 0.8 or newer."),
        (170_000, None, "The database server doesn't have the pgvector extension; Ragsite needs 0.8 or newer."),
    ],
)
def test_the_oldest_versions(
    monkeypatch: pytest.MonkeyPatch, number: int, vector: tuple[str, str | None] | None, expected: str | None
) -> None:
    monkeypatch.setattr(checks, "connections", {"default": Server(number, vector)})
    found = checks.database_is_new_enough(None, databases=["default"])
    assert [(message.msg, message.is_serious()) for message in found] == ([(expected, True)] if expected else [])


@pytest.mark.django_db
def test_nothing_starts_on_a_database_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "OLDEST_POSTGRESQL", 99)
    monkeypatch.setattr("ragsite.runtime.supervisor.migrations_wait", lambda: pytest.fail("checked too late"))
    supervisor = Supervisor(Options(), OutputWrapper(StringIO()))
    # Of `up`, and of `web` and `worker`.
    for prepare in (supervisor._prepare_database, startup.expect_database):
        monkeypatch.setattr(connections, "close_all", lambda: None)  # the test's transaction
        with pytest.raises(startup.CannotStart, match="Ragsite needs 99 or newer"):
            prepare()


@pytest.mark.parametrize(
    ("text", "enough"), [("0.8.0", True), ("0.8", True), ("1.0.0", True), ("0.7.4", False), ("0.6.2", False)]
)
def test_versions_of_pgvector(text: str, enough: bool) -> None:
    assert (checks._version(text) >= checks.OLDEST_PGVECTOR) is enough

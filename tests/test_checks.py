"""The system checks of the site: what is misspelt or too old is named, with what to do."""

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from ragsite import checks, startup


def test_a_variable_that_nothing_reads_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.variables_are_known(None) == []
    monkeypatch.setenv("RAGSITE_ALOWED_HOSTS", "ask.example.com")
    monkeypatch.setenv("RAGSITE_XYZ", "1")
    misspelt, unlike = checks.variables_are_known(None)
    assert "RAGSITE_ALOWED_HOSTS is not known" in misspelt.msg
    assert misspelt.hint == "Did you mean RAGSITE_ALLOWED_HOSTS?"
    assert "RAGSITE_XYZ" in unlike.msg


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "oldest", "told"),
    [
        ("OLDEST_POSTGRESQL", 99, "Ragsite needs 99 or newer"),
        ("OLDEST_PGVECTOR", (99, 1), "The database server has pgvector .*; Ragsite needs 99.1 or newer"),
    ],
)
def test_a_database_that_is_too_old_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, oldest: object, told: str
) -> None:
    startup.check_database()
    monkeypatch.setattr(checks, name, oldest)
    with pytest.raises(startup.CannotStart, match=told):
        startup.check_database()
    with pytest.raises(SystemCheckError, match=told):
        call_command("migrate", skip_checks=False, verbosity=0)


@pytest.mark.parametrize(
    ("text", "enough"), [("0.8.0", True), ("0.8", True), ("1.0.0", True), ("0.7.4", False), ("0.6.2", False)]
)
def test_versions_of_pgvector(text: str, enough: bool) -> None:
    assert (checks._version(text) >= checks.OLDEST_PGVECTOR) is enough

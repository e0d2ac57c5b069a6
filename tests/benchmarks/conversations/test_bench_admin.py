"""`manage.py bench_admin`: every option of a list is in the table, and slow pages are reported."""

from contextlib import nullcontext
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Message
from tests.benchmarks.conversations.administration import filling, measuring
from tests.benchmarks.retrieval import scratch

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch) -> None:
    # In the tests' own database, since creating another takes longer than the rest of the test.
    monkeypatch.setattr(scratch, "database", lambda name, keep: nullcontext())
    monkeypatch.setattr(scratch, "empty", lambda: None)
    monkeypatch.setattr(scratch, "set_stamp", lambda text: None)
    monkeypatch.setattr(filling, "analyse", lambda: None)  # no VACUUM in a transaction


def printed(**options: Any) -> list[list[str]]:
    """Return the cells of all lines of the tables."""
    out = StringIO()
    call_command("bench_admin", messages=240, rounds=1, stdout=out, **options)
    lines = [line for line in out.getvalue().splitlines() if line.startswith("|") and "--" not in line]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


@pytest.mark.nightly
def test_every_option_of_a_list_is_measured() -> None:
    lists, *rest = printed(lists="conversations.message,auth.Group", every=True)
    assert lists[2:-1] == list(measuring._KINDS)
    (message, group), pages = sorted(rest[:2], reverse=True), rest[3:]
    assert message[:2] == ["conversations.Message", f"{Message.objects.count()}"] and all(message[2:])
    assert group[0] == "auth.Group" and group[lists.index("dates")] == ""
    names = {(page[0], page[1], page[2]) for page in pages}
    for kind, name in (
        ("list", "as it is"), ("search", "a rare word, in Chinese"), ("search", "the beginning of an id"),
        ("filter", "status: Interrupted"), ("filter", "role: User, with a frequent word"), ("dates", "a month"),
        ("sort", "by took, downwards"), ("counts", "counts beside the filters"), ("row", "the first row"),
    ):  # fmt: skip
        assert ("conversations.Message", kind, name) in names


@pytest.mark.nightly
def test_only_pages_above_the_bounds_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_QUERIES", 0)
    monkeypatch.setattr(measuring, "MOST_SECONDS", 600.0)
    assert len(printed(lists="auth.group")) > 4
    monkeypatch.setattr(measuring, "MOST_QUERIES", 600)
    assert len(printed(lists="auth.group")) == 3


def test_errors_are_reported() -> None:
    with pytest.raises(CommandError, match=r"no list auth\.grup; choose from: auth\.group"):
        call_command("bench_admin", lists="auth.Grup")
    with pytest.raises(CommandError, match="must be at least 1"):
        call_command("bench_admin", messages=0)

"""Every list and page in the admin's registry: the number of queries doesn't depend on the number of rows.

The data are those of a small site, generated like the one that `bench_admin` measures.
"""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation
from django_q.models import Failure, OrmQ, Schedule, Success, Task

from conversations.models import Message
from knowledge.models import Chunk
from ragsite import admin_base
from ragsite.models import AuditEntry, Limit
from retrieval.models import CorpusSize, IndexEntry, TermFrequency
from tests import factories, nightly
from tests.benchmarks.conversations.administration import filling, measuring
from tests.benchmarks.conversations.administration.texts import FREQUENT

pytestmark = pytest.mark.django_db
MODELS = [*admin.site._registry]
FEW, MORE = 40, 200


def url(model: type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def counts(client: Client) -> dict[str, int]:
    """Open every list, with and without a search, and the page of its newest row; return the numbers of queries."""
    found = {}
    for model in MODELS:
        row = model._default_manager.order_by("-pk").first()
        assert row is not None, f"no {model._meta.label} was created"
        searched = f"{url(model, 'changelist')}?{urlencode({'q': FREQUENT})}"
        for address, name in (
            (url(model, "changelist"), "list"),
            (searched, "search"),
            (url(model, "change", row.pk), "change"),
        ):
            with CaptureQueriesContext(connection) as asked:
                response = client.get(address)
            assert response.status_code == 200, address
            found[f"{model._meta.label} {name}"] = len(asked)
    return found


def test_the_number_of_queries_does_not_depend_on_the_number_of_rows(as_staff: Client) -> None:
    filling.fill(FEW)
    rows = {model: model._default_manager.count() for model in MODELS}
    few = counts(as_staff)
    filling.fill(MORE)
    assert [model for model in MODELS if model._default_manager.count() < rows[model] + 4] == []
    many = counts(as_staff)
    assert {name: count for name, count in many.items() if count > measuring.MOST_QUERIES} == {}
    assert {name: (few[name], count) for name, count in many.items() if count > few[name] + 1} == {}


def test_a_large_table_is_not_counted_and_says_so(as_staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    filling.fill(FEW)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message")

    def opened(**query: str) -> tuple[str, str]:
        with CaptureQueriesContext(connection) as asked:
            page = as_staff.get(url(Message, "changelist"), query).content.decode()
        return page, str([each["sql"] for each in asked if "COUNT(" in each["sql"] and "_message" in each["sql"]])

    exact = f"{Message.objects.count()} messages"
    page, counts = opened()
    assert exact in page and "about" not in page and counts != "[]"
    monkeypatch.setattr(admin_base, "LARGE", 10)
    page, counts = opened()
    assert f"about {exact}" in page and counts == "[]"
    page, _counts = opened(role__exact="user")
    assert f"{Message.objects.filter(role='user').count()} messages" in page and "about" not in page


def test_background_tasks_are_read_submitted_again_and_deleted(as_staff: Client) -> None:
    filling.fill(12)
    for model in (Success, Failure, OrmQ):
        row = model._default_manager.order_by("-pk").first()
        assert row is not None
        page = as_staff.get(url(model, "change", row.pk)).content.decode()
        assert 'name="_save"' not in page and url(model, "delete", row.pk) in page
        assert as_staff.post(url(model, "change", row.pk), {"key": "changed"}).status_code == 403
    assert ">None<" not in page and "Keyword arguments" not in page, "not given with the queued one"
    listed = as_staff.get(url(Failure, "changelist")).content.decode()
    assert 'value="resubmit_task"' in listed and 'value="delete_selected"' in listed
    assert 'name="_save"' in as_staff.get(url(Schedule, "add")).content.decode()


def test_schedules_say_how_often_and_when(as_staff: Client) -> None:
    now = timezone.now()
    ran = Task.objects.create(id="1" * 32, name="odd-words", func="f", started=now, stopped=now, success=False)
    Schedule.objects.create(name="clean", func="f", schedule_type=Schedule.MINUTES, minutes=10, task=ran.pk)
    Schedule.objects.create(name="later", func="g", schedule_type=Schedule.DAILY, repeats=3)
    page = as_staff.get(url(Schedule, "changelist")).content.decode()
    for said in (
        "Every 10 minutes",
        "unlimited",
        "Daily",
        ">3<",
        "Last run",
        "How often",
        url(Failure, "change", ran.pk),
    ):
        assert said in page
    assert "Last_run" not in page and "odd-words" not in page and "Schedule Type" not in page
    added = as_staff.get(url(Schedule, "add")).content.decode()
    assert "Schedule type" in added and "Next run" in added and "Add scheduled task" in added


def test_pages_have_the_name_of_their_row(as_staff: Client) -> None:
    filling.fill(12)
    for model, called in (
        (OrmQ, "waiting"),
        (Chunk, "{row.document} · {row.ordinal}"),
        (IndexEntry, "{row.document} · {row.chunk.ordinal}"),
        (CorpusSize, "{row.knowledge_base}"),
        (TermFrequency, "{row.term}"),
        (AuditEntry, "{row}"),
    ):
        row = model._default_manager.order_by("-pk").first()
        assert row is not None
        page = as_staff.get(url(model, "change", row.pk)).content.decode()
        assert f"<h2>{called.format(row=row)}</h2>" in page, model


def test_only_a_filtered_list_links_to_the_whole_list(as_staff: Client) -> None:
    factories.make_user("someone")
    groups = url(Limit, "changelist")
    assert "Show all" not in as_staff.get(groups).content.decode()
    assert "Show all" in as_staff.get(groups, {"q": "no"}).content.decode()


def test_changes_are_described_in_the_reader_s_language() -> None:
    with translation.override("zh-hans"):
        assert LogEntry(change_message="Answer").get_change_message() == "回答"
        assert LogEntry(change_message="").get_change_message() == ""


@pytest.mark.parametrize("models", [MODELS[first::2] for first in range(2)], ids=range(2))
def test_with_view_permission_every_page_opens_read_only(models: list[type[Model]]) -> None:
    filling.fill(12)
    looker = factories.make_user("looker", is_staff=True)
    looker.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client, found = Client(), []
    client.force_login(looker)
    for model in models:
        row = model._default_manager.order_by("-pk").first()
        assert row is not None
        pages = [("changelist", 200), ("change", 200), ("history", 200), ("add", 403), ("delete", 403)]
        for page, status in pages if nightly.takes_all else pages[:2]:
            address = url(model, page, *([row.pk] if page in ("change", "history", "delete") else []))
            response = client.get(address)
            if response.status_code != status:
                found.append(f"{address}: {response.status_code}")
            if page == "change" and 'name="_save"' in response.content.decode():
                found.append(f"{address} has a button to save")
        for query in nightly.sample(["_facets=True&o=-1", "q=quetzal&p=1"], 1):
            response = client.get(f"{url(model, 'changelist')}?{query}")
            if response.status_code != 200:
                found.append(f"{response.request['PATH_INFO']}?{query}: {response.status_code}")
        if client.post(url(model, "change", row.pk), {"name": "changed"}).status_code != 403:
            found.append(f"{url(model, 'change', row.pk)} takes changes")
        client.post(url(model, "changelist"), {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
        assert model._default_manager.filter(pk=row.pk).exists(), f"{model._meta.label} can be deleted"
    assert found == []

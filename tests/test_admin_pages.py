"""Every list and every page of the admin, read from its registry: how much each asks, whatever there is to show.

The lists are those of a small site made by the same filling as the one that `bench_admin` measures.
"""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.benchmarks.administration import filling, measuring
from conversations.benchmarks.administration.texts import FREQUENT

pytestmark = pytest.mark.django_db
MODELS = [*admin.site._registry]
FEW, MORE = 60, 300


def url(model: type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def counts(client: Client) -> dict[str, int]:
    """Open every list, as it is and searched, and the page of its newest row; return how many queries each asked."""
    found = {}
    for model in MODELS:
        row = model._default_manager.order_by("-pk").first()
        assert row is not None, f"the filling makes no {model._meta.label}"
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


def test_no_page_asks_more_where_there_is_more_to_show(as_staff: Client) -> None:
    filling.fill(FEW)
    rows = {model: model._default_manager.count() for model in MODELS}
    few = counts(as_staff)
    filling.fill(MORE)
    assert [model for model in MODELS if model._default_manager.count() < rows[model] + 4] == []
    many = counts(as_staff)
    assert {name: count for name, count in many.items() if count > measuring.MOST_QUERIES} == {}
    assert {name: (few[name], count) for name, count in many.items() if count > few[name] + 1} == {}

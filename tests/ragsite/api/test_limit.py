"""The API limits a user's requests per minute, and says when to try again."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forgotten() -> None:
    cache.clear()


def test_requests_above_the_limit_are_rejected_with_a_message(
    as_owner: Client, as_colleague: Client, settings: Any
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 3
    for _request in range(3):
        assert as_owner.get("/api/knowledge-bases").status_code == 200
    refused = as_owner.get("/api/chat/sessions")
    assert refused.status_code == 429
    assert refused.json()["code"] == "throttled" and "seconds" in refused.json()["detail"]
    assert 0 < int(refused["Retry-After"]) <= 60
    assert as_colleague.get("/api/knowledge-bases").status_code == 200


def test_none_is_refused_without_a_limit(as_owner: Client, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = 0
    assert {as_owner.get("/api/knowledge-bases").status_code for _request in range(5)} == {200}

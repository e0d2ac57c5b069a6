"""`ordering` and `since` of lists without pages."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from conversations import services
from conversations.files import chat_files
from conversations.models import Assistant, ContextEntry, ModelProfile, SavedPrompt, ShareLink
from conversations.sharing import links
from knowledge.models import Document
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

# Oldest first, and in an order that is neither alphabetical nor its reverse, with names in both cases and scripts.
TIMES = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
NAMES = ["melon", "Apple", "中文"]


def labels(owner: User) -> str:
    for name in NAMES:
        services.save_label(owner, name, None)
    return reverse("api-labels")


def prompts(owner: User) -> str:
    for name in NAMES:
        SavedPrompt.objects.create(owner=owner, title=name, text="{{product}}?")
    return reverse("api-saved-prompts")


def assistants(owner: User) -> str:
    Assistant.objects.all().delete()
    for name in NAMES:
        Assistant.objects.create(name=name, everyone=True, is_default=name == "melon")
    return reverse("api-assistants")


def models(owner: User) -> str:
    for name in NAMES:
        profile = ModelProfile(purpose="answer", model=name, base_url="http://m/v1", offered=True)
        profile.enabled = name == "melon"
        profile.save()
    return reverse("api-models")


def files(owner: User) -> str:
    session = make_session(owner)
    for name, time in zip(NAMES, TIMES, strict=True):
        document = chat_files.attach(owner, session, f"{name}.md", SimpleUploadedFile("f", name.encode())).document
        Document.objects.filter(pk=document.pk).update(created_at=time)
    return reverse("api-session-files", args=[session.pk])


def quoting_links(owner: User) -> str:
    document = factories.make_document(factories.make_knowledge_base(owner))
    for name, time in zip(NAMES, TIMES, strict=True):
        user = factories.make_user(name)
        factories.share(document.knowledge_base, user)
        session = make_session(user)
        make_turn(session, chunk=factories.make_chunk(document))
        ShareLink.objects.filter(pk=links.create_link(session).pk).update(created_at=time)
    return reverse("api-quoting-links", args=[document.knowledge_base_id])


def versions(owner: User) -> str:
    session = make_session(owner)
    turn = make_turn(session).turn
    earlier = [
        {"content": name, "at": time.isoformat(), "edited": True} for name, time in zip(NAMES, TIMES, strict=True)
    ]
    ContextEntry.objects.create(
        session=session, turn=turn, type="summary", role="system", content=earlier.pop()["content"],
        edited_at=TIMES[2], earlier=earlier,
    )  # fmt: skip
    return reverse("api-summary-versions", args=[session.pk])


ALPHABETICAL, AS_ADDED = ["Apple", "melon", "中文"], NAMES


@pytest.mark.parametrize(
    ("prepare", "field", "ordering", "ordered", "by_default"),
    [
        (labels, "name", "name", ALPHABETICAL, ALPHABETICAL),
        (prompts, "title", "title", ALPHABETICAL, ALPHABETICAL),
        (assistants, "name", "name", ALPHABETICAL, ["melon", "Apple", "中文"]),
        (models, "id", "id", ALPHABETICAL, ["melon", "Apple", "中文"]),
        (files, "filename", "filename", [f"{name}.md" for name in ALPHABETICAL], [f"{name}.md" for name in AS_ADDED]),
        (files, "filename", "created_at", [f"{name}.md" for name in AS_ADDED], [f"{name}.md" for name in AS_ADDED]),
        (quoting_links, "shared_by", "created_at", AS_ADDED, AS_ADDED[::-1]),
        (versions, "content", "version", AS_ADDED, AS_ADDED[::-1]),
    ],
)
def test_a_list_without_pages_is_ordered_on_request(
    owner: User,
    as_owner: Client,
    prepare: Callable[[User], str],
    field: str,
    ordering: str,
    ordered: list[str],
    by_default: list[str],
) -> None:
    address = prepare(owner)

    def listed(**query: str) -> list[str]:
        return [item[field] for item in as_owner.get(address, query).json()]

    assert listed() == by_default
    assert listed(ordering=ordering) == ordered
    assert listed(ordering=f"-{ordering}") == ordered[::-1]


def test_links_are_ordered_by_their_number_of_quotations(owner: User, as_owner: Client) -> None:
    address = quoting_links(owner)
    chunk = factories.make_chunk(Document.objects.get())
    often = make_turn(make_session(factories.make_user("often")), chunk=chunk)
    factories.share(chunk.document.knowledge_base, often.turn.session.owner)
    link = links.create_link(often.turn.session, make_turn(often.turn.session, parent=often.turn, chunk=chunk).turn.pk)
    found = as_owner.get(address, {"ordering": "-quotations"}).json()
    assert [item["quotations"] for item in found] == [2, 1, 1, 1] and found[0]["id"] == str(link.pk)
    assert [item["shared_by"] for item in found[1:]] == NAMES[::-1], "the newest first where it is equal"


@pytest.mark.parametrize(
    ("prepare", "field", "newest"),
    [(files, "filename", ["中文.md"]), (quoting_links, "shared_by", ["中文"]), (versions, "content", ["中文"])],
)
def test_a_list_without_pages_is_limited_to_a_time(
    owner: User, as_owner: Client, prepare: Callable[[User], str], field: str, newest: list[str]
) -> None:
    address = prepare(owner)

    def since(time: datetime) -> list[str]:
        return [item[field] for item in as_owner.get(address, {"since": time.isoformat()}).json()]

    assert since(TIMES[2]) == newest and since(TIMES[2] + timedelta(seconds=1)) == []
    assert len(since(TIMES[0])) == 3


@pytest.mark.parametrize("prepare", [labels, prompts, assistants, models, files, quoting_links, versions])
@pytest.mark.parametrize("ordering", ["size", "--id", ""])
def test_an_unknown_order_is_refused_in_both_languages(
    owner: User, as_owner: Client, prepare: Callable[[User], str], ordering: str
) -> None:
    address = prepare(owner)
    for language, words in (("en", "Must be one of"), ("zh-hans", "可选的值为")):
        response = as_owner.get(address, {"ordering": ordering}, headers={"Accept-Language": language})
        body = response.json()
        assert response.status_code == 400 and body["code"] == "invalid"
        assert words in body["detail"] and words in body["errors"]["ordering"][0]


@pytest.mark.parametrize("prepare", [labels, prompts, assistants, models])
def test_a_list_without_times_can_not_be_limited(owner: User, as_owner: Client, prepare: Callable[[User], str]) -> None:
    address = prepare(owner)
    response = as_owner.get(f"{address}?since=2026-03-01")
    assert response.status_code == 400 and list(response.json()["errors"]) == ["since"]


@pytest.mark.parametrize("prepare", [files, quoting_links, versions])
def test_an_invalid_time_is_refused(owner: User, as_owner: Client, prepare: Callable[[User], str]) -> None:
    response = as_owner.get(f"{prepare(owner)}?since=yesterday")
    assert response.status_code == 400 and list(response.json()["errors"]) == ["since"]

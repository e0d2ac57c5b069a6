"""The example conversation on the samples: asked once, for real, and not again after it was deleted."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse

from conversations import services
from conversations.models import ChatSession
from conversations.turns import example
from knowledge.models import Document, KnowledgeBase
from ragsite.db import in_database
from tests import factories
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "A firmware update takes about four minutes. The switch must not be switched off during the update."


@pytest.fixture
def samples(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Samples")
    document = factories.make_document(base, "LS-2400 Switch Handbook.pdf")
    factories.make_chunk(document, TEXT, heading_path=["Handbook", "Updating the firmware"])
    factories.index_document(document.pk)
    return base


async def page_of(owner: User, method: str, address: str) -> str:
    client = AsyncClient()
    await client.aforce_login(owner)
    response = await getattr(client, method)(address, follow=True)
    await wait_for_all()
    return response.content.decode()


async def test_the_welcome_shows_an_example_that_was_asked_for_real(owner: User, samples: KnowledgeBase) -> None:
    assert f'hx-post="{reverse("example")}"' in await page_of(owner, "get", "/")
    begun = await in_database(services.latest_or_new_session, owner)
    link = await page_of(owner, "post", reverse("example"))
    session = await ChatSession.objects.aget(title="Example: what answers look like")
    assert reverse("session", args=[session.pk]) in link
    assert [turn.pk async for turn in session.turns.filter(messages__answer_state="answered")]
    assert await session.turns.acount() == len(example.QUESTIONS["en"])
    assert [base async for base in session.knowledge_bases.all()] == [samples]
    assert (await in_database(services.latest_or_new_session, owner)) == begun, "a chat begun meanwhile stays first"
    assert reverse("session", args=[session.pk]) in await page_of(owner, "get", "/")
    # Another page asks for it too.
    assert await page_of(owner, "post", reverse("example")) == link
    assert await ChatSession.objects.filter(title=session.title).acount() == 1


async def test_it_waits_for_the_samples(owner: User, samples: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = Document.objects.filter(knowledge_base=samples)
    await waiting.aupdate(status=Document.Status.PARSING)

    async def finish(seconds: float) -> None:
        await waiting.aupdate(status=Document.Status.READY)

    monkeypatch.setattr(example.asyncio, "sleep", finish)
    found = await example.make_example(owner, samples.pk, "en")
    monkeypatch.undo()
    await wait_for_all()
    first = await ChatSession.objects.aget(pk=found)
    assert await first.turns.filter(messages__answer_state="answered").aexists()


async def test_it_is_completed_if_the_page_is_left(owner: User, samples: KnowledgeBase) -> None:
    left = asyncio.create_task(example.make_example(owner, samples.pk, "en"))
    while not await ChatSession.objects.filter(turns__isnull=False).aexists():
        await asyncio.sleep(0)
    left.cancel()
    found = await example.make_example(owner, samples.pk, "en")  # on the next page
    await wait_for_all()
    session = await ChatSession.objects.aget(pk=found)
    assert await session.turns.acount() == len(example.QUESTIONS["en"])


async def test_a_second_attempt_leaves_nothing_behind(owner: User, samples: KnowledgeBase) -> None:
    assert await example.make_example(owner, samples.pk, "en") is not None
    assert await example.make_example(owner, samples.pk, "en") is None
    await wait_for_all()
    assert await ChatSession.objects.filter(owner=owner).acount() == 1


async def test_a_deleted_example_is_not_made_again(owner: User, samples: KnowledgeBase) -> None:
    found = await example.make_example(owner, samples.pk, "zh-hans")
    await wait_for_all()
    session = await ChatSession.objects.aget(pk=found)
    await in_database(services.delete_session, session)
    assert "hx-post" not in await page_of(owner, "post", reverse("example"))
    assert reverse("example") not in await page_of(owner, "get", "/")
    assert await ChatSession.objects.filter(title=session.title).acount() == 1


async def test_old_samples_and_other_peoples_get_none(owner: User, stranger: User, samples: KnowledgeBase) -> None:
    client: Any = AsyncClient()
    await client.aforce_login(stranger)
    assert (await client.post(reverse("example"))).status_code == 404
    made = samples.created_at - 2 * example.MADE_WITHIN
    await KnowledgeBase.objects.filter(pk=samples.pk).aupdate(created_at=made)
    assert reverse("example") not in await page_of(owner, "get", "/")
    await page_of(owner, "post", reverse("example"))
    assert not await ChatSession.objects.filter(title__startswith="Example").aexists()

"""All open pages of a session are live: questions asked elsewhere appear, and a suspended page catches up."""

import asyncio
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from django.urls import reverse

from conversations import services
from conversations.assistants import choice
from conversations.files import chat_files
from conversations.models import Assistant, ChatSession, Message, Turn
from conversations.turns import lifecycle
from knowledge.models import Document, KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.types import TextPiece
from tests.conversations.conftest import run_turn
from tests.conversations.web.test_consumers import Tab, reloaded, statuses, tab, text
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"
PORTS = "How many ports has the TL-SE2109?"
WARRANTY = "How long is the warranty of the rack mounting kit?"


def bubbles(here: Tab) -> list[str]:
    return [bubble.get_text(strip=True) for bubble in here.page.soup.select(".bubble")]


async def arrive(here: Tab, *, again: str = "") -> None:
    """Send what the page shows, as when its socket opens."""
    turns = here.page.soup.select(".turn")
    leaf = str(turns[-1]["id"]).removeprefix("turn-") if turns else ""
    await here.send(action="resume", seen="", leaf=leaf, newest=leaf, again=again)


async def test_files_and_scope_changed_while_offline_are_updated_on_reconnecting(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    def change() -> tuple[int, int]:
        files = [
            chat_files.attach(owner, session, f"{name}.md", SimpleUploadedFile(f"{name}.md", name.encode())).document
            for name in ("gone", "new")
        ]
        chat_files.remove(session, files[0].pk)
        services.set_scope(owner, session, folder="guide")
        return files[0].pk, files[1].pk

    gone, new = await in_database(change)
    async with tab(owner, session) as here:

        async def come_back(files: str, asked: str, count: int) -> list[str]:
            await here.send(action="resume", seen="", again="1", files=files, asked=asked)
            return [await here.socket.receive_from(timeout=10) for _ in range(count)]

        _chats, removed, added, scope = await come_back(str(gone), "before", 4)
        assert removed == f'<li id="chat-file-{gone}" hx-swap-oob="delete"></li>'
        assert f'id="chat-file-{new}"' in added and 'value="1" aria-label="Don\'t search only the folder' in unescape(
            scope
        )
        asked = re.search(r'data-asked="(\w+)"', scope)
        assert asked and f'data-asked="{asked[1]}"' in await reloaded_page(session)
        # Known chips aren't sent again, since a menu may be open in them.
        await come_back(str(new), asked[1], 1)
        assert await here.socket.receive_nothing(timeout=0.5)


async def test_changes_of_a_sessions_scope_are_sent_to_its_pages(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    client = AsyncClient()
    await client.aforce_login(owner)
    assistant = await Assistant.objects.acreate(name="Lawyer", everyone=True)
    async with tab(owner, session) as here:
        for change in (
            lambda: services.set_scope(owner, session, folder="guide"),
            lambda: choice.set_assistant(owner, session, assistant.pk),
        ):
            await in_database(change)
            news = await here.socket.receive_from(timeout=10)
            asked = re.search(r'<div id="scope-news" .*data-asked="(\w+)"', news)
            assert asked and f'data-asked="{asked[1]}"' in await reloaded_page(session)
            line = await client.get(reverse("choose-scope", args=[session.pk]), headers={"HX-Request": "true"})
            assert line.content.strip().startswith(b'<div id="scope">') and asked[1] in line.content.decode()
        await session.arefresh_from_db()
        assert (session.folder, session.assistant_id) == ("guide", assistant.pk)


async def reloaded_page(session: ChatSession) -> str:
    client = AsyncClient()
    await client.aforce_login(await User.objects.aget(pk=session.owner_id))
    return (await client.get(reverse("session", args=[session.pk]))).content.decode()


async def test_a_question_asked_on_another_page_streams_here_too(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("Ten "), go_on, TextPiece("seconds [1].")])
    async with tab(owner, session) as here, tab(owner, session) as elsewhere:
        await arrive(elsewhere)
        await here.ask(RESET)
        await elsewhere.until(lambda page: "Ten" in text(page, ".prose"))
        assert statuses(elsewhere.page) == ["streaming"]
        assert text(elsewhere.page, "#announcer") == f"Asked on another page: {RESET}"
        go_on.set()
        await here.until_ended()
        await elsewhere.until_ended()
        await elsewhere.until(lambda page: "factory" in text(page, "#session-title"))
        assert elsewhere.page.html("#turns") == here.page.html("#turns") == await reloaded(session)
        # The next question continues from it, on either page.
        newest = await Turn.objects.aget()
        assert elsewhere.page.soup.select("#parent-turn")[0]["value"] == str(newest.pk)


async def test_a_question_asked_through_the_api_appears(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, RESET)
    async with tab(owner, session) as here:
        await arrive(here)
        await run_turn(owner, session, PORTS)
        await here.until(lambda page: len(page.soup.select(".turn")) == 2)
        await here.until_ended()
        assert bubbles(here) == [RESET, PORTS]
        assert here.page.html("#turns") == await reloaded(session)


async def test_stop_on_one_page_ends_an_answer_asked_on_another(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("The first half"), 60.0])
    async with tab(owner, session) as here, tab(owner, session) as elsewhere:
        await arrive(elsewhere)
        await here.ask(RESET)
        await elsewhere.until(lambda page: "first half" in text(page, ".prose"))
        await elsewhere.send(action="stop")
        await here.until_ended()
        assert statuses(here.page) == ["stopped"]


@pytest.mark.parametrize("action", ["regenerate", "edit"])
async def test_a_version_created_elsewhere_is_only_announced(
    owner: User, session: ChatSession, handbook: KnowledgeBase, action: str
) -> None:
    await run_turn(owner, session, RESET)
    message = await Message.objects.aget(role="assistant")
    async with tab(owner, session) as here, tab(owner, session) as elsewhere:
        await arrive(elsewhere)
        before = elsewhere.page.html("#turns")
        await here.send(action=action, message_id=message.pk, turn_id=message.turn_id, question=PORTS)
        await elsewhere.until(lambda page: bool(text(page, "#notice")))
        version = await Turn.objects.alatest("id")
        assert text(elsewhere.page, "#notice").startswith("A newer answer was requested in another tab. Show")
        assert elsewhere.page.soup.select("#notice a")[0]["data-turn"] == str(version.pk)
        assert elsewhere.page.html("#turns") == before
        assert elsewhere.page.soup.select("#parent-turn")[0].attrs.get("value") is None
        await here.until_ended()


async def test_a_suspended_page_catches_up(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    await run_turn(owner, session, RESET)
    here = Tab(owner, session)
    await here.load()
    await run_turn(owner, session, PORTS)
    await run_turn(owner, session, WARRANTY)
    await in_database(services.rename_session, session, "Named meanwhile")
    await here.connect()
    await arrive(here, again="1")
    await here.until(lambda page: len(page.soup.select(".turn")) == 3)
    await here.until(lambda page: text(page, "#session-title") == "Named meanwhile")
    assert bubbles(here) == [RESET, PORTS, WARRANTY]
    assert here.page.html("#turns") == await reloaded(session)
    await here.leave()


async def test_an_up_to_date_page_is_sent_nothing(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    await run_turn(owner, session, RESET)
    async with tab(owner, session) as here:
        await arrive(here)
        assert await here.socket.receive_nothing(0.3)


async def test_a_known_branch_is_not_announced(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    await run_turn(owner, session, RESET)
    first = await Turn.objects.aget()
    await lifecycle.edit(owner, first.pk, PORTS)
    await wait_for_all()
    newest = await Turn.objects.alatest("id")
    async with tab(owner, session) as here:
        await here.send(action="resume", seen="", leaf=str(first.pk), newest=str(newest.pk))
        assert await here.socket.receive_nothing(0.3)


async def test_renaming_and_deleting_reach_the_open_pages(owner: User, session: ChatSession, as_owner: Client) -> None:
    async with tab(owner, session) as here:
        await in_database(as_owner.post, reverse("rename-session", args=[session.pk]), {"title": "Lights"})
        await here.until(lambda page: text(page, "#session-title") == "Lights")
        await in_database(as_owner.post, reverse("delete-session", args=[session.pk]))
        await here.until(lambda page: text(page, "#notice").startswith("This chat was deleted in another tab."))
        await in_database(as_owner.post, reverse("restore-session", args=[session.pk]))
        await here.until(lambda page: text(page, "#notice") == "")


async def test_two_stale_pages_asking_at_once_continue_the_same_branch(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, RESET)
    first = await Turn.objects.aget()
    asked = (lifecycle.Ask(session.pk, text, parent_turn_id=first.pk, from_newest=True) for text in (PORTS, WARRANTY))
    await asyncio.gather(*(lifecycle.start_turn(owner, ask) for ask in asked))
    await wait_for_all()
    assert await Turn.objects.filter(parent_turn=first).acount() == 1
    assert await Turn.objects.filter(children=None).acount() == 1


async def test_files_are_announced_to_every_page(
    owner: User, session: ChatSession, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path

    def put_in() -> int:
        return chat_files.attach(owner, session, "a.md", SimpleUploadedFile("a.md", b"One.")).document.pk

    async with tab(owner, session) as here:
        here.page.soup.append(here.page.soup.new_tag("ul", id="chat-files"))
        pk = await in_database(put_in)
        await here.until(lambda page: "a.md" in text(page, f"#chat-files #chat-file-{pk}"))
        await Document.objects.filter(pk=pk).aupdate(status="failed", file="a")
        await in_database(chat_files.retry, session, pk)
        await here.until(lambda page: "queued" in page.soup.select(f"#chat-file-{pk}")[-1]["class"])
        assert len(here.page.soup.select(f"#chat-file-{pk}")) == 1
        await in_database(chat_files.remove, session, pk)
        await here.until(lambda page: not page.soup.select(".chat-file"))

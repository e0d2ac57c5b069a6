"""The map of a session's branches on the chat page, and its updates."""

from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.models import ChatSession, Turn
from conversations.web import contexts
from knowledge.models import KnowledgeBase
from tests.conversations.conftest import run_turn
from tests.conversations.records import make_session, make_turn
from tests.conversations.web.test_consumers import tab, text

RESET = "How do I restore the factory settings of the switch?"
PORTS = "How many ports has the TL-SE2109?"


def branch_map(client: Client, session: ChatSession, **query: Any) -> Tag:
    """Return the element of the map on a session's page."""
    page = client.get(reverse("session", args=[session.pk]), query).content.decode()
    (found,) = BeautifulSoup(page, "lxml").select("#branches")
    return found


def rows(parts: Tag) -> list[Any]:
    """Return a list's items: the text, whether it is on the branch that is shown, and the list below it."""
    found = []
    for item in parts.find_all("li", recursive=False):
        (link,) = item.find_all("a", recursive=False)
        below = item.find("ul", recursive=False)
        words = " ".join(link.get_text(" ", strip=True).split())
        found.append((words, link.get("aria-current") == "true", rows(below) if below else []))
    return found


@pytest.fixture
def forked(owner: User) -> tuple[ChatSession, list[Turn]]:
    """A session of five turns; the third was edited, the fifth answered twice."""
    session = make_session(owner)
    first = make_turn(session, "Which switch is quiet?").turn
    second = make_turn(session, "它有多重？", parent=first).turn
    old = make_turn(session, "And the price?", parent=second).turn
    new = make_turn(session, "And the\n  <b>guarantee</b>?", parent=second).turn
    once, twice = (make_turn(session, "Who repairs it?", parent=new).turn for _number in range(2))
    last = make_turn(session, "Thanks", parent=twice).turn
    return session, [first, second, old, new, once, twice, last]


@pytest.mark.django_db
def test_the_branches_are_shown_as_a_nested_list(as_owner: Client, forked: tuple[ChatSession, list[Turn]]) -> None:
    session, (_first, _second, old, new, _once, _twice, _last) = forked
    found = branch_map(as_owner, session)
    assert rows(found.select("nav > ul")[0]) == [
        ("Which switch is quiet? 2 turns", True, [
            ("And the price? Version 1 of 2 1/2", False, []),
            ("And the <b>guarantee</b>? Version 2 of 2 2/2", True, [
                ("Who repairs it? Version 1 of 2 1/2", False, []),
                ("Who repairs it? 2 turns Version 2 of 2 2/2", True, []),
            ]),
        ]),
    ]  # fmt: skip
    assert found.select("summary")[0]["aria-label"] == "3 branches" and found.name == "details"
    link = found.select(f'a[data-turn="{old.pk}"]')[0]
    address = reverse("session", args=[session.pk])
    assert link["href"] == f"{address}?turn={old.pk}#turn-{old.pk}" and link["hx-get"] == f"{address}?turn={old.pk}"
    there = branch_map(as_owner, session, turn=old.pk)
    shown = [item.get_text(" ", strip=True).split("?")[0] for item in there.select('[aria-current="true"]')]
    assert shown == ["Which switch is quiet", "And the price"]
    assert new.pk  # the branch beside it
    with_new_turns = as_owner.get(address, {"turn": old.pk}, headers={"HX-Request": "true", "HX-Target": "turns"})
    (fragment,) = BeautifulSoup(with_new_turns.content.decode(), "lxml").select("#branches")
    assert fragment["hx-swap-oob"] == "true" and len(fragment.select('[aria-current="true"]')) == 2


@pytest.mark.django_db
def test_the_map_is_in_chinese(as_owner: Client, forked: tuple[ChatSession, list[Turn]]) -> None:
    as_owner.cookies["django_language"] = "zh-hans"
    found = branch_map(as_owner, forked[0])
    assert found.select("summary")[0]["aria-label"] == "3 个分支" and found.select("nav")[0]["aria-label"] == "分支"
    assert "2 轮" in found.get_text() and "第 1 个版本，共 2 个" in found.get_text()


@pytest.mark.django_db
def test_a_session_with_one_branch_has_no_map(owner: User, as_owner: Client) -> None:
    session = make_session(owner)
    assert branch_map(as_owner, session).name == "div"
    make_turn(session, parent=make_turn(session).turn)
    found = branch_map(as_owner, session)
    assert found.name == "div" and found.has_attr("hidden") and not found.get_text(strip=True)


@pytest.mark.django_db
def test_the_map_makes_no_query(owner: User, forked: tuple[ChatSession, list[Turn]]) -> None:
    straight = make_session(owner)
    make_turn(straight, parent=make_turn(straight).turn)
    counts = []
    for session in (straight, forked[0]):
        with CaptureQueriesContext(connection) as made:
            contexts.turns_context(session, None)
        counts.append(len(made))
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_only_some_branches_are_mapped(owner: User, as_owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "MAPPED_BRANCHES", 3)
    session = make_session(owner)
    versions = [make_turn(session, f"Version {number}").turn for number in range(1, 7)]
    found = branch_map(as_owner, session, turn=versions[0].pk)
    assert [words.split(" Version ")[0] for words, _shown, _below in rows(found.select("nav > ul")[0])] == [
        "Version 1", "Version 5", "Version 6",
    ]  # fmt: skip
    assert "3 older branches aren't shown." in found.get_text() and found.select("summary")[0]["title"] == "6 branches"


@pytest.mark.django_db
def test_a_part_that_continues_an_answer_is_named_as_on_the_page(owner: User, as_owner: Client) -> None:
    session = make_session(owner)
    cut = make_turn(session, "How?", status="stopped").turn
    rest = make_turn(session, "How?", parent=cut).turn
    Turn.objects.filter(pk=rest.pk).update(continues=True)
    make_turn(session, "Why?", parent=cut)
    names = [link.select(".truncate")[0].get_text() for link in branch_map(as_owner, session).select("a")]
    assert names == ["How?", "Please continue.", "Why?"]


@pytest.mark.django_db(transaction=True)
async def test_the_map_appears_with_the_first_fork_and_follows_it(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, RESET)
    first = await Turn.objects.aget()
    async with tab(owner, session) as here:
        assert here.page.soup.select("#branches")[0].name == "div"
        await here.send(action="edit", turn_id=first.pk, question=PORTS)
        await here.until(lambda page: page.soup.select("#branches a"))
        await here.until_ended()
        assert text(here.page, "#branches summary") == "2"
        assert text(here.page, '#branches [aria-current="true"]').startswith(PORTS)
        newest = await Turn.objects.alatest("id")
        await here.ask(RESET, parent_turn_id=newest.pk)
        await here.until_ended()
        await here.until(lambda page: "2 turns" in text(page, "#branches nav"))


@pytest.mark.django_db(transaction=True)
async def test_a_branch_asked_elsewhere_is_on_the_map(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, RESET)
    first = await Turn.objects.aget()
    async with tab(owner, session) as left, tab(owner, session) as right:
        await left.send(action="resume", seen="", leaf=str(first.pk), newest=str(first.pk))
        await right.send(action="edit", turn_id=first.pk, question=PORTS)
        await right.until_ended()
        await left.until(lambda page: page.soup.select("#branches a"))
        assert text(left.page, '#branches [aria-current="true"]').startswith(RESET)

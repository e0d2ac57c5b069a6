"""The list of chats: pages, search results, labels and the archive."""

from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations import queries, services
from conversations.models import ChatLabel, ChatSession
from conversations.web import contexts
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def many(owner: User, count: int) -> None:
    now = timezone.now()
    ChatSession.objects.bulk_create(
        ChatSession(
            owner=owner,
            title=f"Chat {number}",
            title_is_automatic=False,
            last_activity_at=now - timedelta(hours=number),
        )
        for number in range(count)
    )


def listed(client: Client, address: str) -> BeautifulSoup:
    return BeautifulSoup(client.get(address, headers=HTMX).content, "html.parser")


def titles(page: BeautifulSoup) -> list[str]:
    return [str(link["title"]) for link in page.select(".session > a")]


def test_the_list_is_paged_to_its_end_with_pinned_chats_first(as_owner: Client, owner: User) -> None:
    many(owner, 230)
    ChatSession.objects.filter(title="Chat 229").update(pinned=True)
    page, seen = listed(as_owner, reverse("search-sessions")), []
    while True:
        seen += titles(page)
        more = page.select_one(".sessions-more")
        if more is None:
            break
        last = page.select(".sessions-head")[-1:]
        page = listed(as_owner, str(more["hx-get"]))
        assert [head.text for head in page.select(".sessions-head")][:1] != [head.text for head in last]
    assert seen == ["Chat 229", *(f"Chat {number}" for number in range(229))]


def test_without_scripts_a_link_opens_the_next_page(as_owner: Client, owner: User) -> None:
    many(owner, 101)
    page = BeautifulSoup(as_owner.get(reverse("search-sessions")).content, "html.parser")
    more = page.select_one(".sessions-more")
    assert more is not None
    page = BeautifulSoup(as_owner.get(str(more["href"])).content, "html.parser")
    assert titles(page) == ["Chat 100"]


def test_a_refreshed_list_keeps_its_length(as_owner: Client, owner: User) -> None:
    many(owner, 230)
    page = listed(as_owner, reverse("search-sessions") + "?shown=200")
    assert len(titles(page)) == 200
    assert page.select("#sessions[data-longer]")


@pytest.mark.parametrize("place", ["x", "1_2", "1_99999999999999999999999_1", "0_5_x", "0_5_-1", "\x00"])
def test_an_invalid_position_starts_at_the_beginning(as_owner: Client, owner: User, place: str) -> None:
    many(owner, 2)
    response = as_owner.get(reverse("search-sessions"), {"before": place}, headers=HTMX)
    assert response.status_code == 200


@pytest.mark.parametrize("count", [3, 90])
def test_it_takes_as_many_queries_for_any_length(owner: User, count: int, django_assert_num_queries: Any) -> None:
    many(owner, count)
    for session in ChatSession.objects.all()[:20]:
        make_turn(session, "How long is the warranty?", "Two years [1].")
    with django_assert_num_queries(1):
        contexts.list_context(owner, None)
    with django_assert_num_queries(2):
        contexts.list_context(owner, None, contexts.Narrowing("warranty"))


def test_a_page_of_ten_thousand_is_read_from_the_index(owner: User) -> None:
    many(owner, 10_000)
    last = ChatSession.objects.get(title="Chat 5000")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_chatsession")
    first = queries.session_list(owner)[:101]
    after = queries.Place.of(last).following(queries.session_list(owner))[:101]
    for rows in (first, after):
        plan = rows.explain()
        assert "session_list" in plan
        assert "Sort" not in plan
        assert "Seq Scan" not in plan


def test_search_results_link_to_their_turn(as_owner: Client, owner: User) -> None:
    session = make_session(owner, "Warranties")
    turn = make_turn(session, "How long?", "The <b>warranty</b> of the **rack** is three `years` [1].").turn
    make_turn(session, "And else?", "Nothing [1].")
    page = listed(as_owner, reverse("search-sessions") + "?q=rack+three")
    assert [mark.text for mark in page.select(".found-words mark")] == ["rack", "three"]
    # Without Markdown, and with highlighting markers that can't be injected.
    assert [found.text for found in page.select(".found-words")] == ["The <b>warranty</b> of the rack is three years."]
    link = page.select_one(".session > a")
    assert link is not None
    assert link["href"] == f"/c/{session.pk}/?turn={turn.pk}&find=rack+three#turn-{turn.pk}"
    shown = BeautifulSoup(as_owner.get(str(link["href"])).content, "html.parser")
    assert shown.select("#transcript[data-find='rack three']")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("* The rack:\n    * *three* years,\n    - and **more**.", "The rack: three years, and more."),
        ("The rack\n\n***\n\n| a | b |\n|---|:--|\n| three | c |", "The rack | a | b | | three | c |"),
        ("The *“rack”* is 2*3 or 2 * 3, *(three)*", "The “rack” is 2*3 or 2 * 3, (three)"),
        ("The rack：注意*三*年，**three**年。*“是”*", "The rack：注意三年，three年。“是”"),
        (r"The rack has 3 \* three", "The rack has 3 * three"),
    ],
)
def test_search_results_are_shown_without_markdown(as_owner: Client, owner: User, said: str, shown: str) -> None:
    make_turn(make_session(owner), "How long?", said)
    page = listed(as_owner, reverse("search-sessions") + "?q=rack+three")
    assert [found.text for found in page.select(".found-words")] == [shown]


def test_archived_chats_are_not_listed_but_found(as_owner: Client, owner: User) -> None:
    session = make_session(owner, "Old affairs")
    make_turn(session)
    other = make_session(owner, "New affairs")
    answer = as_owner.post(reverse("archive-session", args=[session.pk]), headers=HTMX)
    assert titles(BeautifulSoup(answer.content, "html.parser")) == ["New affairs"]
    assert titles(listed(as_owner, reverse("search-sessions") + "?in=archive")) == ["Old affairs"]
    assert set(titles(listed(as_owner, reverse("search-sessions") + "?q=affairs"))) == {"Old affairs", "New affairs"}
    assert services.latest_or_new_session(owner) == other
    # A question in the chat unarchives it.
    services.note_answer(session.pk)
    assert "Old affairs" in titles(listed(as_owner, reverse("search-sessions")))
    as_owner.post(reverse("archive-session", args=[session.pk]))
    as_owner.post(reverse("archive-session", args=[session.pk]))
    assert "Old affairs" in titles(listed(as_owner, reverse("search-sessions")))


def test_labels_filter_the_list(as_owner: Client, owner: User, stranger: User) -> None:
    session, _other = make_session(owner, "Berlin"), make_session(owner, "Paris")
    foreign = services.save_label(stranger, "Theirs")
    address = reverse("session-labels", args=[session.pk])
    as_owner.post(address, {"name": " Travel ", "label": str(foreign.pk)})
    label = session.labels.get()
    assert (label.name, label.owner) == ("Travel", owner)
    assert titles(listed(as_owner, f"{reverse('search-sessions')}?in={label.pk}")) == ["Berlin"]
    assert "<h1>Travel</h1>" in as_owner.get(f"{reverse('search-sessions')}?in={label.pk}").content.decode()
    assert titles(listed(as_owner, f"{reverse('search-sessions')}?in={foreign.pk}")) == []
    assert as_owner.post(address, {"name": "travel"}).status_code == 400
    as_owner.post(reverse("labels"), {"label": label.pk, "name": "Trips"})
    assert "Trips" in as_owner.get(reverse("labels")).content.decode()
    assert as_owner.post(reverse("labels"), {"label": foreign.pk, "name": "Mine"}).status_code == 404
    assert as_owner.post(reverse("labels"), {"delete": foreign.pk}).status_code == 404
    as_owner.post(reverse("labels"), {"delete": label.pk})
    assert list(ChatLabel.objects.all()) == [foreign]
    assert ChatSession.objects.filter(owner=owner).count() == 2


def test_the_api_knows_labels_and_the_archive(as_owner: Client, owner: User, stranger: User) -> None:
    session, other = make_session(owner, "Berlin"), make_session(owner, "Paris")
    made = as_owner.post("/api/chat/labels", {"name": "Travel"}, content_type="application/json")
    assert made.status_code == 201
    label = made.json()["id"]
    again = as_owner.post("/api/chat/labels", {"name": "TRAVEL"}, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "label_exists")
    address = f"/api/chat/sessions/{session.pk}"
    changed = as_owner.patch(address, {"labels": [label], "archived": True}, content_type="application/json")
    assert changed.status_code == 200
    assert as_owner.get(address).json()["labels"] == [label]

    def found(query: str) -> list[int]:
        return [item["id"] for item in as_owner.get(f"/api/chat/sessions{query}").json()["results"]]

    assert found("") == [other.pk]
    assert found("?archived=true") == found(f"?label={label}&archived=true") == found("?q=berlin") == [session.pk]
    assert found(f"?label={label}") == []
    theirs = services.save_label(stranger, "Theirs").pk
    assert as_owner.patch(address, {"labels": [theirs]}, content_type="application/json").status_code == 404
    assert (
        as_owner.patch(f"/api/chat/labels/{label}", {"name": "T"}, content_type="application/json").status_code == 200
    )
    assert as_owner.delete(f"/api/chat/labels/{label}").status_code == 204


def test_the_labels_of_a_chat_are_shown_below_its_title(as_owner: Client, owner: User) -> None:
    session, plain = make_session(owner, "Ports"), make_session(owner, "Lights")
    for name in ("work", "Home"):
        session.labels.add(ChatLabel.objects.create(owner=owner, name=name))
    page = listed(as_owner, reverse("search-sessions"))
    assert page.select_one(f"#session-{session.pk} .session-labels").text == "Labels: Home · work"  # type: ignore[union-attr]
    assert not page.select(f"#session-{plain.pk} .session-labels")
    renamed = as_owner.post(reverse("rename-session", args=[session.pk]), {"title": "Sockets"}, headers=HTMX).text
    assert "Home · work" in renamed


def test_the_account_menu_links_to_saved_prompts(as_owner: Client) -> None:
    page = BeautifulSoup(as_owner.get(reverse("account")).content, "html.parser")
    assert page.select(f'.menu-items a[href="{reverse("saved-prompts")}"]')


def place_of(row: Any) -> tuple[float, ...]:
    return tuple(float(part) for part in str(row["data-place"]).split("_"))


def test_the_places_of_rows_give_the_order_of_the_list(as_owner: Client, owner: User) -> None:
    many(owner, 5)
    ChatSession.objects.filter(title="Chat 3").update(pinned=True)
    ChatSession.objects.filter(title="Chat 4").update(
        last_activity_at=ChatSession.objects.get(title="Chat 0").created_at
    )
    places = [place_of(row) for row in listed(as_owner, reverse("search-sessions")).select(".session")]
    assert places == sorted(places, reverse=True) and len(set(places)) == 5


def test_one_chat_is_sent_as_its_row(owner: User) -> None:
    many(owner, 100)
    chat = ChatSession.objects.get(title="Chat 50")
    news = BeautifulSoup(contexts.row_of(owner, chat.pk), "html.parser")
    (row,) = news.select(".session-news .session")
    assert str(row["id"]) == f"session-{chat.pk}" and titles(news) == ["Chat 50"]
    assert news.select_one("#session-title").text == "Chat 50"  # type: ignore[union-attr]
    whole = BeautifulSoup(contexts.list_of(owner, chat.pk), "html.parser")
    assert news.select_one(".session-news")["data-day"] == whole.select_one("#sessions")["data-day"]  # type: ignore[index]
    services.set_pinned(chat, True)
    assert 'data-group="Pinned"' in contexts.row_of(owner, chat.pk)


def test_a_chat_that_is_not_listed_has_no_row(owner: User) -> None:
    chat = services.create_session(owner)
    services.set_archived(chat, True)
    assert "<li" not in contexts.row_of(owner, chat.pk) and f'data-session="{chat.pk}"' in contexts.row_of(
        owner, chat.pk
    )
    services.create_session(owner)
    services.delete_session(chat)
    assert "<li" not in contexts.row_of(owner, chat.pk)


def test_a_row_is_as_long_in_a_long_list(owner: User, django_assert_num_queries: Any) -> None:
    chat = services.create_session(owner, "Alone")
    alone = contexts.row_of(owner, chat.pk)
    many(owner, 100)
    with django_assert_num_queries(1):
        assert contexts.row_of(owner, chat.pk) == alone

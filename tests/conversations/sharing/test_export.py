"""Tests of exports: a branch as Markdown, all branches as data, and file names."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import translation

from conversations import queries
from conversations.models import ChatSession, Citation, Message, Turn
from conversations.sharing import export
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(owner: User) -> ChatSession:
    return make_session(owner, "Switches: reset / ports")


@pytest.fixture
def turn(session: ChatSession) -> Turn:
    return make_turn(session, "How do I reset it?\nAnd why?").turn


def with_blocks(turn: Turn, *blocks: dict[str, Any], **fields: Any) -> None:
    Message.objects.filter(turn=turn, role="assistant").update(blocks=list(blocks), **fields)


def test_markdown_contains_questions_answers_and_sources(session: ChatSession, turn: Turn) -> None:
    text = export.markdown(session)
    assert text.startswith("# Switches: reset / ports\n\n*Exported on ")
    assert "---\n\n> How do I reset it?\n> And why?\n\nHold the button [1].\n\n**Sources**\n\n" in text
    assert text.endswith("- [1] handbook.txt · Reset · p. 3: “Hold the reset button.”\n")


@pytest.mark.parametrize("name", ["export-markdown", "api-export-markdown"])
def test_blocks_become_markdown(session: ChatSession, turn: Turn, as_owner: Client, name: str) -> None:
    with_blocks(
        turn,
        {"id": "b1", "kind": "text", "text": "Look:\n"},
        {"id": "b2", "kind": "table", "columns": ["Port", "a|b"], "rows": [["1", "two\nlines"]]},
        {"id": "b3", "kind": "code", "language": "sh", "text": "echo ```\n"},
        {"id": "b4", "kind": "image", "alt": "The back", "url": "/p/1/", "width": 1, "height": 1},
        {"id": "b5", "kind": "image", "alt": "", "url": "/p/2/", "width": 1, "height": 1},
        {"id": "b6", "kind": "image", "alt": "Cut off", "url": "", "width": None, "height": None},
    )
    text = as_owner.get(reverse(name, args=[session.pk])).content.decode()
    answer = text.split("> And why?\n\n")[1].split("\n\n**Sources**")[0]
    assert answer == (
        "Look:\n\n| Port | a\\|b |\n| --- | --- |\n| 1 | two lines |\n\n````sh\necho ```\n````\n\n"
        "[The back](http://testserver/p/1/)\n\n[http://testserver/p/2/](http://testserver/p/2/)\n\n*[Cut off]*"
    )


@pytest.mark.parametrize(("status", "word"), [("stopped", "Stopped"), ("failed", "Failed")])
def test_cut_answer_is_marked(session: ChatSession, turn: Turn, status: str, word: str) -> None:
    with_blocks(turn, {"id": "b1", "kind": "text", "text": "Hold"}, status=status)
    assert f"Hold\n\n*({word})*" in export.markdown(session)


def test_automatic_title_is_in_the_readers_language_everywhere(
    owner: User, as_owner: Client, admin_client: Client
) -> None:
    untitled = make_session(owner)
    make_turn(untitled)
    pages = {
        reverse("session", args=[untitled.pk]): 5,  # the title twice, the list, its menu …
        reverse("export-markdown", args=[untitled.pk]): 1,
        reverse("export-json", args=[untitled.pk]): 1,
        reverse("admin:conversations_chatsession_changelist"): 1,
        reverse("admin:conversations_chatsession_change", args=[untitled.pk]): 1,
        reverse("admin:conversations_chatsession_changelist") + "?q=新会话": 1,
    }
    for page, times in pages.items():
        client = admin_client if "admin" in page else as_owner
        shown = client.get(page, headers={"Accept-Language": "zh-hans"}).content.decode()
        assert shown.count("新会话") >= times and "New chat" not in shown, page
        assert "New chat" in client.get(page.replace("新会话", "new")).content.decode(), page


def test_one_branch_is_markdown_and_all_are_data(session: ChatSession, turn: Turn, as_owner: Client) -> None:
    left = make_turn(session, "Left", parent=turn).turn
    right = make_turn(session, "Right", parent=turn).turn
    newest = as_owner.get(reverse("export-markdown", args=[session.pk])).content.decode()
    chosen = as_owner.get(reverse("export-markdown", args=[session.pk]), {"turn": left.pk}).content.decode()
    assert "> Right" in newest and "> Left" not in newest
    assert "> Left" in chosen and "> Right" not in chosen
    for name in ("export-json", "api-export-json"):
        data = as_owner.get(reverse(name, args=[session.pk])).json()
        assert data["session"]["chat_title"] == session.title and data["exported_at"]
        parents = {message["turn_id"]: message["parent_turn_id"] for message in data["messages"]}
        assert parents == {turn.pk: None, left.pk: turn.pk, right.pk: turn.pk}
        assert [message["role"] for message in data["messages"]] == ["user", "assistant"] * 3
        assert data["messages"][1]["citations"][0]["filename"] == "handbook.txt"


def test_names_of_exported_files(session: ChatSession, turn: Turn, as_owner: Client, owner: User) -> None:
    response = as_owner.get(reverse("export-json", args=[session.pk]))
    assert response["Content-Disposition"] == 'attachment; filename="switches-reset-ports.json"'
    chinese = make_session(owner, "恢复出厂设置")
    response = as_owner.get(reverse("export-markdown", args=[chinese.pk]))
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''%E6%81%A2")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert export.filename(make_session(owner, "?!"), "md") == "chat.md"


def test_api_returns_markdown_whatever_is_accepted(session: ChatSession, turn: Turn, as_owner: Client) -> None:
    address = reverse("api-export-markdown", args=[session.pk])
    response = as_owner.get(address, {"turn": turn.pk}, headers={"accept": "text/markdown"})
    assert response.content.decode() == export.markdown(session)
    assert as_owner.get(address, {"turn": "x"}).status_code == 400


def test_markdown_is_in_the_readers_language(session: ChatSession, turn: Turn) -> None:
    with translation.override("zh-hans"):
        assert export.markdown(session).isascii() is False


def test_long_export_takes_few_queries(
    session: ChatSession, as_owner: Client, django_assert_max_num_queries: Any
) -> None:
    parent: Turn | None = None
    for number in range(30):
        parent = make_turn(session, f"Question {number}", parent=parent).turn
    for name in ("export-markdown", "export-json"):
        with django_assert_max_num_queries(11):
            assert as_owner.get(reverse(name, args=[session.pk])).status_code == 200


def test_answer_is_followed_by_links_to_its_cited_sources(session: ChatSession, turn: Turn) -> None:
    with_blocks(
        turn,
        {"id": "b1", "kind": "text", "text": "Hold it [1].\n\n- One\n- Two"},
        {"id": "b2", "kind": "table", "columns": ["A", "B"], "rows": [["1", "x|y"]]},
        {"id": "b3", "kind": "code", "text": "a = `b`\n", "language": "python"},
        {"id": "b4", "kind": "image", "alt": "Panel", "url": "/p/1", "width": None, "height": None},
    )
    answer = Message.objects.get(turn=turn, role="assistant")
    fields = {"request_id": turn.request_id, "score": 0.1, "snippet": "…"}
    Citation.objects.create(message=answer, index=2, cited=False, filename="unused.txt", **fields)
    Citation.objects.create(
        message=answer, index=3, cited=True, filename="b_2.pdf", title="Ports [new]", page=7, **fields
    )
    view = queries.turn_view(session, turn.pk)
    assert view is not None
    text = export.answer(view, "https://here", {1: "https://here/c/1", 3: "https://here/c/3"})
    assert text == (
        "Hold it [1].\n\n- One\n- Two\n\n| A | B |\n| --- | --- |\n| 1 | x\\|y |\n\n```python\na = `b`\n```\n\n"
        "[Panel](https://here/p/1)\n\n**Sources**\n\n"
        "- [1] [handbook.txt](https://here/c/1) · p. 3\n"
        "- [3] [Ports \\[new\\]](https://here/c/3) · b\\_2.pdf · p. 7"
    )


def test_answer_without_sources_is_only_its_text(session: ChatSession, turn: Turn) -> None:
    with_blocks(turn, {"id": "b1", "kind": "text", "text": "Hello."})
    Citation.objects.all().delete()
    view = queries.turn_view(session, turn.pk)
    assert view is not None and export.answer(view, "", {}) == "Hello."

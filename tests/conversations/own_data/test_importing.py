"""Chats of ChatGPT and Open WebUI: their branches, times and texts, sent again, damaged and of other kinds."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from conversations.models import ChatSession, ContextEntry, Turn
from conversations.own_data import importing
from ragsite.exceptions import Refused

pytestmark = pytest.mark.django_db

ANSWER = "Use `pip`:\n\n```sh\npip install lamp\n```\n\n| tool | size |\n|---|---|\n| pip | 2 MB |\n\nThat is all. ![a lamp](https://x.example/l.png)"


def node(key: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    """Return a node as ChatGPT exports it."""
    message = {
        "id": key, "author": {"role": role, "name": None, "metadata": {}}, "create_time": more.pop("at", None),
        "content": {"content_type": more.pop("kind", "text"), "parts": [text]}, "status": "finished_successfully",
        "weight": 1.0, "recipient": more.pop("recipient", "all"), "metadata": {"model_slug": "gpt-4o"} | more,
    }  # fmt: skip
    return {"id": key, "message": message, "parent": parent, "children": []}


CHATGPT = {
    "title": "Lamps and wicks", "conversation_id": "c-1", "create_time": 1700000000.1, "current_node": "a3",
    "mapping": {
        "root": {"id": "root", "message": None, "parent": None, "children": ["s"]},
        "s": node("s", "root", "system", "", is_visually_hidden_from_conversation=True),
        "q1": node("q1", "s", "user", "How do I install a lamp?", at=1700000000.1),
        "t1": node("t1", "q1", "assistant", "search(lamp)", recipient="web", kind="code"),
        "t2": node("t2", "t1", "tool", "Found three lamps."),
        "a1": node("a1", "t2", "assistant", ANSWER, at=1700000009.5),
        "b1": node("b1", "q1", "assistant", "Ask your dealer.\ue200cite\ue202turn0search1\ue201"),
        "q2": node("q2", "a1", "user", "And a wick?", at=1700000100),
        "a2": node("a2", "q2", "assistant", "First this."),
        "a3": node("a3", "a2", "assistant", "Then that.\x00"),
        "q2b": node("q2b", "a1", "user", "And oil?", at=1700000200),
        "q3": node("q3", "b1", "user", "Where is he?", at=1700000300),
    },
}  # fmt: skip
OPEN_WEBUI = {
    "id": "w-1", "user_id": "u", "title": "油灯", "updated_at": 1710000000, "created_at": 1710000000,
    "chat": {
        "title": "油灯", "models": ["qwen3:8b"],
        "history": {
            "currentId": "m2",
            "messages": {
                "m1": {"id": "m1", "parentId": None, "childrenIds": ["m2"], "role": "user", "content": "油灯怎么点？",
                       "timestamp": 1710000000},
                "m2": {"id": "m2", "parentId": "m1", "childrenIds": [], "role": "assistant", "modelName": "Qwen3",
                       "content": '<details type="reasoning" done="true" duration="3">\n<summary>Thought</summary>\n'
                                  "&gt; 先装油。\n</details>\n先装油，再点火。", "timestamp": 1710000005},
            },
        },
    },
}  # fmt: skip


def imported(owner: User, data: Any, name: str = "conversations.json") -> importing.Imported:
    file = io.BytesIO(data if isinstance(data, bytes) else json.dumps(data).encode())
    return importing.import_chats(owner, name, file, len(file.getvalue()))


def zipped(**files: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(f"export/{name}.json", json.dumps(data))
    return buffer.getvalue()


def told(session: ChatSession) -> list[tuple[str, str, str]]:
    """Return each turn's question, answer and the question before it."""
    turns = session.turns.order_by("created_at", "id")
    texts = {turn.pk: dict(turn.messages.values_list("role", "content")) for turn in turns}
    return [
        (texts[turn.pk]["user"], texts[turn.pk]["assistant"], texts.get(turn.parent_turn_id or 0, {}).get("user", ""))
        for turn in turns
    ]


def test_a_chat_of_chatgpt_with_its_branches(owner: User) -> None:
    assert imported(owner, [CHATGPT]) == importing.Imported(added=1)
    session = ChatSession.objects.get(owner=owner)
    assert session.title == "Lamps and wicks" and session.last_activity_at.timestamp() == 1700000300
    first, again, *rest = told(session)
    assert first[0] == again[0] == "How do I install a lamp?" and first[2] == again[2] == ""
    assert first[1].startswith("Use `pip`:") and again[1] == "Ask your dealer."
    assert rest == [
        ("And a wick?", "First this.\n\nThen that.", "How do I install a lamp?"),
        ("And oil?", "", "How do I install a lamp?"),
        ("Where is he?", "", "How do I install a lamp?"),
    ]
    turn = session.turns.order_by("created_at", "id")[0]
    assert (turn.model, round(turn.created_at.timestamp(), 1)) == ("gpt-4o", 1700000000.1)
    blocks = turn.messages.get(role="assistant").blocks
    assert [block["kind"] for block in blocks] == ["text", "code", "table", "text"]
    assert (blocks[1]["language"], blocks[1]["text"]) == ("sh", "pip install lamp\n")
    assert blocks[2]["rows"] == [["pip", "2 MB"]] and "x.example" not in json.dumps(blocks)
    assert ContextEntry.objects.filter(turn=turn, tokens__gt=0).count() == 2, "it can be continued"
    where = session.turns.get(messages__content="Where is he?").parent_turn
    assert where is not None and where.messages.get(role="assistant").content.startswith("Ask your dealer.")


def test_a_chat_of_open_webui(owner: User) -> None:
    early = {"id": "w-0", "title": "Early", "chat": {"messages": [
        {"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ann."},
        {"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Here."},
    ]}}  # fmt: skip
    assert imported(owner, [OPEN_WEBUI, early], "chat-export-17.json").added == 2
    lamp, other = ChatSession.objects.filter(owner=owner).order_by("pk")
    assert told(lamp) == [("油灯怎么点？", "先装油，再点火。", "")]
    answer = lamp.turns.get().messages.get(role="assistant")
    assert (answer.thinking, lamp.turns.get().model) == ("先装油。", "Qwen3")
    assert told(other) == [("Who?", "Ann.", ""), ("Where?", "Here.", "Who?")]


def test_a_zip_file_and_the_same_again(owner: User, stranger: User) -> None:
    data = zipped(**{"conversations-000": [CHATGPT], "conversations-001": [CHATGPT | {"conversation_id": "c-2"}],
                     "user": {"id": "u"}})  # fmt: skip
    assert imported(owner, data, "export.zip") == importing.Imported(added=2)
    ChatSession.objects.filter(owner=owner).first().delete()  # type: ignore[union-attr]
    assert imported(owner, data, "export.zip") == importing.Imported(added=1, known=1)
    assert imported(stranger, data, "export.zip") == importing.Imported(added=2)


def test_one_chat_alone_and_one_without_questions(owner: User) -> None:
    empty = CHATGPT | {"conversation_id": "c-9", "mapping": {"root": CHATGPT["mapping"]["root"]}}  # type: ignore[index]
    assert imported(owner, CHATGPT) == importing.Imported(added=1)
    assert imported(owner, [empty]) == importing.Imported(empty=1)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"title": None}, "How do I install a lamp?"),
        ({"title": "x" * 500}, "x" * 200),
        ({"title": "A\x00 lamp\n"}, "A lamp"),
        ({"mapping": {"a": 3, "b": {"message": {"author": 1}}, "q": node("q", "q", "user", "?")}}, "Lamps and wicks"),
        ({"mapping": {"q": node("q", "gone", "user", "Why?", at=9e99)}}, "Lamps and wicks"),
        ({"mapping": {"q": node("q", None, "user", "Why?", at="soon")}}, "Lamps and wicks"),
    ],
)  # fmt: skip
def test_odd_chats_are_read(owner: User, change: dict[str, Any], what: str) -> None:
    assert imported(owner, [CHATGPT | change]).added == 1
    assert ChatSession.objects.get(owner=owner).title == what


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "unknown_export"),
        (b"%PDF-1.7", "unknown_export"),
        (b"[]", "unknown_export"),
        (b'{"name": "Something else"}', "unknown_export"),
        (b'[{"mapping": {', "damaged_export"),
        (b"[\xff\xfe]", "damaged_export"),
        (zipped(user={"id": "u"}), "unknown_export"),
        (zipped(conversations=[CHATGPT])[:-40], "unknown_export"),
        (zipped(conversations=["x" * 3_000_000]), "damaged_export"),
    ],
)
def test_other_files_are_refused_in_words(owner: User, data: bytes, code: str) -> None:
    with pytest.raises(Refused) as refused:
        imported(owner, data, "mine.zip")
    assert refused.value.code == code and "mine.zip" in refused.value.message
    assert not Turn.objects.exists()


def test_the_page_says_what_was_added(as_owner: Client, owner: User) -> None:
    page = as_owner.get("/account/").content.decode()
    assert f'action="{reverse("import-chats")}"' in page
    file = SimpleUploadedFile("conversations.json", json.dumps([CHATGPT, OPEN_WEBUI]).encode())
    said = as_owner.post(reverse("import-chats"), {"file": file}, follow=True).content.decode()
    assert "2 chats were added." in said
    chat = ChatSession.objects.get(owner=owner, title="油灯")
    assert "先装油，再点火。" in as_owner.get(reverse("session", args=[chat.pk])).content.decode()
    wrong = SimpleUploadedFile("notes.txt", b"Hello.")
    assert "isn’t an export of chats" in as_owner.post(
        reverse("import-chats"), {"file": wrong}, follow=True
    ).content.decode().replace("&#x27;", "’").replace("'", "’")
    assert "Choose a file" in as_owner.post(reverse("import-chats"), {}, follow=True).content.decode()

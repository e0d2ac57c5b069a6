"""Tests of exporting a user's data and of deleting an account."""

import io
import json
import zipfile
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from django.urls import reverse

from conversations import services
from conversations.files import chat_files
from conversations.models import ChatSession, Feedback, MemoryFact
from conversations.own_data import archive
from knowledge.models import Document, KnowledgeBase
from ragsite.accounts.tokens import create_token
from ragsite.asgi import application
from ragsite.db import in_database
from ragsite.models import ApiToken, AuditEntry
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db


def zip_of(pieces: Any) -> zipfile.ZipFile:
    packed = zipfile.ZipFile(io.BytesIO(b"".join(pieces)))
    assert packed.testzip() is None
    return packed


def confirmed(user: User) -> Client:
    client = Client()
    client.force_login(user)
    client.post(reverse("account_reauthenticate"), {"password": "password"})
    return client


def test_zip_contains_files_by_chat_without_deleted_chats(owner: User, as_owner: Client) -> None:
    for title in ("Kept", "Deleted"):
        session = make_session(owner, title=title)
        chat_files.attach(owner, session, "velm.md", SimpleUploadedFile("velm.md", title.encode()))
    services.delete_session(session)
    packed = zip_of(as_owner.post(reverse("download-data")).streaming_content)
    files = {name: packed.read(name) for name in packed.namelist() if "velm" in name}
    assert files == {"chat files/Kept/velm.md": b"Kept"}
    assert json.loads(packed.read("account.json"))["knowledge_bases"] == []
    (text,) = [packed.read(name).decode() for name in packed.namelist() if name.endswith("Kept.md")]
    assert "- velm.md" in text


def test_zip_contains_only_the_users_data(owner: User, stranger: User, as_owner: Client) -> None:
    base = factories.make_knowledge_base(owner, "Harbour: rules/2026")
    for name, content in (("notes.txt", b"one"), ("notes.txt", b"two"), ("../../etc/passwd", b"three")):
        factories.make_document(base, name, content, folder="a/../b")
    factories.make_document(factories.make_knowledge_base(stranger), "secret.txt", b"theirs")
    answer = make_turn(make_session(owner, title="Which port?"))
    make_turn(make_session(stranger, title="Their chat"))
    Feedback.objects.create(message=answer, user=owner, value=-1, comment="Too short")
    MemoryFact.objects.create(user=owner, content="I work in Hamburg.")
    MemoryFact.objects.create(user=stranger, content="Theirs.")
    create_token(owner, "backup")
    response = as_owner.post(reverse("download-data"))
    assert response["Content-Type"] == "application/zip" and "owner" in response["Content-Disposition"]
    packed = zip_of(response.streaming_content)
    names = packed.namelist()
    documents = sorted(name for name in names if name.startswith("documents/"))
    assert {packed.read(name) for name in documents} == {b"one", b"two", b"three"}
    assert not [name for name in names if ".." in name.split("/")] and len(set(names)) == len(names)
    assert json.loads(packed.read("memory.json"))[0]["content"] == "I work in Hamburg."
    assert json.loads(packed.read("feedback.json"))[0]["comment"] == "Too short"
    account = json.loads(packed.read("account.json"))
    assert account["username"] == "owner" and account["tokens"][0]["name"] == "backup"
    chats = [name for name in names if name.startswith("chats/")]
    assert len(chats) == 2 and "Which port?".rstrip("?") in chats[0]
    everything = b"".join(map(packed.read, names)).decode()
    assert "Their" not in everything and "theirs" not in everything and owner.password not in everything
    entry = AuditEntry.objects.get(action="exported")
    assert (entry.actor, entry.details) == (owner, {"what": "own data"})


def test_large_file_is_never_in_memory_as_a_whole(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    factories.make_document(base, "large.bin", bytes(5 * archive.PIECE))
    assert max(map(len, archive.archive(owner, ""))) < 2 * archive.PIECE


@pytest.mark.django_db(transaction=True)
async def test_it_is_streamed_from_the_server(owner: User) -> None:
    await in_database(lambda: make_turn(make_session(owner, title="端口")))
    client = AsyncClient()
    await client.aforce_login(owner)
    response: Any = await client.post(reverse("download-data"))
    packed = zip_of([piece async for piece in response.streaming_content])
    assert [name for name in packed.namelist() if "端口" in name]


def test_deletion_removes_everything_and_says_so_before(owner: User, colleague: User) -> None:
    base = factories.make_knowledge_base(owner, "Harbour rules")
    factories.share(base, colleague)
    document = factories.make_document(base)
    theirs = factories.make_document(factories.make_knowledge_base(colleague))
    Document.objects.filter(pk=theirs.pk).update(uploaded_by=owner)
    make_turn(make_session(owner))
    create_token(owner, "backup")
    elsewhere, here = confirmed(owner), confirmed(owner)
    page = here.get(reverse("delete-account")).content.decode()
    assert "Harbour rules" in page and "shared with 1 person" in page and "1 chat" in page
    assert here.post(reverse("delete-account"), {"username": "Owner"}).status_code == 422
    assert User.objects.filter(username="owner").exists()
    assert here.post(reverse("delete-account"), {"username": "owner"})["Location"] == reverse("login")
    assert not User.objects.filter(username="owner").exists()
    assert not ChatSession.objects.exists() and not ApiToken.objects.exists()
    assert (
        not KnowledgeBase.objects.filter(pk=base.pk).exists() and not Document.objects.filter(pk=document.pk).exists()
    )
    assert Document.objects.get(pk=theirs.pk).uploaded_by is None
    assert elsewhere.get("/account/").status_code == here.get("/account/").status_code == 302
    assert not [each for each in Session.objects.all() if each.get_decoded().get("_auth_user_id") == str(owner.pk)]
    entry = AuditEntry.objects.get(action="deleted", object_type="auth.user")
    assert (entry.actor_id, entry.actor_name, entry.object_name) == (None, "owner", "owner")


@pytest.mark.django_db(transaction=True)
def test_files_are_deleted_after_the_account(owner: User) -> None:
    document = factories.make_document(factories.make_knowledge_base(owner))
    stored = str(document.file.name)
    assert default_storage.exists(stored)
    confirmed(owner).post(reverse("delete-account"), {"username": "owner"})
    assert not default_storage.exists(stored)


def test_password_is_required(owner: User, as_owner: Client) -> None:
    for method in (as_owner.get, as_owner.post):
        assert method(reverse("delete-account"), {"username": "owner"})["Location"].startswith("/account/again/")
    assert User.objects.filter(username="owner").exists()


def test_last_administrator_can_not_be_deleted(staff: User) -> None:
    client = confirmed(staff)
    assert "only administrator" in client.get(reverse("delete-account")).content.decode()
    client.post(reverse("delete-account"), {"username": "staff"})
    assert User.objects.filter(username="staff").exists()
    factories.make_user("second", is_staff=True, is_superuser=True)
    client.post(reverse("delete-account"), {"username": "staff"})
    assert not User.objects.filter(username="staff").exists()


@pytest.mark.django_db(transaction=True)
async def test_sockets_close_with_the_account(owner: User) -> None:
    session = await in_database(make_session, owner)
    client = AsyncClient()
    await client.aforce_login(owner)
    cookie = client.cookies["sessionid"].value
    headers = [(b"cookie", f"sessionid={cookie}".encode())]
    socket = WebsocketCommunicator(application, f"/ws/sessions/{session.pk}/", headers=headers)
    assert (await socket.connect())[0]
    going = await in_database(confirmed, owner)
    await in_database(going.post, reverse("delete-account"), {"username": "owner"})
    assert (await socket.receive_output(timeout=2))["type"] == "websocket.close"

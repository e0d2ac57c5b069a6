"""Tests of the files of a chat: search, access, moving them to a base, and deletion."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations import retention, services
from conversations.files import chat_files
from conversations.models import ChatSession, Message, TraceStep, Turn
from conversations.turns import lifecycle, unstored
from knowledge import access
from knowledge.labels import LabelFilter
from knowledge.models import Attachment, Chunk, Document, KnowledgeBase
from ragsite.accounts.tokens import create_token
from ragsite.api.uploads import MultiPartParser
from ragsite.db import in_database
from ragsite.limits.models import Limit
from tests import factories
from tests.conversations.conftest import run_turn
from tests.conversations.records import make_turn
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

LAMP = "The lamp of the Velm tower is lit an hour before sunset."
QUESTION = "When is the lamp of the Velm tower lit?"


@pytest.fixture(autouse=True)
def stored(settings: Any, tmp_path: Any) -> Iterator[None]:
    settings.MEDIA_ROOT = tmp_path
    yield


def put_in(user: User, session: ChatSession, text: str = LAMP, name: str = "velm.md") -> Document:
    """Add a file to a chat and process it as a worker does."""
    document = chat_files.attach(user, session, name, SimpleUploadedFile(name, text.encode())).document
    read(document, text)
    return document


def read(document: Document, text: str = LAMP) -> None:
    factories.make_chunk(document, text)
    factories.index_document(document.pk)
    Document.objects.filter(pk=document.pk).update(status=Document.Status.READY, progress=100)


async def answer_to(user: User, session: ChatSession, question: str = QUESTION, **fields: Any) -> Message:
    await run_turn(user, session, question, **fields)
    return await Message.objects.filter(turn__session=session, role="assistant").alatest("id")


async def cited(message: Message) -> set[str]:
    return {name async for name in message.citations.filter(cited=True).values_list("filename", flat=True)}


async def test_file_is_searched_in_its_chat_together_with_the_bases(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await in_database(put_in, owner, session)
    assert await cited(await answer_to(owner, session)) == {"velm.md"}
    assert await cited(await answer_to(owner, session, "How many ports has the TL-SE2109 switch?")) == {"handbook.txt"}


async def test_files_are_searched_whatever_the_scope(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await in_database(put_in, owner, session)
    chosen = await handbook.documents.afirst()
    assert chosen is not None
    for scope in ({"knowledge_base_ids": [handbook.pk]}, {"document_ids": [chosen.pk]}, {"labels": (["none"], {})}):
        await in_database(lambda scope=scope: services.set_scope(owner, session, **scope))
        assert await cited(await answer_to(owner, session)) == {"velm.md"}, scope
    # Its tags still limit the bases.
    assert not await cited(await answer_to(owner, session, "How many ports has the TL-SE2109 switch?"))


async def test_files_are_not_found_from_other_chats_or_by_search(
    owner: User, session: ChatSession, handbook: KnowledgeBase, as_owner: Client
) -> None:
    document = await in_database(put_in, owner, session)
    other = await in_database(services.create_session, owner)
    assert not await cited(await answer_to(owner, other))
    state = await unstored.answer(owner, QUESTION)
    assert state.found.hits == []
    for body in ({}, {"knowledge_bases": [handbook.pk]}):
        found = await in_database(
            lambda body=body: as_owner.post("/api/search", {"query": QUESTION} | body, content_type="application/json")
        )
        hits = found.json()["hits"]
        assert hits and document.pk not in [hit["document_id"] for hit in hits]
    for body in ({"documents": [document.pk]}, {"knowledge_bases": [document.knowledge_base_id]}):
        found = await in_database(
            lambda body=body: as_owner.post("/api/search", {"query": QUESTION} | body, content_type="application/json")
        )
        assert found.status_code == 404
    await in_database(lambda: services.set_scope(owner, other, document_ids=[document.pk]))
    assert not await other.documents.aexists()


def reach(user: User, document: Document) -> list[QuerySet[Any]]:
    chunks = Chunk.objects.filter(document=document)
    return [
        access.readable(user).filter(pk=document.knowledge_base_id),
        access.at_hand(user).filter(pk=document.knowledge_base_id),
        access.editable(user).filter(pk=document.knowledge_base_id),
        access.owned(user).filter(pk=document.knowledge_base_id),
        access.searchable_documents(user).filter(pk=document.pk),
        access.readable_documents(user).filter(pk=document.pk),
        access.readable_chunks(user).filter(pk__in=chunks),
    ]


def test_other_users_have_no_access_to_a_file(
    owner: User, session: ChatSession, handbook: KnowledgeBase, colleague: User, as_colleague: Client,
    stranger: User, as_stranger: Client, staff: User, as_staff: Client,
) -> None:  # fmt: skip
    factories.share(handbook, colleague, "editor")
    document = put_in(owner, session)
    chunk = document.chunks.get()
    assert [found.exists() for found in reach(owner, document)] == [False] * 5 + [True] * 2
    pages = [
        f"/knowledge/{document.knowledge_base_id}/", f"/knowledge/documents/{document.pk}/",
        f"/knowledge/documents/{document.pk}/file", f"/knowledge/documents/{document.pk}/row/",
        f"/api/documents/{document.pk}", f"/api/documents/{document.pk}/chunks", f"/api/documents/{document.pk}/file",
        f"/api/knowledge-bases/{document.knowledge_base_id}/documents", f"/api/chat/sessions/{session.pk}/files",
        f"/api/chat/sessions/{session.pk}/files/{document.pk}", f"/knowledge/passages/{chunk.pk}/",
    ]  # fmt: skip
    for user, client in ((colleague, as_colleague), (stranger, as_stranger), (staff, as_staff)):
        assert not any(found.exists() for found in reach(user, document)), user
        for page in pages:
            assert client.get(page).status_code == 404, (user, page)
        assert client.delete(f"/api/documents/{document.pk}").status_code == 404
        assert client.post(f"/knowledge/documents/{document.pk}/delete/").status_code == 404
        listed = client.get("/api/knowledge-bases").json()["results"]
        assert document.knowledge_base_id not in [base["id"] for base in listed]
    assert Document.objects.filter(pk=document.pk).exists()


def test_owner_can_read_a_file_but_does_not_see_its_base(owner: User, session: ChatSession, as_owner: Client) -> None:
    document = put_in(owner, session)
    page = as_owner.get(f"/knowledge/documents/{document.pk}/")
    assert LAMP in page.content.decode() and f"/knowledge/{document.knowledge_base_id}/chat/" in page.content.decode()
    assert as_owner.get(f"/knowledge/{document.knowledge_base_id}/").status_code == 404
    assert as_owner.get(f"/knowledge/{document.knowledge_base_id}/chat/").url == f"/c/{session.pk}/"
    listed = as_owner.get("/api/knowledge-bases").json()["results"]
    assert listed == []


def test_api_for_files(owner: User, session: ChatSession, as_owner: Client) -> None:
    address = f"/api/chat/sessions/{session.pk}/files"
    sent = as_owner.post(address, {"file": SimpleUploadedFile("velm.md", LAMP.encode())})
    assert sent.status_code == 202
    document = Document.objects.get(pk=sent.json()[0]["id"])
    assert [each["id"] for each in as_owner.get(address).json()] == [document.pk]
    assert as_owner.get(f"{address}/{document.pk}").json()["status"] == "queued"
    assert as_owner.post(address, {"file": SimpleUploadedFile("velm.exe", b"MZ")}).status_code == 415
    assert as_owner.post(address, {}).status_code == 400
    base = factories.make_knowledge_base(owner)
    keep = f"{address}/{document.pk}/keep"
    busy = as_owner.post(keep, {"knowledge_base": base.pk}, content_type="application/json")
    assert (busy.status_code, busy.json()["code"]) == (409, "busy")
    assert as_owner.delete(f"{address}/{document.pk}").status_code == 204
    assert as_owner.get(address).json() == [] and not default_storage.exists(str(document.file))


def test_file_moved_to_a_base_keeps_its_passages(
    owner: User, session: ChatSession, handbook: KnowledgeBase, as_owner: Client, stranger: User
) -> None:
    services.set_scope(owner, session, [handbook.pk])
    document = put_in(owner, session)
    base, foreign = factories.make_knowledge_base(owner), factories.make_knowledge_base(stranger)
    keep = f"/api/chat/sessions/{session.pk}/files/{document.pk}/keep"
    refused = as_owner.post(keep, {"knowledge_base": foreign.pk}, content_type="application/json")
    assert refused.status_code == 404
    kept = as_owner.post(keep, {"knowledge_base": base.pk}, content_type="application/json")
    assert (kept.status_code, kept.json()["knowledge_base"], kept.json()["status"]) == (200, base.pk, "ready")
    assert not chat_files.files_of(session).exists()
    assert set(session.knowledge_bases.all()) == {handbook, base}  # so that it is still searched
    found = as_owner.post("/api/search", {"query": QUESTION}, content_type="application/json").json()["hits"]
    assert found[0]["document_id"] == document.pk
    again = put_in(owner, session)
    keep = f"/api/chat/sessions/{session.pk}/files/{again.pk}/keep"
    there = as_owner.post(keep, {"knowledge_base": base.pk}, content_type="application/json")
    assert (there.status_code, there.json()["code"]) == (409, "already_there")


async def test_question_waits_for_a_file_being_processed(owner: User, session: ChatSession) -> None:
    document = (
        await in_database(
            lambda: chat_files.attach(owner, session, "velm.md", SimpleUploadedFile("velm.md", LAMP.encode()))
        )
    ).document
    looks = 0
    reading_of = chat_files.reading_of

    def read_at_last(files_id: int, turn_id: int) -> chat_files.Reading:
        nonlocal looks
        looks += 1
        if looks == 3:
            read(document)
        return reading_of(files_id, turn_id)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("conversations.pipeline.nodes.wait_for_files.reading_of", read_at_last)
        events = await run_turn(owner, session, QUESTION)
    steps = [event for event in events if getattr(event, "key", "") == "wait_for_files"]
    assert [step.status for step in steps] == ["processing", "completed"]  # type: ignore[attr-defined]
    assert steps[0].message == "Reading “velm.md” · 0%"  # type: ignore[attr-defined]
    answer = await Message.objects.filter(turn__session=session, role="assistant").alatest("id")
    assert await cited(answer) == {"velm.md"}


@pytest.mark.parametrize(
    ("stage", "reads_scans", "waits"),
    [("words", False, True), ("scans", True, False), ("words", True, True)],
)
def test_a_file_is_searchable_once_its_words_are_indexed(
    stage: str, reads_scans: bool, waits: bool, owner: User, session: ChatSession
) -> None:
    document = chat_files.attach(owner, session, "velm.md", SimpleUploadedFile("velm.md", LAMP.encode())).document
    factories.make_chunk(document, LAMP)  # which is stored before it is indexed
    Document.objects.filter(pk=document.pk).update(status=Document.Status.PARSING, stage=stage, reads_scans=reads_scans)
    reading = chat_files.reading_of(document.knowledge_base_id, 0)
    assert bool(reading.unread) == waits


async def test_answer_begins_with_a_note_on_unprocessed_files(
    owner: User, session: ChatSession, handbook: KnowledgeBase, settings: Any
) -> None:
    settings.FILE_WAIT_SECONDS = 0
    await in_database(
        lambda: chat_files.attach(owner, session, "velm.md", SimpleUploadedFile("velm.md", LAMP.encode()))
    )
    broken = await in_database(put_in, owner, session, "Broken.", "broken.md")
    await Document.objects.filter(pk=broken.pk).aupdate(
        status="failed", error_code="broken", finished_at=timezone.now()
    )
    answer = await answer_to(owner, session, "How many ports has the TL-SE2109 switch?")
    assert answer.content.startswith("*“velm.md” was still being read and was not searched. “broken.md” could not be")
    assert await cited(answer) == {"handbook.txt"}
    step = await TraceStep.objects.aget(turn=answer.turn_id, key="wait_for_files")
    assert (step.detail["unread"], step.detail["failed"]) == (["velm.md"], ["broken.md"])
    assert not [check for check in answer.checks if check["status"] == "uncited"]  # the note is the site's own text
    again = await answer_to(owner, session, "How many ports has the TL-SE2109 switch?")
    assert "broken.md" not in again.content  # it was reported before


async def test_summary_request_refers_to_the_file(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    await in_database(put_in, owner, session)
    answer = await answer_to(owner, session, "Summarise this document")
    assert "an hour before sunset" in answer.content


def test_files_are_deleted_with_their_chat(owner: User, session: ChatSession, settings: Any) -> None:
    document = put_in(owner, session)
    services.delete_session(session)
    assert default_storage.exists(str(document.file))  # the deletion can be undone
    settings.PURGE_AFTER_DAYS = 0
    retention.clean_up()
    assert not ChatSession.objects.filter(pk=session.pk).exists()
    assert not KnowledgeBase.objects.filter(pk=document.knowledge_base_id).exists()
    assert not default_storage.exists(str(document.file))


def test_files_are_deleted_with_their_owner_even_if_bases_are_transferred(
    owner: User, session: ChatSession, handbook: KnowledgeBase, colleague: User, as_staff: Client
) -> None:
    document = put_in(owner, session)
    form = {"post": "yes", "bases": "hand_over", "heir": colleague.pk}
    as_staff.post(f"/admin/auth/user/{owner.pk}/delete/", form)
    assert KnowledgeBase.objects.get().owner == colleague
    assert not default_storage.exists(str(document.file))


def test_unused_chat_with_files_is_not_reused(owner: User, session: ChatSession) -> None:
    put_in(owner, session)
    assert services.empty_session(owner) != session


def test_number_of_files_is_limited(
    owner: User, session: ChatSession, as_owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_files, "MOST_FILES", 1)
    address = f"/api/chat/sessions/{session.pk}/files"
    two = [SimpleUploadedFile("a.md", b"One."), SimpleUploadedFile("b.md", b"Two.")]
    assert as_owner.post(address, {"file": two}).status_code == 409
    assert as_owner.get(address).json() == []  # none of them was added
    put_in(owner, session)
    refused = as_owner.post(address, {"file": SimpleUploadedFile("b.md", b"More.")})
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many")


def test_api_for_tags_and_fields_of_a_session(owner: User, as_owner: Client, handbook: KnowledgeBase) -> None:
    def send(method: str, address: str, body: dict[str, Any]) -> Any:
        return getattr(as_owner, method)(address, body, content_type="application/json")

    made = send("post", "/api/chat/sessions", {"tags": ["ports"], "metadata": {"year": {"gte": 2026}}}).json()
    address = f"/api/chat/sessions/{made['session_id']}"
    shown = as_owner.get(address).json()
    assert (shown["tags"], shown["metadata"]) == (["ports"], {"year": {"gte": 2026}})
    send("patch", address, {"knowledge_bases": [handbook.pk]})
    send("patch", address, {"metadata": {}})
    shown = as_owner.get(address).json()
    assert (shown["knowledge_bases"], shown["tags"], shown["metadata"]) == ([handbook.pk], ["ports"], {})
    assert send("patch", address, {"metadata": {"year": {"about": 2026}}}).status_code == 400
    assert send("patch", address, {"tags": ["a,b"]}).status_code == 400


async def test_question_searches_documents_with_a_tag_or_field(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    other = await in_database(factories.make_document, handbook, "other.txt", b"other", tags=["new"], metadata={"y": 9})
    await in_database(read, other, "The warranty of the new rack mounting kit lasts nine years.")
    question = "How long does the warranty of the rack mounting kit last?"
    await in_database(lambda: services.set_scope(owner, session, labels=(["new"], {})))
    answer = await answer_to(owner, session, question)
    assert await cited(answer) == {"other.txt"}
    step = await TraceStep.objects.aget(turn=answer.turn_id, key="search")
    assert (step.detail["tags"], step.detail["knowledge_bases"]) == (["new"], [handbook.pk])
    # A scope for one question; the next one uses the session's again.
    everything = await answer_to(owner, session, question, labels=LabelFilter())
    assert "handbook.txt" in await cited(everything)
    by_field = await answer_to(owner, session, question, labels=LabelFilter.read((), {"y": {"lt": 9}}))
    assert not await cited(by_field)


async def test_chat_can_be_limited_to_a_folder_on_its_page_and_by_api(
    owner: User, session: ChatSession, handbook: KnowledgeBase, as_owner: Client
) -> None:
    inner = await in_database(factories.make_document, handbook, "inner.txt", b"inner", folder="guide/kits")
    await in_database(read, inner, "The warranty of the new rack mounting kit lasts nine years.")
    question = "How long does the warranty of the rack mounting kit last?"

    def post(**given: str) -> str:
        return as_owner.post(reverse("choose-scope", args=[session.pk]), given, headers={"HX-Request": "true"}).text

    found = await in_database(lambda: as_owner.get(reverse("find-scope", args=[session.pk]), {"q": "guide"}).text)
    assert 'name="add_folder" value="guide"' in found and 'value="guide/kits"' in found
    assert "drop_folder" in await in_database(lambda: post(add_folder="guide"))
    answer = await answer_to(owner, session, question)
    assert await cited(answer) == {"inner.txt"}
    step = await TraceStep.objects.aget(turn=answer.turn_id, key="search")
    assert step.detail["folder"] == "guide"
    shown = await in_database(lambda: as_owner.get(f"/api/chat/sessions/{session.pk}").json())
    assert shown["folder"] == "guide"
    assert "drop_folder" not in await in_database(lambda: post(drop_folder="1"))
    assert "handbook.txt" in await cited(await answer_to(owner, session, question))
    for folder, names in (("elsewhere", set()), ("guide/kits", {"inner.txt"})):
        changed = await in_database(
            lambda folder=folder: as_owner.patch(
                f"/api/chat/sessions/{session.pk}", {"folder": folder}, content_type="application/json"
            )
        )
        assert changed.status_code == 200
        assert await cited(await answer_to(owner, session, question)) == names
    assert not await cited(await answer_to(owner, session, question, labels=LabelFilter.read(folder="none")))


def test_button_resets_the_scope(owner: User, session: ChatSession, handbook: KnowledgeBase, as_owner: Client) -> None:
    services.set_scope(owner, session, [handbook.pk], (), (["new"], {"y": 9}), "guide")
    as_owner.post(reverse("choose-scope", args=[session.pk]), {"knowledge_base": handbook.pk, "everything": "1"})
    session.refresh_from_db()
    nothing = {"knowledge_bases": [], "documents": [], "tags": [], "metadata": {}, "folder": ""}
    assert services.scope_of(session) == nothing


async def test_regenerated_answer_has_the_scope_of_its_question(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    other = await in_database(factories.make_knowledge_base, owner, "Other")
    document = await in_database(factories.make_document, other, "other.txt", b"other", tags=["new"])
    await in_database(read, document, "The warranty of the new rack mounting kit lasts nine years.")
    question = "How long does the warranty of the rack mounting kit last?"

    def narrow(**scope: Any) -> None:
        services.set_scope(owner, session, **scope)

    async def regenerated(message: Message) -> set[str]:
        started = await lifecycle.regenerate(owner, message.pk)
        await wait_for_all()
        return await cited(await Message.objects.aget(pk=started.assistant_message_id))

    everywhere = {"knowledge_base_ids": [], "document_ids": [], "labels": ((), {})}
    for scope in ({"knowledge_base_ids": [other.pk]}, {"document_ids": [document.pk]}, {"labels": (["new"], {})}):
        await in_database(lambda scope=scope: narrow(**everywhere | scope))
        answer = await answer_to(owner, session, question)
        await in_database(lambda: narrow(knowledge_base_ids=[handbook.pk]))
        assert await regenerated(answer) == {"other.txt"}, scope
    # Turns stored before scopes were recorded use the chat's current scope.
    await Turn.objects.filter(pk=answer.turn_id).aupdate(scope=None)
    assert await regenerated(answer) == {"handbook.txt"}
    # An edited question is a new one.
    edited = await lifecycle.edit(owner, answer.turn_id, question)
    await wait_for_all()
    assert await cited(await Message.objects.aget(pk=edited.assistant_message_id)) == {"handbook.txt"}


async def test_continued_answer_has_the_scope_of_its_question(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    other = await in_database(factories.make_knowledge_base, owner, "Other")
    await in_database(lambda: services.set_scope(owner, session, [handbook.pk]))
    answer = await answer_to(owner, session, "How long is the warranty of the rack mounting kit?")
    await Message.objects.filter(pk=answer.pk).aupdate(status=Message.Status.STOPPED)
    await in_database(lambda: services.set_scope(owner, session, [other.pk]))
    started = await lifecycle.continue_answer(owner, answer.pk)
    await wait_for_all()
    turn = await Turn.objects.aget(pk=started.turn_id)
    assert turn.scope["knowledge_bases"] == [handbook.pk]


def test_files_of_a_deleted_chat_are_inaccessible_until_it_is_restored(
    owner: User, session: ChatSession, as_owner: Client
) -> None:
    document = put_in(owner, session)
    chunk = document.chunks.get()
    pages = [
        f"/knowledge/documents/{document.pk}/", f"/knowledge/documents/{document.pk}/file",
        f"/api/documents/{document.pk}", f"/api/documents/{document.pk}/chunks", f"/api/documents/{document.pk}/file",
        f"/knowledge/passages/{chunk.pk}/", f"/api/chat/sessions/{session.pk}/files/{document.pk}",
    ]  # fmt: skip
    assert {as_owner.get(page).status_code for page in pages} == {200}
    services.delete_session(session)
    assert {page: as_owner.get(page).status_code for page in pages} == dict.fromkeys(pages, 404)
    assert as_owner.delete(f"/api/documents/{document.pk}").status_code == 404
    services.restore_session(owner, session.pk)
    assert {as_owner.get(page).status_code for page in pages} == {200}


def test_moving_a_file_is_limited_by_the_storage_of_the_base_owner(
    owner: User, colleague: User, session: ChatSession, as_owner: Client
) -> None:
    Limit.objects.create(user=colleague, storage_mb=1)
    base = factories.make_knowledge_base(colleague)
    factories.share(base, owner, "editor")
    own = factories.make_knowledge_base(owner)
    fits, large = put_in(owner, session), put_in(owner, session, LAMP * 2, "large.md")
    Document.objects.filter(pk=large.pk).update(size=1024 * 1024)
    keep = f"/api/chat/sessions/{session.pk}/files/{{}}/keep"
    kept = as_owner.post(keep.format(fits.pk), {"knowledge_base": base.pk}, content_type="application/json")
    assert kept.status_code == 200
    refused = as_owner.post(keep.format(large.pk), {"knowledge_base": base.pk}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (413, "storage_full")
    page = as_owner.post(reverse("keep-chat-file", args=[session.pk, large.pk]), {"knowledge_base": base.pk})
    assert page.status_code == 302 and Document.objects.get(pk=large.pk).knowledge_base_id == session.files_id
    # A file that its owner already stores takes no more room in another base.
    Limit.objects.create(user=owner, storage_mb=1)
    assert (
        as_owner.post(keep.format(large.pk), {"knowledge_base": own.pk}, content_type="application/json").status_code
        == 200
    )


def test_email_is_moved_with_its_attachments_or_not_at_all(
    owner: User, colleague: User, session: ChatSession, as_owner: Client
) -> None:
    base = factories.make_knowledge_base(colleague)
    factories.share(base, owner, "editor")
    Limit.objects.create(user=colleague, storage_mb=1)
    mail = put_in(owner, session, name="velm.md")
    large = factories.make_document(mail.knowledge_base, "large.txt", is_attachment=True)
    there = factories.make_document(mail.knowledge_base, "there.txt", b"words", is_attachment=True)
    same = factories.make_document(base, "same.txt", b"words")
    Document.objects.filter(pk=large.pk).update(size=1024 * 1024)
    for each in (large, there):
        Attachment.objects.create(mail=mail, document=each, name=each.original_filename, size=1)

    def keep() -> Any:
        address = f"/api/chat/sessions/{session.pk}/files/{mail.pk}/keep"
        return as_owner.post(address, {"knowledge_base": base.pk}, content_type="application/json")

    refused = keep()
    assert (refused.status_code, refused.json()["code"]) == (413, "storage_full")
    assert set(mail.knowledge_base.documents.all()) == {mail, large, there}
    Limit.objects.all().delete()
    assert keep().status_code == 200  # although the base has the bytes of an attachment
    assert [item.document for item in mail.attachments.all()] == [large, same]
    assert set(base.documents.all()) == {mail, large, same}


def test_oversized_upload_is_refused_by_its_content_length(
    owner: User, session: ChatSession, as_owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = factories.make_knowledge_base(owner)
    Limit.objects.create(user=owner, storage_mb=1)
    client = Client(headers={"Authorization": f"Bearer {create_token(owner, 'sync')}"})
    monkeypatch.setattr(MultiPartParser, "parse", None)  # parsing reads the body
    for address in (f"/api/knowledge-bases/{base.pk}/documents", f"/api/chat/sessions/{session.pk}/files"):
        refused = client.post(address, {"file": SimpleUploadedFile("big.txt", b"words " * 300_000)})
        assert (refused.status_code, refused.json()["code"]) == (413, "storage_full"), address
        assert "1 MB" in str(refused.json())


def test_export_lists_the_files_of_a_chat(owner: User, session: ChatSession, as_owner: Client) -> None:
    document = put_in(owner, session, name="velm_tower.md")
    text = as_owner.get(f"/api/chat/sessions/{session.pk}/export.md").text
    assert "**Files of this chat**" in text and r"- velm\_tower.md" in text
    make_turn(session, "Is it lit?")
    text = as_owner.get(f"/api/chat/sessions/{session.pk}/export.md").text
    assert text.index(r"- velm\_tower.md") < text.index("Is it lit?")  # before the turns that mention them
    (file,) = as_owner.get(f"/api/chat/sessions/{session.pk}/export.json").json()["files"]
    assert (file["id"], file["filename"], file["size"]) == (document.pk, "velm_tower.md", len(LAMP))
    other = services.create_session(owner)
    assert "Files of this chat" not in as_owner.get(f"/api/chat/sessions/{other.pk}/export.md").text

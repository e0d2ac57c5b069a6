"""The API of knowledge bases, members and documents."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from knowledge.ingestion import ingestion
from knowledge.models import Document, KnowledgeBase
from knowledge.parsing.legacy import libreoffice
from tests import factories
from tests.knowledge.conftest import upload_of

BASES = "/api/knowledge-bases"


def test_bases_are_listed_with_the_callers_role(
    as_owner: Client, as_colleague: Client, as_stranger: Client, base: KnowledgeBase
) -> None:
    factories.make_document(base)
    (own,) = as_owner.get(BASES).json()["results"]
    assert (own["name"], own["role"], own["documents"], own["owner"]) == ("Drinks", "owner", 1, "owner")
    (shared,) = as_colleague.get(BASES).json()["results"]
    assert shared["role"] == "viewer"
    assert as_stranger.get(BASES).json()["results"] == []


def test_the_list_takes_the_same_queries_for_any_number(
    as_owner: Client, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(6):
        factories.make_document(factories.make_knowledge_base(owner))
    with django_assert_num_queries(4):  # session, user, count, bases
        as_owner.get(BASES)


def test_a_base_is_created_changed_and_deleted(as_owner: Client, owner: User) -> None:
    made = as_owner.post(BASES, {"name": "Law"}, "application/json")
    assert made.status_code == 201
    assert (made.json()["visibility"], made.json()["documents"], made.json()["role"]) == ("private", 0, "owner")
    address = f"{BASES}/{made.json()['id']}"
    changed = as_owner.patch(address, {"name": "Tax", "visibility": "site"}, "application/json")
    assert (changed.status_code, changed.json()["name"], changed.json()["role"]) == (200, "Tax", "owner")
    assert as_owner.delete(address).status_code == 204
    assert not KnowledgeBase.objects.exists()


def test_refusals_give_a_reason(as_owner: Client, base: KnowledgeBase) -> None:
    for data, word, status in (
        ({"name": "Drinks"}, "already", 409),
        ({"name": ""}, "name", 400),
        ({"name": 5}, "name", 400),
        ({"name": "x", "chunk_size": 10}, "40", 400),
        ({"name": "x", "chunk_size": "100"}, "chunk_size", 400),
        ({"name": "x", "answer_from_general_knowledge": 1}, "answer_from_general_knowledge", 400),
    ):
        answer = as_owner.post(BASES, data, "application/json")
        assert answer.status_code == status
        assert word in answer.json()["detail"]
        assert answer.json()["code"]
    overlap = as_owner.patch(f"{BASES}/{base.pk}", {"chunk_overlap": 200}, "application/json")
    assert "shorter than the passage length" in overlap.json()["detail"]


def test_groups_are_added_and_removed(
    as_owner: Client, as_stranger: Client, base: KnowledgeBase, stranger: User
) -> None:
    stranger.groups.add(group := Group.objects.create(name="Support"))
    address = f"{BASES}/{base.pk}/groups"
    assert as_stranger.get(address).status_code == 404
    made = as_owner.post(address, {"group": "Support"}, "application/json")
    assert made.status_code == 201
    listed = {"group_id": group.pk, "group": "Support", "people": 1, "role": "viewer"}
    assert (
        made.json().items() >= listed.items() and as_owner.get(address).json()["results"][0].items() >= listed.items()
    )
    assert "Support" not in as_owner.get(f"{BASES}/{base.pk}/members").content.decode()
    assert as_stranger.post(address, {"group": "Support", "role": "editor"}, "application/json").status_code == 403
    unknown = as_owner.post(address, {"group": "Sales"}, "application/json")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_group")
    assert as_owner.delete(f"{address}/{group.pk}").status_code == 204
    assert as_owner.delete(f"{address}/{group.pk}").status_code == 404
    assert as_stranger.get(address).status_code == 404


def test_members_are_added_and_removed(as_owner: Client, base: KnowledgeBase, stranger: User) -> None:
    address = f"{BASES}/{base.pk}/members"
    added = as_owner.post(address, {"username": "stranger", "role": "editor"}, "application/json")
    assert (added.status_code, added.json()["user_id"], added.json()["role"]) == (201, stranger.pk, "editor")
    names = [member["username"] for member in as_owner.get(address).json()["results"]]
    assert names == ["colleague", "stranger"]
    unknown = as_owner.post(address, {"username": "ghost"}, "application/json")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_user")
    assert as_owner.delete(f"{address}/{stranger.pk}").status_code == 204
    assert as_owner.delete(f"{address}/{stranger.pk}").status_code == 404


@pytest.mark.usefixtures("indexer")
def test_an_upload_returns_202_and_is_followed_to_its_end(as_owner: Client, base: KnowledgeBase) -> None:
    files = [upload_of(), upload_of("empty.txt", b"")]
    answer = as_owner.post(f"{BASES}/{base.pk}/documents", {"file": files})
    assert answer.status_code == 202
    good, bad = answer.json()
    assert good == {
        "id": good["id"],
        "filename": "drinks.md",
        "folder": "",
        "title": "drinks.md",
        "status": "queued",
        "stage": "",
        "progress": 0,
        "error": None,
        "notice": "",
        "pages": None,
        "chunks": 0,
        "attachments": [],
        "attached_to": [],
        "url": f"/api/documents/{good['id']}",
        "already_here": False,
        "knowledge_base": base.pk,
        "tags": [],
        "metadata": {},
    }
    for document in (good, bad):
        ingestion.ingest(document["id"])
    done = as_owner.get(good["url"]).json()
    assert (done["status"], done["progress"], done["chunks"] > 0) == ("ready", 100, True)
    failed = as_owner.get(bad["url"]).json()
    assert (failed["status"], failed["error"]["code"]) == ("failed", "empty")
    assert "empty" in failed["error"]["message"]
    again = as_owner.post(f"{BASES}/{base.pk}/documents", {"file": upload_of("copy.md")}).json()
    assert (again[0]["id"], again[0]["already_here"]) == (good["id"], True)


def test_an_upload_over_the_limit_is_413(as_owner: Client, base: KnowledgeBase, settings: Settings) -> None:
    settings.MAX_UPLOAD_MB = 1
    files = [upload_of(), upload_of("big.txt", b"x" * (1024 * 1024 + 1))]
    answer = as_owner.post(f"{BASES}/{base.pk}/documents", {"file": files})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert "big.txt" in answer.json()["detail"]
    assert not base.documents.exists()


def test_an_upload_without_a_file_is_400(as_owner: Client, base: KnowledgeBase) -> None:
    answer = as_owner.post(f"{BASES}/{base.pk}/documents", {"name": "x"})
    assert answer.status_code == 400
    assert "No file was sent" in answer.json()["detail"]


def test_errors_and_notices_are_in_the_language_of_the_client(as_owner: Client, base: KnowledgeBase) -> None:
    notices = [{"key": "left_out.columns", "columns": 2000, "most": 1000}, {"text": "Words of an earlier version."}]
    error = {"key": "broken.mislabelled", "extension": "docx", "found": "text"}
    document = factories.make_document(base, status="failed", error_code="broken", error=error, notices=notices)
    answers = {}
    for language in ("en", "zh-hans"):
        answers[language] = as_owner.get(f"/api/documents/{document.pk}", headers={"Accept-Language": language}).json()
        page = as_owner.get(reverse("knowledge-base", args=[base.pk]), headers={"Accept-Language": language})
        assert answers[language]["error"]["message"] in page.content.decode()
        assert answers[language]["error"]["code"] == "broken"
    english, chinese = answers["en"]["error"]["message"], answers["zh-hans"]["error"]["message"]
    assert english == "The file is named .docx but its content is a text file. Rename or convert it."
    assert ".docx" in chinese and english != chinese
    first, second = answers["zh-hans"]["notice"].splitlines()
    assert "2,000" in first and "A table" not in first and second == "Words of an earlier version."


def test_documents_are_listed(
    as_colleague: Client, base: KnowledgeBase, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        factories.make_chunk(factories.make_document(base, f"{number}.txt"))
    factories.make_document(base, "bad.txt", status="failed", error_code="broken", error={"text": "Damaged."})
    with django_assert_num_queries(7):  # session, user, base, count, documents, attachments, mails
        listed = as_colleague.get(f"{BASES}/{base.pk}/documents").json()
    assert listed["count"] == 5
    assert listed["results"][0]["error"] == {"code": "broken", "message": "Damaged."}
    assert listed["results"][1]["chunks"] == 1
    found = as_colleague.get(f"{BASES}/{base.pk}/documents", {"status": "failed"}).json()["results"]
    assert [document["filename"] for document in found] == ["bad.txt"]
    assert as_colleague.get(f"{BASES}/{base.pk}/documents", {"q": "nowhere\x00"}).json()["count"] == 0
    for odd in ("none", "\x00", ""):
        assert as_colleague.get(f"{BASES}/{base.pk}/documents", {"status": odd}).status_code == 400


def test_chunks_and_the_file_are_read(as_colleague: Client, base: KnowledgeBase) -> None:
    document = factories.make_document(base, "a.txt", b"content")
    factories.make_chunk(document, "First.", heading_path=["A", "B"], page_from=3)
    (chunk,) = as_colleague.get(f"/api/documents/{document.pk}/chunks").json()["results"]
    assert (chunk["content"], chunk["heading"], chunk["page_from"], chunk["picture_url"]) == (
        "First.",
        "A › B",
        3,
        None,
    )
    file = as_colleague.get(f"/api/documents/{document.pk}/file")
    assert b"".join(file) == b"content"
    assert file.headers["Content-Disposition"] == 'attachment; filename="a.txt"'


def test_reingest_and_cancel(as_owner: Client, base: KnowledgeBase) -> None:
    document = factories.make_document(base)
    address = f"/api/documents/{document.pk}"
    assert as_owner.post(f"{address}/cancel").json()["code"] == "not_running"
    queued = as_owner.post(f"{address}/reingest")
    assert (queued.status_code, queued.json()["status"]) == (202, "queued")
    assert as_owner.post(f"{address}/reingest").status_code == 409
    assert as_owner.post(f"{address}/cancel").json()["status"] == "cancelled"
    assert as_owner.delete(address).status_code == 204
    assert as_owner.get(address).status_code == 404


def _routes(base: KnowledgeBase, document: Document) -> list[tuple[str, str, Any]]:
    one, doc = f"{BASES}/{base.pk}", f"/api/documents/{document.pk}"
    reads = [one, f"{one}/members", f"{one}/documents", doc, f"{doc}/chunks", f"{doc}/file"]
    writes = [
        ("patch", one, {"name": "Mine"}),
        ("delete", one, None),
        ("post", f"{one}/members", {"username": "stranger"}),
        ("delete", f"{one}/members/1", None),
        ("delete", doc, None),
        ("post", f"{doc}/reingest", None),
        ("post", f"{doc}/cancel", None),
    ]
    return [("get", address, None) for address in reads] + writes


def test_strangers_get_404_and_readers_403_for_changes(
    as_stranger: Client, as_colleague: Client, anonymous: Client, base: KnowledgeBase
) -> None:
    document = factories.make_document(base)
    for method, address, data in _routes(base, document):
        arguments = (address, data, "application/json") if data else (address,)
        assert getattr(as_stranger, method)(*arguments).status_code == 404, address
        assert getattr(anonymous, method)(*arguments).status_code == 401, address
        expected = 200 if method == "get" else 403
        assert getattr(as_colleague, method)(*arguments).status_code == expected, (method, address)
    upload = f"{BASES}/{base.pk}/documents"
    assert as_stranger.post(upload, {"file": upload_of()}).status_code == 404
    assert as_colleague.post(upload, {"file": upload_of()}).status_code == 403
    assert list(base.documents.all()) == [document]


def test_formats_are_listed_and_files_in_others_refused(
    as_owner: Client, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    formats = as_owner.get("/api/formats").json()
    assert {"docx", "eml", "odt"} <= set(formats["extensions"])
    monkeypatch.setattr(libreoffice, "has", lambda module: False)
    assert "LibreOffice" in as_owner.get("/api/formats").json()["missing"]["doc"]
    files = [upload_of(), upload_of("tool.exe", b"MZ")]
    answer = as_owner.post(f"{BASES}/{base.pk}/documents", {"file": files})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported")
    assert "“tool.exe”" in answer.json()["detail"]
    assert not base.documents.exists()

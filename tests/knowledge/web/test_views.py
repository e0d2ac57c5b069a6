"""Views of knowledge bases."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from knowledge import services
from knowledge.models import Document, KnowledgeBase
from knowledge.parsing.legacy import libreoffice
from knowledge.parsing.registry import OLE
from ragsite.models import Limit
from tests import factories
from tests.knowledge.conftest import add, upload_of

HTMX = {"HX-Request": "true"}


def url(name: str, *args: Any) -> str:
    return reverse(name, args=args)


def test_the_list_shows_own_and_shared_bases(
    as_owner: Client, as_colleague: Client, as_stranger: Client, base: KnowledgeBase
) -> None:
    add(base)
    own = as_owner.get(url("knowledge")).content.decode()
    assert "Drinks" in own
    assert "1 document" in own
    assert "1 in progress" in own
    shared = as_colleague.get(url("knowledge")).content.decode()
    assert "Shared with you" in shared
    assert "by owner" in shared
    assert "Drinks" not in as_stranger.get(url("knowledge")).content.decode()


def test_for_an_answer_the_list_offers_editable_bases(
    as_colleague: Client, as_stranger: Client, colleague: User, base: KnowledgeBase
) -> None:
    question = {"answers": "<b>Which wine?"}
    factories.make_knowledge_base(colleague, name="Law")
    page = as_colleague.get(url("knowledge"), question).content.decode()
    assert "answers “&lt;b&gt;Which wine?” belongs" in page
    assert "Law" in page and "Drinks" not in page  # which the colleague may only read
    page = as_stranger.get(url("knowledge"), question).content.decode()
    assert "Create your first knowledge base" in page and "Which wine?" not in page


def test_the_list_takes_the_same_queries_for_any_number(
    as_owner: Client, owner: User, base: KnowledgeBase, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(5):
        factories.make_document(factories.make_knowledge_base(owner))
    with django_assert_num_queries(3):  # session, user, bases
        as_owner.get(url("knowledge"))


def test_anonymous_people_are_asked_to_sign_in(anonymous: Client, base: KnowledgeBase) -> None:
    for address in (url("knowledge"), url("knowledge-base", base.pk), url("knowledge-base-settings", base.pk)):
        assert anonymous.get(address).headers["Location"].startswith("/login/")


def test_a_base_is_created(as_owner: Client, owner: User) -> None:
    # Between private and everyone there is sharing, which is done later.
    assert "share it with people and groups afterwards" in as_owner.get(url("knowledge")).content.decode()
    response = as_owner.post(url("knowledge"), {"name": "Law", "description": "", "visibility": "site"})
    made = KnowledgeBase.objects.get(name="Law")
    assert response.headers["Location"] == url("knowledge-base", made.pk)
    assert (made.owner, made.visibility) == (owner, "site")
    again = as_owner.post(url("knowledge"), {"name": "Law", "visibility": "site"})
    assert again.status_code == 422
    assert "already have a knowledge base" in again.content.decode()


def test_a_base_with_members_is_called_shared(as_owner: Client, owner: User, colleague: User) -> None:
    base = factories.make_knowledge_base(owner, "Lamps")

    def shown(words: str) -> list[bool]:
        addresses = (url("knowledge"), url("knowledge-base", base.pk))
        return [f">{words}</span>" in as_owner.get(each).content.decode() for each in addresses]

    assert (shown("Private"), shown("Shared with members")) == ([True, True], [False, False])
    services.set_member(base, colleague.username, "viewer")
    assert (shown("Private"), shown("Shared with members")) == ([False, False], [True, True])


def test_a_base_shows_its_documents(as_owner: Client, as_colleague: Client, base: KnowledgeBase) -> None:
    factories.make_document(base, "plan.pdf", pages=12)
    factories.make_document(base, "secret.pdf", status="failed", error_code="encrypted", error={"text": "Unlock it."})
    page = as_owner.get(url("knowledge-base", base.pk)).content.decode()
    assert "plan.pdf" in page
    assert "password-protected" in page
    assert "Unlock it." in page
    assert url("document-retry", base.documents.get(status="failed").pk) not in page  # it would fail again
    assert "Add files" in page
    assert 'hx-trigger="every' not in page  # nothing is unfinished
    readers = as_colleague.get(url("knowledge-base", base.pk)).content.decode()
    assert "plan.pdf" in readers
    for word in ("Add files", "document-retry", "/retry/", "/delete/", "Members"):
        assert word not in readers


def test_scanned_pages_are_shown_while_they_wait_and_after_reading(as_owner: Client, base: KnowledgeBase) -> None:
    document = factories.make_document(base, status="queued", reads_scans=True, scanned_pages=3)
    assert (
        "scanned page" not in as_owner.get(url("knowledge-base", base.pk)).content.decode()
    )  # no scanned page has been found yet
    factories.make_chunk(document, "Printed words.")
    shown = as_owner.get(url("knowledge-base", base.pk)).content.decode()
    assert "3 scanned pages waiting" in shown and "Searchable by words" in shown
    Document.objects.filter(pk=document.pk).update(status="parsing", stage="scans", progress=12)
    shown = as_owner.get(url("knowledge-base", base.pk)).content.decode()
    assert "Reading scanned pages" in shown and "Searchable by words" in shown
    Document.objects.filter(pk=document.pk).update(status="ready")
    assert "3 scanned" in as_owner.get(url("document", document.pk)).content.decode()


def test_a_base_takes_the_same_queries_for_any_number(
    as_owner: Client, base: KnowledgeBase, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        factories.make_chunk(factories.make_document(base, f"{number}.txt"))
    # session, user, base, two for the stalled, totals, passages, page, other bases, bulk job, limits; the model in use
    # and the passages by language
    with django_assert_num_queries(15):
        as_owner.get(url("knowledge-base", base.pk))


def test_documents_are_found_by_name_and_paged(as_owner: Client, base: KnowledgeBase) -> None:
    for number in range(51):
        factories.make_document(base, f"report {number:02}.txt")
    address = url("knowledge-base", base.pk)
    assert "1–50 of 51" in as_owner.get(address).content.decode()
    assert "report 00.txt" in as_owner.get(address, {"page": 2}).content.decode()
    partial = as_owner.get(address, {"q": "07 report"}, headers=HTMX | {"HX-Target": "documents"}).content.decode()
    assert "report 07.txt" in partial
    assert "report 08.txt" not in partial
    assert "<html" not in partial


def test_the_page_sends_a_file_and_gets_its_row(as_owner: Client, base: KnowledgeBase) -> None:
    response = as_owner.post(url("knowledge-base-upload", base.pk), {"file": upload_of()}, headers=HTMX)
    document = base.documents.get()
    row = response.content.decode()
    assert response.status_code == 200
    assert f'id="document-{document.pk}"' in row
    assert url("document-row", document.pk) in row
    assert "every 3s" in row
    again = as_owner.post(url("knowledge-base-upload", base.pk), {"file": upload_of("b.md")}, headers=HTMX)
    assert "already here" in again.content.decode()
    assert base.documents.count() == 1


def test_a_refused_file_is_reported_in_its_row(as_owner: Client, base: KnowledgeBase, settings: Settings) -> None:
    settings.MAX_UPLOAD_MB = 1
    big = upload_of("<b>big</b>.txt", b"x" * (1024 * 1024 + 1))
    response = as_owner.post(url("knowledge-base-upload", base.pk), {"file": big}, headers=HTMX)
    assert response.status_code == 413
    assert "larger than the 1 MB" in response.content.decode()
    assert "<b>" not in response.content.decode()


def test_an_upload_of_the_page_keeps_the_folder(as_owner: Client, base: KnowledgeBase) -> None:
    form = {"file": upload_of("setup.md", b"Begin."), "folder": "manuals/../admin"}
    response = as_owner.post(url("knowledge-base-upload", base.pk), form, headers=HTMX)
    assert "manuals/admin/setup.md" in response.content.decode()
    assert base.documents.get().folder == "manuals/admin"


def test_uploading_works_without_scripts(as_owner: Client, base: KnowledgeBase) -> None:
    files = [upload_of("a.txt", b"one"), upload_of("b.txt", b"two")]
    response = as_owner.post(url("knowledge-base-upload", base.pk), {"file": files}, follow=True)
    assert response.redirect_chain == [(url("knowledge-base", base.pk), 302)]
    assert base.documents.count() == 2


def test_settings_are_saved(as_owner: Client, base: KnowledgeBase) -> None:
    address = url("knowledge-base-settings", base.pk)
    data = {"name": "Tea", "description": "", "visibility": "private", "chunk_size": 300, "chunk_overlap": 40}
    assert as_owner.post(address, data).status_code == 302
    base.refresh_from_db()
    assert (base.name, base.chunk_size, base.answer_from_general_knowledge) == ("Tea", 300, False)
    refused = as_owner.post(address, data | {"chunk_overlap": 300})
    assert refused.status_code == 422
    assert "shorter than the passage length" in refused.content.decode()


def test_a_members_or_guests_access_is_called_their_role(as_owner: Client, base: KnowledgeBase) -> None:
    Group.objects.create(name="Pilots")
    for name, forms in (("knowledge-base-members", 2), ("knowledge-base-invitations", 1)):
        page = as_owner.get(url(name, base.pk)).content.decode()
        assert page.count(">Role</label>") == forms, name


def test_a_base_is_shared_with_members_and_unshared(as_owner: Client, base: KnowledgeBase, stranger: User) -> None:
    address = url("knowledge-base-members", base.pk)
    assert as_owner.post(address, {"username": "stranger", "role": "editor"}).status_code == 302
    assert "stranger" in as_owner.get(address).content.decode()
    unknown = as_owner.post(address, {"username": "ghost", "role": "viewer"})
    assert "There is no user “ghost”." in unknown.content.decode()
    as_owner.post(url("knowledge-base-member-remove", base.pk, stranger.pk))
    assert not base.memberships.filter(user=stranger).exists()


def test_a_base_is_shared_with_a_groups_people_and_unshared(
    as_owner: Client, as_stranger: Client, base: KnowledgeBase, stranger: User
) -> None:
    address = url("knowledge-base-members", base.pk)
    assert "group_role" not in as_owner.get(address).content.decode()  # no groups, no form
    group = Group.objects.create(name="Support")
    stranger.groups.add(group)
    assert as_owner.post(address, {"group": "Nobody", "role": "viewer"}).status_code == 422
    assert as_stranger.get(url("knowledge-base", base.pk)).status_code == 404
    assert as_owner.post(address, {"group": "Support", "role": "viewer"}).status_code == 302
    assert "Support" in as_owner.get(address).content.decode()
    assert as_stranger.get(url("knowledge-base", base.pk)).status_code == 200
    as_owner.post(address, {"group": "Support", "role": "editor"})
    assert base.memberships.get(group=group).role == "editor"
    remove = url("knowledge-base-group-remove", base.pk, group.pk)
    assert as_stranger.post(remove).status_code == 403
    as_owner.post(remove)
    assert as_stranger.get(url("knowledge-base", base.pk)).status_code == 404


def test_deleting_a_base_asks_for_confirmation(as_owner: Client, base: KnowledgeBase) -> None:
    address = url("knowledge-base-delete", base.pk)
    assert "It contains no documents." in as_owner.get(address).content.decode()
    factories.make_document(base)
    assert "Its 1 document is deleted too" in as_owner.get(address).content.decode()
    dialog = as_owner.get(address, headers=HTMX).content.decode()
    assert "<dialog" in dialog
    assert "<html" not in dialog
    assert as_owner.post(address).headers["Location"] == url("knowledge")
    assert not KnowledgeBase.objects.exists()


OWNERS = ("knowledge-base-settings", "knowledge-base-members", "knowledge-base-delete")


@pytest.mark.parametrize("name", OWNERS)
def test_only_the_owner_manages_a_base(
    as_colleague: Client, as_stranger: Client, base: KnowledgeBase, name: str
) -> None:
    for method in ("get", "post"):
        assert getattr(as_colleague, method)(url(name, base.pk)).status_code == 403
        assert getattr(as_stranger, method)(url(name, base.pk)).status_code == 404
    assert KnowledgeBase.objects.exists()


def test_strangers_find_no_base(as_stranger: Client, as_colleague: Client, base: KnowledgeBase) -> None:
    assert as_stranger.get(url("knowledge-base", base.pk)).status_code == 404
    upload: Callable[[Client], int] = lambda who: (  # noqa: E731
        who.post(url("knowledge-base-upload", base.pk), {"file": upload_of()}).status_code
    )
    assert upload(as_stranger) == 404
    assert upload(as_colleague) == 403
    assert as_stranger.post(url("knowledge-base-member-remove", base.pk, 1)).status_code == 404
    assert not Document.objects.exists()


def test_editors_add_files(as_colleague: Client, base: KnowledgeBase) -> None:
    base.memberships.update(role="editor")
    page = as_colleague.get(url("knowledge-base", base.pk)).content.decode()
    assert "Add files" in page
    assert as_colleague.post(url("knowledge-base-upload", base.pk), {"file": upload_of()}).status_code == 302
    assert base.documents.get().uploaded_by is not None


def test_retry_is_offered_where_it_may_help(as_owner: Client, base: KnowledgeBase) -> None:
    for name, code, is_offered in (
        ("a.pdf", "timeout", True),
        ("a.pdf", "broken", False),
        ("a.exe", "unsupported", False),
        ("a.rtf", "unsupported", True),  # failed in an earlier version
        ("a.xls", "missing_tool", True),
    ):
        document = factories.make_document(base, name, (name + code).encode(), status="failed", error_code=code)
        page = as_owner.get(url("document-row", document.pk), headers=HTMX).content.decode()
        assert (url("document-retry", document.pk) in page) == is_offered


def test_unreadable_formats_are_refused_before_and_after_sending(as_owner: Client, base: KnowledgeBase) -> None:
    page = as_owner.get(url("knowledge-base", base.pk)).content.decode()
    rules = json.loads(page.partition('id="upload-rules" type="application/json">')[2].partition("</script>")[0])
    assert {"docx", "eml", "epub", "json", "odt", "rtf", "xls"} <= set(rules["extensions"])
    assert rules["unsupported"].startswith("{kind} files can't be read. Supported: pdf, docx,")
    assert "extension" in rules["unnamed"]
    answer = as_owner.post(url("knowledge-base-upload", base.pk), {"file": upload_of("tool.exe", b"MZ")}, headers=HTMX)
    assert answer.status_code == 415 and ".exe files can&#x27;t be read." in answer.content.decode()
    assert "retry" not in answer.content.decode()
    assert not base.documents.exists()


def test_a_missing_program_is_named(as_owner: Client, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libreoffice, "has", lambda module: False)
    page = as_owner.get(url("knowledge-base", base.pk)).content.decode()
    rules = json.loads(page.partition('id="upload-rules" type="application/json">')[2].partition("</script>")[0])
    assert "libreoffice-writer-nogui" in rules["missing"]["doc"] and "doc" not in rules["extensions"]
    answer = as_owner.post(url("knowledge-base-upload", base.pk), {"file": upload_of("a.doc", OLE)}, headers=HTMX)
    assert answer.status_code == 415 and "LibreOffice" in answer.content.decode()
    named_wrongly = upload_of("b.doc", b"<html><p>Tea.</p></html>")
    assert (
        as_owner.post(url("knowledge-base-upload", base.pk), {"file": named_wrongly}, headers=HTMX).status_code == 200
    )


def test_the_page_knows_what_still_fits(as_owner: Client, owner: User, base: KnowledgeBase) -> None:
    url = f"/knowledge/{base.pk}/"
    assert "room" not in as_owner.get(url).context["upload_rules"]
    Limit.objects.create(user=owner, storage_mb=1)
    factories.make_document(base, "half.txt", b"x" * 524_288)
    rules = as_owner.get(url).context["upload_rules"]
    assert rules["room"] == 524_288 and "{name}" in rules["full"] and "0.5 MB" in rules["full"]

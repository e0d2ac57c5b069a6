"""The attachments of mails: documents of their own, linked to the mail and deleted with it."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from knowledge import services
from knowledge.ingestion import attachments, ingestion
from knowledge.models import Attachment, Document, KnowledgeBase
from tests import factories
from tests.knowledge.conftest import add, upload_of
from tests.knowledge.parsing.test_mail import make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("indexer")]


def _mail(subject: str = "Pump", **files: str) -> EmailMessage:
    message = make(subject)
    for name, content in files.items():
        kind = ("application", "octet-stream") if name.endswith("exe") else ("text", "plain")
        message.add_attachment(content.encode(), *kind, filename=name.replace("_", "."))
    return message


def _ingested(base: KnowledgeBase, message: EmailMessage, name: str = "a.eml") -> Document:
    document = add(base, name, message.as_bytes())
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    return document


def _attached(mail: Document) -> list[tuple[str, str]]:
    return [
        (item.name, item.document.path if item.document else item.error_message)
        for item in mail.attachments.select_related("document")
    ]


def test_attachments_become_documents(base: KnowledgeBase) -> None:
    mail = _ingested(base, _mail(plan_md="# Plan\n\nBuy oil.", tool_exe="MZ", README="words", empty_txt=""))
    assert (mail.title, mail.is_attachment) == ("Pump", False)
    assert _attached(mail) == [
        ("plan.md", "a.eml/plan.md"), ("tool.exe", ".exe files can't be read."),
        ("README.txt", "a.eml/README.txt"), ("empty.txt", "The file is empty."),
    ]  # fmt: skip
    plan = base.documents.get(original_filename="plan.md")
    assert (plan.status, plan.is_attachment, plan.uploaded_by_id) == ("queued", True, base.owner_id)
    assert ingestion.ingest(plan.pk)
    assert "Buy oil." in plan.chunks.get().content


def test_deleting_a_mail_deletes_attachments_of_it_alone(
    base: KnowledgeBase, django_capture_on_commit_callbacks: Any
) -> None:
    first = _ingested(base, _mail(own_txt="own", shared_txt="shared", uploaded_txt="uploaded"))
    second = _ingested(base, _mail("Other", shared_txt="shared"), "b.eml")
    services.add_document(base, base.owner, "mine.txt", upload_of("mine.txt", b"uploaded"))
    assert Attachment.objects.count() == 4 and base.documents.count() == 5
    own = base.documents.get(original_filename="own.txt")
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_document(first)
    assert {document.original_filename for document in base.documents.all()} == {
        "b.eml", "shared.txt", "uploaded.txt",
    }  # fmt: skip
    assert not default_storage.exists(own.file.name)
    services.delete_document(second)
    assert [document.original_filename for document in base.documents.all()] == ["uploaded.txt"]


def test_reading_a_mail_again_keeps_its_attachments_as_they_are(base: KnowledgeBase) -> None:
    mail = _ingested(base, _mail(plan_txt="Buy oil."))
    plan = base.documents.get(original_filename="plan.txt")
    assert ingestion.ingest(plan.pk)
    assert services.reingest_document(mail) and ingestion.ingest(mail.pk)
    plan.refresh_from_db()
    assert plan.status == "ready" and [item.document for item in mail.attachments.all()] == [plan]


def test_attachments_that_a_mail_no_longer_has_are_deleted(base: KnowledgeBase, tmp_path: Path) -> None:
    mail = _ingested(base, _mail(plan_txt="Buy oil."))
    attachments.replace(mail, [], tmp_path, [])
    assert list(base.documents.all()) == [mail]


def test_mails_attached_to_mails(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MOST_DEEP", 2)
    message = _mail("innermost", plan_txt="Buy oil.")
    for number in range(3):
        outer = make(f"level {number}")
        outer.add_attachment(message)
        message = outer
    mail = _ingested(base, message)
    while waiting := base.documents.filter(status="queued").first():
        assert ingestion.ingest(waiting.pk)
    assert [document.title for document in base.documents.order_by("pk")] == ["level 2", "level 1", "level 0"]
    last = base.documents.get(title="level 0")
    assert _attached(last) == [("innermost.eml", "It is nested in more than 2 levels of attached mails.")]
    services.delete_document(mail)
    assert not base.documents.exists()


def test_a_mail_creates_a_limited_number_of_documents(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MOST_IN_ALL", 3)
    inner = _mail("inner", c_txt="c", d_txt="d", e_txt="e")
    outer = _mail(a_txt="a")
    outer.add_attachment(inner)
    mail = _ingested(base, outer)
    assert ingestion.ingest(base.documents.get(original_filename="inner.eml").pk)
    assert base.documents.count() == 1 + 3
    assert mail.attachments.count() == 2
    inner_mail = base.documents.get(original_filename="inner.eml")
    assert [bool(item.document) for item in inner_mail.attachments.all()] == [True, False, False]


def test_a_large_attachment_is_reported(base: KnowledgeBase, settings: Any) -> None:
    message = _mail(large_txt="x" * 3 * 1024**2)
    settings.MAX_UPLOAD_MB = 10
    document = add(base, "a.eml", message.as_bytes())
    settings.MAX_UPLOAD_MB = 2
    assert ingestion.ingest(document.pk)
    assert _attached(document) == [("large.txt", "It is larger than the 2 MB that this site accepts.")]


def test_files_are_deleted_if_the_mail_is_lost_meanwhile(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = attachments.replace

    def fail(*args: Any) -> None:
        replace(*args)
        raise RuntimeError

    monkeypatch.setattr(attachments, "replace", fail)
    document = add(base, "a.eml", _mail(plan_txt="Buy oil.").as_bytes())
    assert not ingestion.ingest(document.pk)
    assert list(base.documents.all()) == [document]
    _, files = default_storage.listdir(f"documents/{base.pk}")
    assert files == [document.sha256]


def test_the_pages_and_the_api_link_them(base: KnowledgeBase, client: Client) -> None:
    mail = _ingested(base, _mail(plan_txt="Buy oil.", tool_exe="MZ"))
    plan = base.documents.get(original_filename="plan.txt")
    client.force_login(base.owner)
    page = client.get(reverse("document", args=[mail.pk])).content.decode()
    assert f'href="{reverse("document", args=[plan.pk])}">plan.txt' in page and ".exe files can" in page
    assert (
        f'href="{reverse("document", args=[mail.pk])}">Pump'
        in client.get(reverse("document", args=[plan.pk])).content.decode()
    )
    assert "Its 1 attachment is deleted too" in client.get(reverse("document-delete", args=[mail.pk])).content.decode()
    shown = client.get(reverse("api-document", args=[mail.pk])).json()
    assert shown["attachments"] == [
        {"name": "plan.txt", "size": 8, "document": plan.pk, "error": None},
        {"name": "tool.exe", "size": 2, "document": None, "error": ".exe files can't be read."},
    ]
    assert client.get(reverse("api-document", args=[plan.pk])).json()["attached_to"] == [mail.pk]
    factories.make_user("stranger")
    response = client.post(reverse("document-delete", args=[mail.pk]), headers={"HX-Request": "true"})
    assert response.headers["HX-Refresh"] == "true" and not base.documents.exists()

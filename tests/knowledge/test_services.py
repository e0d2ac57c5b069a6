"""Knowledge bases, members, and documents from upload to deletion."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.utils import timezone
from django_q.models import OrmQ
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from knowledge import services
from knowledge.ingestion import ingestion
from knowledge.models import Document, KnowledgeBase, Picture
from knowledge.services import UploadRefused
from ragsite.exceptions import Refused
from tests import factories
from tests.fakes.indexer import FakeIndexer
from tests.knowledge.conftest import add, upload_of


def test_names_are_unique_per_owner(owner: User, colleague: User) -> None:
    services.create_knowledge_base(owner, "Law")
    services.create_knowledge_base(colleague, "Law")
    with pytest.raises(Refused, match="Law") as refused:
        services.create_knowledge_base(owner, "Law")
    assert refused.value.code == "name_taken"
    other = services.create_knowledge_base(owner, "Tax")
    with pytest.raises(Refused):
        services.update_knowledge_base(other, name="Law")


def test_members_are_set_changed_and_removed(base: KnowledgeBase, stranger: User, colleague: User) -> None:
    services.set_member(base, " stranger ", "viewer")
    services.set_member(base, "stranger", "editor")
    assert dict(base.memberships.values_list("user__username", "role")) == {"colleague": "viewer", "stranger": "editor"}
    for name, code in (("nobody", "unknown_user"), ("owner", "is_owner")):
        with pytest.raises(Refused) as refused:
            services.set_member(base, name, "viewer")
        assert refused.value.code == code
    assert services.remove_member(base, stranger.pk)
    assert not services.remove_member(base, stranger.pk)


def test_a_member_is_named_by_a_confirmed_address(base: KnowledgeBase, stranger: User, colleague: User) -> None:
    for user in (stranger, colleague):
        user.email = f"{user.username}@example.org"
        user.save()
    assert services.set_member(base, "Stranger@example.org", "viewer").user == stranger
    address = EmailAddress.objects.create(user=colleague, email="colleague@example.org", verified=False)
    with pytest.raises(Refused, match=r"colleague@example\.org"):
        services.set_member(base, "colleague@example.org", "viewer")
    EmailAddress.objects.filter(pk=address.pk).update(verified=True)
    assert services.set_member(base, "colleague@example.org", "viewer").user == colleague
    User.objects.update(email="")
    with pytest.raises(Refused):
        services.set_member(base, " ", "viewer")


def test_an_upload_is_stored_hashed_and_queued(base: KnowledgeBase) -> None:
    added = services.add_document(base, base.owner, "drinks.md", upload_of())
    document = added.document
    assert not added.already_here
    assert (document.status, document.media_type, document.size) == ("queued", "text/markdown", 86)
    assert len(document.sha256) == 64
    assert document.file.read().startswith(b"# Tea")
    (task,) = OrmQ.objects.all()
    assert task.task["func"] == "knowledge.tasks.ingest_waiting"


def test_one_task_is_queued_for_any_number_of_documents(base: KnowledgeBase) -> None:
    add(base)
    add(base, "more.md", b"# More")
    assert OrmQ.objects.count() == 1
    OrmQ.objects.update(lock=timezone.now() + timedelta(hours=1))  # taken by a worker
    add(base, "late.md", b"# Late")
    assert OrmQ.objects.count() == 2


def test_the_same_bytes_are_stored_once_per_base(base: KnowledgeBase) -> None:
    first = add(base)
    again = services.add_document(base, base.owner, "copy.md", upload_of("copy.md"))
    assert again.already_here
    assert again.document == first
    assert base.documents.count() == 1
    other = factories.make_knowledge_base(base.owner)
    assert not services.add_document(other, base.owner, "drinks.md", upload_of()).already_here


def test_uploading_a_failed_file_retries_it(base: KnowledgeBase) -> None:
    document = add(base)
    Document.objects.filter(pk=document.pk).update(status="failed", error_code="memory", attempt=3)
    again = services.add_document(base, base.owner, "drinks.md", upload_of())
    assert again.already_here
    assert (again.document.status, again.document.error_code, again.document.attempt) == ("queued", "", 0)


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_failed_file_is_read_again_under_another_name(base: KnowledgeBase, status: str, indexer: FakeIndexer) -> None:
    document = add(base, "drinks.json")
    ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert document.status == "failed"
    Document.objects.filter(pk=document.pk).update(status=status)
    again = services.add_document(base, base.owner, "drinks.md", upload_of(), "menu")
    assert (again.document, again.already_here) == (document, False)
    assert (again.document.status, again.document.path, again.document.error_code) == ("queued", "menu/drinks.md", "")
    ingestion.ingest(document.pk)
    read = base.documents.get()
    assert (read.media_type, read.error_code) == ("text/markdown", "") and read.chunks.count() == 2
    # A document that could be read keeps its first name.
    Document.objects.filter(pk=document.pk).update(status="ready")
    assert services.add_document(base, base.owner, "copy.md", upload_of()).already_here
    assert base.documents.get().path == "menu/drinks.md"


def test_a_file_added_meanwhile_is_not_stored_twice(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    there = add(base)
    late = Document(
        knowledge_base=base, original_filename="b.md", sha256=there.sha256, size=86, media_type="text/markdown"
    )
    assert not services._insert(late, upload_of())
    _folders, files = default_storage.listdir(f"documents/{base.pk}")
    assert files == [there.sha256]


def test_too_large_files_are_refused_with_a_message(base: KnowledgeBase, settings: Settings) -> None:
    settings.MAX_UPLOAD_MB = 1
    with pytest.raises(UploadRefused, match="1 MB") as refused:
        services.add_document(base, base.owner, "big.txt", upload_of("big.txt", b"x" * (1024 * 1024 + 1)))
    assert refused.value.code == "too_large"
    assert not base.documents.exists()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\plan.docx", "plan.docx"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\x00b\n.txt", "ab.txt"),
        ("会议 记录.pdf", "会议 记录.pdf"),
        ("", "unnamed"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
    ],
)
def test_file_names_are_cleaned(given: str, kept: str) -> None:
    assert services.clean_filename(given) == kept


def test_deleting_removes_everything(
    base: KnowledgeBase, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, indexer: FakeIndexer
) -> None:
    document = _with_picture(base)
    picture = document.pictures.get().file.name
    other = factories.make_document(base)
    pk = document.pk
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_document(document)
    assert indexer.removed[0] == [pk]
    assert list(base.documents.all()) == [other]
    assert not Picture.objects.exists()
    assert not default_storage.exists(document.file.name)
    assert not default_storage.exists(picture)


def test_deleting_a_base_removes_its_files(
    base: KnowledgeBase, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    document = _with_picture(base)
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_knowledge_base(base)
    assert not KnowledgeBase.objects.exists()
    assert not Document.objects.exists()
    assert not default_storage.exists(document.file.name)


def test_cancelling_ends_waiting_ingestions_and_deletes_passages(base: KnowledgeBase) -> None:
    document = factories.make_document(base, status="indexing")
    factories.make_chunk(document)
    assert services.cancel_document(document)
    document.refresh_from_db()
    assert document.status == "cancelled"
    assert not document.chunks.exists()
    assert not services.cancel_document(document)


def test_only_finished_documents_are_read_again(base: KnowledgeBase) -> None:
    document = factories.make_document(base)
    assert services.reingest_document(document)
    assert not services.reingest_document(document)
    assert OrmQ.objects.count() == 1


def _with_picture(base: KnowledgeBase) -> Document:
    from io import BytesIO

    from django.core.files.base import ContentFile
    from PIL import Image

    document = factories.make_document(base)
    content = BytesIO()
    Image.new("RGB", (4, 3)).save(content, "PNG")
    picture = Picture(document=document, alt="dots")
    picture.file.save("1-1.png", ContentFile(content.getvalue(), "1-1.png"))
    factories.make_chunk(document, kind="image", picture=picture)
    return document

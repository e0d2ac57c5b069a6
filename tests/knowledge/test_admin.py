"""The admin of knowledge bases and documents."""

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from knowledge.models import Document, KnowledgeBase
from tests import factories

MODELS = ("knowledgebase", "document", "chunk", "picture", "membership")


@pytest.mark.parametrize("model", MODELS)
def test_lists_and_searches_work(as_staff: Client, base: KnowledgeBase, model: str) -> None:
    factories.make_chunk(factories.make_document(base))
    address = reverse(f"admin:knowledge_{model}_changelist")
    assert as_staff.get(address).status_code == 200
    assert as_staff.get(address, {"q": "1"}).status_code == 200


def test_a_document_is_read_only(as_staff: Client, base: KnowledgeBase) -> None:
    document = factories.make_document(base, "plan.txt")
    page = as_staff.get(reverse("admin:knowledge_document_change", args=[document.pk])).content.decode()
    assert "plan.txt" in page
    assert 'name="original_filename"' not in page
    assert 'name="_save"' not in page and "deletelink" in page
    own = reverse("admin:knowledge_knowledgebase_change", args=[base.pk])
    assert own in page
    KnowledgeBase.objects.update(of_chat=True)
    page = as_staff.get(reverse("admin:knowledge_document_change", args=[document.pk])).content.decode()
    assert "Files of a chat" in page and own not in page


def test_an_error_is_shown_and_found(as_staff: Client, base: KnowledgeBase) -> None:
    found = factories.make_document(base, status="failed", error_code="timeout", error={"key": "timeout", "seconds": 9})
    factories.make_document(base, notices=[{"key": "left_out.nested"}])
    page = as_staff.get(reverse("admin:knowledge_document_change", args=[found.pk])).content.decode()
    assert "took longer than 9 seconds" in page and "{&quot;key" not in page
    listed = as_staff.get(reverse("admin:knowledge_document_changelist"), {"q": "timeout"})
    assert [document.pk for document in listed.context["cl"].result_list] == [found.pk]


def test_actions_queue_and_cancel(as_staff: Client, base: KnowledgeBase) -> None:
    document = factories.make_document(base)
    address = reverse("admin:knowledge_document_changelist")
    for action, status, words in (
        ("reingest", "queued", "1 document was queued"),
        ("cancel", "cancelled", "1 ingestion"),
    ):
        response = as_staff.post(address, {"action": action, "_selected_action": [document.pk]}, follow=True)
        assert words in response.content.decode()
        document.refresh_from_db()
        assert document.status == status


def test_deleting_removes_files(
    as_staff: Client, base: KnowledgeBase, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    one, two = factories.make_document(base), factories.make_document(base)
    for document in (one, two):
        factories.make_chunk(document)
    asked = as_staff.get(reverse("admin:knowledge_knowledgebase_delete", args=[base.pk]))
    assert dict(asked.context["model_count"]) == {"documents": 2, "passages": 2}
    with django_capture_on_commit_callbacks(execute=True):
        as_staff.post(reverse("admin:knowledge_document_delete", args=[one.pk]), {"post": "yes"})
        address = reverse("admin:knowledge_knowledgebase_changelist")
        selected = {"action": "delete_selected", "_selected_action": [base.pk], "post": "yes"}
        as_staff.post(address, selected)
    assert not KnowledgeBase.objects.exists()
    assert not Document.objects.exists()
    for document in (one, two):
        assert not default_storage.exists(document.file.name)


def test_others_have_no_admin(as_owner: Client, base: KnowledgeBase) -> None:
    assert as_owner.get(reverse("admin:knowledge_document_changelist")).status_code == 302

"""The table of many documents: its totals, filters, order, and actions on selected documents."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from knowledge.many.table import Totals, View
from knowledge.models import KnowledgeBase
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner)
    pdf = {"media_type": "application/pdf"}
    factories.make_document(base, "b.pdf", folder="guide/admin", pages=7, tags=["red"], **pdf)
    factories.make_document(base, "a.pdf", folder="guide", pages=2, status="failed", error_code="worker_lost", **pdf)
    factories.make_document(base, "c.txt", status="queued", tags=["red", "blue"])
    return base


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("", ["c.txt", "a.pdf", "b.pdf"]),
        ("?sort=name", ["a.pdf", "b.pdf", "c.txt"]),
        ("?sort=-pages", ["b.pdf", "a.pdf", "c.txt"]),
        ("?sort=state", ["a.pdf", "c.txt", "b.pdf"]),
        ("?state=failed", ["a.pdf"]),
        ("?state=working", ["c.txt"]),
        ("?type=pdf&sort=-name", ["b.pdf", "a.pdf"]),
        ("?tag=red", ["c.txt", "b.pdf"]),
        ("?folder=guide&sort=name", ["a.pdf", "b.pdf"]),
        ("?folder=guide/admin", ["b.pdf"]),
        ("?q=pdf&tag=red", ["b.pdf"]),
        ("?state=nonsense&sort=drop", ["c.txt", "a.pdf", "b.pdf"]),
    ],
)
def test_the_url_filters_and_orders(as_owner: Client, base: KnowledgeBase, address: str, names: list[str]) -> None:
    page = as_owner.get(f"/knowledge/{base.pk}/{address}").context["page"]
    assert [document.original_filename for document in page] == names
    assert page.paginator.count == len(names)


def test_the_totals_are_those_of_the_base(base: KnowledgeBase) -> None:
    totals = Totals.of(base)
    assert (totals.documents, totals.pages) == (3, 9)
    assert totals.states == {"failed": 1, "working": 1, "cancelled": 0, "ready": 1}
    assert totals.kinds == {"pdf": 2, "text": 1}
    assert totals.tags == {"red": 2, "blue": 1}
    assert totals.within("") == [("guide", 2)]
    assert totals.within("guide") == [("guide/admin", 1)]
    assert View.read({"q": " a ", "sort": "-added"}).fields == {"q": "a"}


def test_headers_show_the_order(as_owner: Client, base: KnowledgeBase) -> None:
    html = as_owner.get(f"/knowledge/{base.pk}/?sort=name&tag=red").content.decode()
    assert 'aria-sort="ascending"' in html
    assert "?sort=-name&amp;tag=red" in html


def test_selected_documents_are_tagged_and_moved(as_owner: Client, base: KnowledgeBase, owner: User) -> None:
    other = factories.make_knowledge_base(owner)
    first = base.documents.get(original_filename="a.pdf")
    address = f"/knowledge/{base.pk}/bulk/"
    as_owner.post(address, {"action": "tag", "tags": "new, red", "document": [first.pk]})
    first.refresh_from_db()
    assert first.tags == ["new", "red"]
    as_owner.post(f"{address}?tag=new", {"action": "move", "target": other.pk, "all": "1"})
    assert [document.pk for document in other.documents.all()] == [first.pk]


def test_many_are_deleted_after_a_confirmation(as_owner: Client, base: KnowledgeBase) -> None:
    address = f"/knowledge/{base.pk}/bulk/?type=pdf"
    asked = as_owner.post(address, {"action": "delete", "all": "1"})
    assert "Delete 2 documents?" in asked.content.decode()
    assert base.documents.count() == 3
    as_owner.post(address, {"action": "delete", "all": "1", "confirmed": "1"})
    assert [document.original_filename for document in base.documents.all()] == ["c.txt"]


def test_unchanged_documents_are_named(as_owner: Client, base: KnowledgeBase) -> None:
    address, unread = f"/knowledge/{base.pk}/bulk/", base.documents.get(original_filename="c.txt")
    html = as_owner.post(address, {"action": "reingest", "document": [unread.pk]}, follow=True).content.decode()
    assert "Documents to be read again: 0 of 1." in html
    assert "1 document is still being read: c.txt. Try again when it is finished." in html
    base.documents.update(status="queued")
    html = as_owner.post(address, {"action": "reingest", "all": "1"}, follow=True).content.decode()
    assert "3 documents are still being read: guide/admin/b.pdf, guide/a.pdf, c.txt. Try again when they" in html


def test_a_reader_changes_nothing(as_colleague: Client, base: KnowledgeBase, colleague: User) -> None:
    factories.share(base, colleague)
    html = as_colleague.get(f"/knowledge/{base.pk}/").content.decode()
    assert 'id="bulk"' not in html
    asked = {"action": "delete", "all": "1", "confirmed": "1"}
    assert as_colleague.post(f"/knowledge/{base.pk}/bulk/", asked).status_code == 403


def test_tags_and_fields_are_edited_on_the_document(as_owner: Client, base: KnowledgeBase) -> None:
    document = base.documents.get(original_filename="a.pdf")
    address = f"/knowledge/documents/{document.pk}/labels/"
    given = {"tags": "x, y", "field": ["year", "", "signed"], "kind": ["number", "text", "date"]}
    as_owner.post(address, given | {"value": ["2026", "", "2026-03-31"]})
    document.refresh_from_db()
    assert (document.tags, document.metadata) == (["x", "y"], {"year": 2026, "signed": "2026-03-31"})
    answer = as_owner.post(address, given | {"value": ["many", "", "2026-03-31"]}, follow=True)
    assert "is not a number" in answer.content.decode()
    document.refresh_from_db()
    assert document.metadata["year"] == 2026

"""What stands around the passages of an answer, and the documents that can be asked about, from the database."""

import pytest
from django.contrib.auth.models import User

from conversations.pipeline.state import Request
from conversations.pipeline.writing.quoting.surroundings import around
from conversations.pipeline.writing.quoting.topics import as_markdown, topics_of
from knowledge.models import Chunk, Document
from retrieval.search import Hit
from tests import factories

pytestmark = pytest.mark.django_db


def hit(chunk: Chunk) -> Hit:
    return Hit(
        chunk.pk, chunk.document_id, 1, chunk.content, chunk.kind, "a.md", chunk.heading, None, 1.0, [],
        columns=chunk.table_columns, rows=chunk.table_rows, ordinal=chunk.ordinal,
    )  # fmt: skip


@pytest.fixture
def document(owner: User) -> Document:
    return factories.make_document(factories.make_knowledge_base(owner), "tools.md", title="Tools 2024")


def make_rows(document: Document, *rows: list[str], columns: tuple[str, ...] = ("Tool",)) -> Chunk:
    fields = {"kind": "table", "table_columns": list(columns), "table_rows": list(rows), "heading_path": ["List"]}
    return factories.make_chunk(document, "table", **fields)


def test_the_parts_of_a_table_are_joined(document: Document) -> None:
    make_rows(document, ["Spade"], columns=("Name",))
    parts = [make_rows(document, ["Saw"]), make_rows(document, ["Axe"], ["Awl"]), make_rows(document, ["File"])]
    factories.make_chunk(document, "The end.")
    make_rows(document, ["Nail"])
    assert around([hit(parts[1])]).tables == {parts[1].pk: [["Saw"], ["Axe"], ["Awl"], ["File"]]}


def test_the_passage_after_one_that_announces_it_is_found(document: Document) -> None:
    first, second = factories.make_chunks(document, ["Bring the following:", "- a saw\n"])
    third = factories.make_chunk(document, "It is open.")
    factories.make_chunk(document, "It is far.")
    found = around([hit(first), hit(third)])
    assert {key: (each.chunk_id, each.content) for key, each in found.following.items()} == {
        first.pk: (second.pk, "- a saw\n")
    }
    assert (found.beginnings[document.pk].title, found.beginnings[document.pk].text) == ("Tools 2024", first.content)


def test_the_documents_that_can_be_asked_about_are_listed_with_their_headings(owner: User, document: Document) -> None:
    for heading in ("Saws", "Saws", "Axes"):
        factories.make_chunk(document, "Text.", heading_path=["Tools 2024", heading])
    other = factories.make_document(factories.make_knowledge_base(factories.make_user()), "secret.md")
    factories.make_chunk(other, "Text.")
    text = as_markdown(topics_of(Request(owner.pk, None, "What can I ask you?")))
    assert "- **Tools 2024**: Saws, Axes" in text and "secret" not in text


def test_without_documents_there_is_nothing_to_ask(owner: User) -> None:
    assert "nothing to search" in as_markdown(topics_of(Request(owner.pk, None, "What can I ask you?")))


def test_of_many_documents_the_newest_are_named(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    for number in range(12):
        factories.make_document(base, f"file{number}.md")
    text = as_markdown(topics_of(Request(owner.pk, None, "What can I ask you?")))
    assert "file11" in text and "file1.md" not in text and "and 2 more documents" in text

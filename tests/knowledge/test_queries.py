"""Documents and passages are found by their names and words in both scripts of Chinese."""

import pytest
from django.contrib.auth.models import User

from conversations.pipeline.whole_documents.documents import _named
from knowledge.models import Document
from knowledge.queries import find_in_document, folders_of, search_documents, tags_of
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("text", ["圖書館", "图书馆"])
def test_both_scripts_are_found(owner: User, text: str) -> None:
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base, title="圖書館規則", folder="图书馆/2024", tags=["圖書館"])
    factories.make_document(base, title="Others")
    factories.make_chunk(document, "本圖書館週末開放。")
    documents = Document.objects.filter(knowledge_base=base)
    assert list(search_documents(documents, text)) == [document]
    assert tags_of(documents, text) == ["圖書館"]
    assert "图书馆" in folders_of(documents, text)
    found = find_in_document(document, text)
    assert found is not None and found.total == 1
    assert [each for _name, each in _named(f"總結{text}规则", documents)] == [document]

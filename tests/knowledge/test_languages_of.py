"""The languages of the passages in knowledge bases."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from knowledge.models import Document, KnowledgeBase
from knowledge.queries import languages_of
from ragsite.db import in_database
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


def make(base: KnowledgeBase, *languages: str, status: str = Document.Status.READY) -> None:
    for number, language in enumerate(languages):
        document = factories.make_document(base, f"{language}-{status}-{number}.txt", language=language, status=status)
        factories.make_chunks(document, ["One.", "Two."])


async def test_passages_are_counted_by_language_in_these_bases_only(owner: User) -> None:
    one, other, third = [await in_database(factories.make_knowledge_base, owner, name) for name in "abc"]
    await in_database(make, one, "en", "zh", "zh", "")
    await in_database(make, one, "zh", status=Document.Status.INDEXING)
    await in_database(make, one, "en", status=Document.Status.FAILED)
    await in_database(make, other, "en")
    assert await in_database(languages_of, [one.pk]) == {"en": 2, "zh": 6}
    assert await in_database(languages_of, [other.pk, one.pk]) == {"en": 4, "zh": 6}
    assert await in_database(languages_of, [third.pk]) == await in_database(languages_of, []) == {}


async def test_only_chosen_documents_are_counted(owner: User) -> None:
    base = await in_database(factories.make_knowledge_base, owner)
    await in_database(make, base, "en", "zh", "zh")
    chosen = [document.pk async for document in base.documents.filter(language="zh")]
    assert await in_database(languages_of, [base.pk]) == {"en": 2, "zh": 4}
    assert await in_database(languages_of, [base.pk], chosen) == {"zh": 4}


async def test_results_are_cached_for_a_minute(owner: User) -> None:
    base, other = [await in_database(factories.make_knowledge_base, owner, name) for name in "ab"]
    await in_database(make, base, "en")
    await in_database(languages_of, [base.pk, other.pk])
    await in_database(make, base, "zh")
    assert await in_database(languages_of, [other.pk, base.pk]) == {"en": 2}
    cache.clear()
    assert await in_database(languages_of, [base.pk, other.pk]) == {"en": 2, "zh": 2}

"""Ranks and scores compared with a plain Python BM25, over several bases, through random histories."""

import random

import pytest
from django.contrib.auth.models import User

from knowledge.models import Chunk, KnowledgeBase
from retrieval.engine import fulltext, index
from retrieval.engine.index import IndexRow
from tests import factories
from tests.retrieval.engine.test_index import (
    CHINESE,
    ENGLISH,
    add_document,
    assert_counts_are_right,
    assert_same,
    reference,
    text_of,
)

pytestmark = pytest.mark.django_db

# Passages of one knowledge base, by document.
Corpus = dict[int, dict[int, str]]


def add(base: KnowledgeBase, corpus: Corpus, rng: random.Random, words: list[str]) -> None:
    document, chunks = add_document(base, [text_of(rng, words) for _ in range(rng.randint(1, 12))])
    corpus[document.pk] = chunks


def delete(corpus: Corpus, rng: random.Random) -> None:
    gone = rng.sample(list(corpus), rng.randint(1, min(3, len(corpus))))
    assert index.delete(gone) == sum(len(corpus.pop(document_id)) for document_id in gone)
    Chunk.objects.filter(document_id__in=gone).delete()


def change(corpus: Corpus, rng: random.Random, words: list[str]) -> None:
    """Index a document again with other passages, as after changing the chunker's settings."""
    document_id = rng.choice(list(corpus))
    index.delete([document_id])
    Chunk.objects.filter(document_id=document_id).delete()
    chunks = Chunk.objects.bulk_create(
        Chunk(document_id=document_id, ordinal=number, content=text_of(rng, words))
        for number in range(rng.randint(1, 12))
    )
    index.index(IndexRow(chunk.pk, document_id, chunk.content) for chunk in chunks)
    corpus[document_id] = {chunk.pk: chunk.content for chunk in chunks}


def repeat(corpus: Corpus, rng: random.Random) -> None:
    """Index a document again, like a worker that takes over from a killed one."""
    document_id = rng.choice(list(corpus))
    assert index.index(IndexRow(key, document_id, text) for key, text in corpus[document_id].items()) == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("words", [ENGLISH, CHINESE, ENGLISH + CHINESE], ids=["english", "chinese", "mixed"])
def test_any_history_of_several_bases(
    owner: User, words: list[str], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(f"{words[0]} {len(words)} {seed}")
    monkeypatch.setattr(fulltext, "CANDIDATES", rng.choice([1, 5, 30, 3_000]))
    monkeypatch.setattr(fulltext, "MOST_ALTERNATIVES", rng.choice([1, 150]))
    monkeypatch.setattr(index, "BATCH", rng.choice([1, 4, 500]))
    bases = [factories.make_knowledge_base(owner) for _ in range(3)]
    corpora: list[Corpus] = [{}, {}, {}]
    for _step in range(12):
        chosen = rng.randrange(3)
        base, corpus = bases[chosen], corpora[chosen]
        match rng.randrange(6) if corpus else 0:
            case 0 | 1 | 2:
                add(base, corpus, rng, words)
            case 3:
                delete(corpus, rng)
            case 4:
                change(corpus, rng, words)
            case 5:
                repeat(corpus, rng)
        assert_counts_are_right(base, {key: text for chunks in corpus.values() for key, text in chunks.items()})
        searched = rng.sample(range(3), rng.randint(1, 3))
        together = {key: text for i in searched for chunks in corpora[i].values() for key, text in chunks.items()}
        for _query in range(4):
            query, k = text_of(rng, words, 8), rng.choice([1, 3, 10, 100])
            found = fulltext.search(query, [bases[i].pk for i in searched], k)
            assert_same(found, reference(together, query, k))

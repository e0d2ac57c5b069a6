"""The index compared with a plain Python BM25, through additions and deletions; concurrency and recovery."""

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django_q.models import OrmQ
from django_q.signals import post_spawn

from knowledge.ingestion import claims
from knowledge.ingestion.claims import Claim
from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.language import analysis
from ragsite.language.analysis import border_pairs, importance, pieces, terms
from retrieval import tasks
from retrieval.engine import bm25, fulltext, index
from retrieval.engine.index import IndexRow
from retrieval.indexer import Indexer
from retrieval.models import CorpusSize, IndexEntry, TermFrequency
from tests import factories
from tests.retrieval.counts import counted

pytestmark = pytest.mark.django_db

_ENGLISH = """
    index table column statistics vacuum analyze query planner buffer cache page tuple lock transaction commit rollback
    replica stream slot archive restore TL-SE2109 v1.2.3 café naïve O'Brien don't joe@example.org 10kg 0x1F
"""
_CHINESE = "数据库 索引 查询 优化 事务 日志 复制 备份 恢复 权限 用户 埃隆 缓存 统计 信息 表格 龘"
ENGLISH, CHINESE = _ENGLISH.split(), _CHINESE.split()


def reference(corpus: dict[int, str], query: str, k: int) -> list[tuple[int, float]]:
    """Textbook BM25 over the whole corpus, with the index's constant for the average length."""
    documents = {key: Counter(terms(text)) for key, text in corpus.items()}
    held = {term for document in documents.values() for term in document}
    asked = terms(query)
    asked += sorted(pieces(query, set(asked) - held) - set(asked))
    scores: dict[int, float] = {}
    for pair in border_pairs(query):
        holders = [key for key, text in corpus.items() if pair in border_pairs(text)]
        for key in holders:
            scores[key] = scores.get(key, 0.0) + 0.3 * bm25.inverse_document_frequency(len(corpus), len(holders))
    if not held & set(asked):
        return []
    for term, count in Counter(asked).items():
        holders = [key for key, document in documents.items() if term in document]
        idf = bm25.inverse_document_frequency(len(corpus), len(holders))
        for key in holders:
            tf, length = documents[key][term], sum(documents[key].values())
            norm = bm25.K1 * (1 - bm25.B + bm25.B * length / bm25.AVERAGE_LENGTH)
            scores[key] = scores.get(key, 0.0) + count * importance(term) * idf * tf * (bm25.K1 + 1) / (tf + norm)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]


def assert_same(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> None:
    """Assert the same scores at every rank, and the same chunks except for ties within the precision of a float4."""
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-5)
    last = expected[-1][1] if expected else 0.0
    clear = {chunk_id for chunk_id, score in expected if score > last * (1 + 1e-5)}
    assert clear <= {chunk_id for chunk_id, _ in found}


def assert_counts_are_right(base: KnowledgeBase, corpus: dict[int, str]) -> None:
    """Assert that exactly the frequencies of the corpus are stored."""
    expected = Counter(term for text in corpus.values() for term in bm25.weights_of(text))
    stored = TermFrequency.objects.filter(knowledge_base=base, document_frequency__gt=0)
    assert dict(stored.values_list("term", "document_frequency")) == dict(expected)
    assert counted(base)[0] == len(corpus)
    assert IndexEntry.objects.filter(knowledge_base=base).count() == len(corpus)


def text_of(rng: random.Random, words: list[str], longest: int = 60) -> str:
    """Return words from a steep distribution: some in nearly every passage, some in only one."""
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return " ".join(rng.choices(words, weights, k=rng.randint(1, longest)))


def add_document(base: KnowledgeBase, passages: list[str]) -> tuple[Document, dict[int, str]]:
    document = factories.make_document(base)
    chunks = factories.make_chunks(document, passages)
    index.index(IndexRow(chunk.pk, document.pk, chunk.searchable_text) for chunk in chunks)
    return document, {chunk.pk: chunk.content for chunk in chunks}


@pytest.mark.parametrize("candidates", [1, 20, fulltext.CANDIDATES])
@pytest.mark.parametrize("words", [ENGLISH, CHINESE, ENGLISH + CHINESE], ids=["english", "chinese", "mixed"])
def test_ranks_and_scores_are_those_of_bm25_through_adds_and_deletes(
    owner: User, words: list[str], candidates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "CANDIDATES", candidates)
    rng = random.Random(f"{words[0]}{candidates}")
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    add_document(other, [text_of(rng, words) for _ in range(20)])
    corpus: dict[int, dict[int, str]] = {}
    for _step in range(8):
        if corpus and rng.random() < 0.35:
            gone = rng.choice(list(corpus))
            assert index.delete([gone]) == len(corpus.pop(gone))
        else:
            document, chunks = add_document(base, [text_of(rng, words) for _ in range(rng.randint(1, 30))])
            corpus[document.pk] = chunks
        everything = {key: text for chunks in corpus.values() for key, text in chunks.items()}
        assert_counts_are_right(base, everything)
        for _query in range(6):
            query, k = text_of(rng, words, 8), rng.choice([1, 3, 10, 100])
            assert_same(fulltext.search(query, [base.pk], k), reference(everything, query, k))


def test_several_bases_are_scored_as_one(owner: User) -> None:
    rng = random.Random(7)
    bases = [factories.make_knowledge_base(owner) for _ in range(3)]
    corpora = [add_document(base, [text_of(rng, ENGLISH) for _ in range(15)])[1] for base in bases]
    together = corpora[0] | corpora[2]
    for query in ("index vacuum", "café TL-SE2109 lock", "restore"):
        found = fulltext.search(query, [bases[0].pk, bases[2].pk], 10)
        assert_same(found, reference(together, query, 10))


@pytest.mark.parametrize("candidates", [1, fulltext.CANDIDATES])
def test_searching_single_documents_keeps_the_scores(
    owner: User, candidates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "CANDIDATES", candidates)
    rng = random.Random(11)
    base, other = (factories.make_knowledge_base(owner) for _ in range(2))
    mine = [add_document(base, [text_of(rng, ENGLISH + CHINESE) for _ in range(12)]) for _ in range(4)]
    elsewhere, _corpus = add_document(other, [text_of(rng, ENGLISH) for _ in range(5)])
    asked = [mine[1][0].pk, mine[3][0].pk, elsewhere.pk]
    for query in ("index vacuum 数据库优化", "café TL-SE2109 lock 索引", "restore"):
        everything = reference({pk: text for _, corpus in mine for pk, text in corpus.items()}, query, 1000)
        expected = [hit for hit in everything if hit[0] in mine[1][1] | mine[3][1]]
        assert_same(fulltext.search(query, [base.pk], 10, asked), expected[:10])


def test_differently_segmented_chinese_is_found(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    _document, corpus = add_document(base, ["点击油漆桶图标。", "单元格的样式。", "这个桶里有水。"])
    found = fulltext.search("怎样用油漆桶", [base.pk], 10)
    assert [corpus[chunk_id] for chunk_id, _score in found] == ["点击油漆桶图标。", "这个桶里有水。"]


def test_adjacent_words_rank_above_the_same_words_apart(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    _document, corpus = add_document(base, ["桶里没有油漆了。", "点击油漆桶。"])
    found = fulltext.search("油漆桶", [base.pk], 10)
    assert [corpus[chunk_id] for chunk_id, _score in found] == ["点击油漆桶。", "桶里没有油漆了。"]


def test_pairs_alone_find_nothing(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    add_document(base, ["仓库优秀"])
    assert border_pairs("仓库优秀") == border_pairs("数据库优化") == ["库 优"]
    assert fulltext.search("数据库优化", [base.pk], 10) == []


def test_old_entries_get_pairs(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 2)
    older, newer = (factories.make_knowledge_base(owner) for _ in range(2))
    passages = ["桶里没有油漆了。", "点击油漆桶。", "a tin of paint", "油漆桶在哪里？", "桶"]
    with monkeypatch.context() as earlier:
        earlier.setattr(bm25, "border_pairs", lambda _text: [])
        document, corpus = add_document(older, passages)
        _other, second = add_document(newer, passages[1:3])
    CorpusSize.objects.update(analysed_to=0)
    later = factories.make_chunk(document, "油漆桶，新的。")  # by the current version, before the rest is renewed
    assert index.index([IndexRow.of(later)]) == 1
    assert index.renew() == len(passages) + 1 + 2
    corpus[later.pk] = later.content
    assert_counts_are_right(older, corpus)
    assert_counts_are_right(newer, second)
    assert_same(fulltext.search("油漆桶", [older.pk], 10), reference(corpus, "油漆桶", 10))
    assert not CorpusSize.objects.filter(analysed_to__isnull=False).exists()
    assert index.renew() == 0


def test_old_entries_of_traditional_texts_are_found_in_both_scripts(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = factories.make_knowledge_base(owner)
    passages = ["退貨運費由賣方承擔。", "退货须在十五天内。", "貨物", "a parcel"]
    with monkeypatch.context() as earlier:
        earlier.setattr(analysis, "simplified", lambda text: text)
        document, corpus = add_document(base, passages)
        before = set(bm25.weights_of(passages[0]))
    CorpusSize.objects.update(analysed_to=0)
    later = factories.make_chunk(document, "運費")  # by the current version, before the rest is renewed
    assert index.index([IndexRow.of(later)]) == 1
    corpus[later.pk] = later.content
    assert index.renew() == len(passages) + 1
    assert_counts_are_right(base, corpus)
    dropped = before - {term for text in corpus.values() for term in bm25.weights_of(text)}
    gone = TermFrequency.objects.filter(knowledge_base=base, term__in=dropped)
    assert dropped
    assert {row.document_frequency for row in gone} == {0}
    for query in ("退货运费由谁承担？", "退貨運費由誰承擔？"):
        found = fulltext.search(query, [base.pk], 10)
        assert_same(found, reference(corpus, query, 10))
        assert corpus[found[0][0]] == passages[0]


def test_only_bases_with_traditional_text_are_analysed_again(owner: User) -> None:
    passages = ("一根钢管，很干净", "a steel pipe", "鋼管")
    bases = [factories.make_knowledge_base(owner) for _ in range(4)]
    for base, passage in zip(bases, passages, strict=False):
        add_document(base, ["first", passage])
    document = factories.make_document(bases[3])
    factories.make_chunk(document, "一根钢管", heading_path=["鋼"])
    index.index(IndexRow.of(chunk) for chunk in document.chunks.all())
    migration = import_module("retrieval.migrations.0014_both_scripts")
    migration.analyse_anew(None, SimpleNamespace(connection=connection))
    outdated = CorpusSize.objects.filter(analysed_to=0).order_by("pk")
    assert [size.pk for size in outdated] == [bases[2].pk, bases[3].pk]


@pytest.mark.django_db(transaction=True)
def test_a_starting_worker_renews_an_old_index(owner: User) -> None:
    add_document(factories.make_knowledge_base(owner), ["用油漆桶"])
    post_spawn.send(sender="djangoq", proc_name="worker")
    assert not [task for task in OrmQ.objects.all() if task.func() == "retrieval.tasks.renew_index"]
    CorpusSize.objects.update(analysed_to=0)
    post_spawn.send(sender="djangoq", proc_name="worker")
    assert [task for task in OrmQ.objects.all() if task.func() == "retrieval.tasks.renew_index"]
    assert tasks.renew_index() == 1


@pytest.mark.django_db(transaction=True)
def test_a_renewal_resumes_and_runs_only_once(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 2)
    base = factories.make_knowledge_base(owner)
    add_document(base, ["用油漆桶"] * 5)
    CorpusSize.objects.update(analysed_to=0)
    analysed: list[str] = []
    weights_of = bm25.weights_of

    def cut_off(text: str) -> dict[int, float]:
        if len(analysed) == 3:
            raise InterruptedError
        analysed.append(text)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(renew_elsewhere).result() == 0
        return weights_of(text)

    def renew_elsewhere() -> int:
        try:
            return index.renew()
        finally:
            connection.close()

    monkeypatch.setattr(bm25, "weights_of", cut_off)
    with pytest.raises(InterruptedError):
        index.renew()
    monkeypatch.setattr(bm25, "weights_of", weights_of)
    assert index.renew() == 3


def test_indexing_again_changes_nothing(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    document, corpus = add_document(base, ["a cat", "a dog", "a cat and a dog"])
    rows = [IndexRow(key, document.pk, text) for key, text in corpus.items()]
    assert index.index(rows) == 0
    assert_counts_are_right(base, corpus)


def test_interrupted_indexing_resumes(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 2)
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base)
    chunks = [factories.make_chunk(document, f"passage number {number}") for number in range(5)]
    rows = [IndexRow(chunk.pk, document.pk, chunk.content) for chunk in chunks]
    assert index.index(rows[:3]) == 3
    assert index.index(rows) == 2
    assert_counts_are_right(base, {chunk.pk: chunk.content for chunk in chunks})


def test_deleted_chunks_are_skipped(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base)
    chunk = factories.make_chunk(document, "still here")
    assert index.index([IndexRow(chunk.pk, document.pk, "still here"), IndexRow(10**9, document.pk, "gone")]) == 1


def test_an_empty_passage_is_counted_but_never_found(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    add_document(base, ["…", "the of and", "words"])
    assert counted(base)[0] == 3
    assert len(fulltext.search("the words of …", [base.pk], 10)) == 1


def test_a_giant_passage_keeps_its_most_frequent_terms(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    text = " ".join(f"word{number}" for number in range(9_000)) + " needle" * 5
    add_document(base, [text])
    assert fulltext.search("needle", [base.pk], 10)


def test_the_indexer_indexes_and_removes(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base)
    for text in ("a cat purrs", "a dog barks"):
        factories.make_chunk(document, text)
    Indexer().index_words(document.pk, go_on=lambda: None)
    assert counted(base) == (2, 0)
    assert len(fulltext.search("cat", [base.pk], 5)) == 1
    Indexer().index_meaning([_claim(document), None])
    assert counted(base) == (2, 2)
    document.refresh_from_db()
    assert document.status == "ready"
    Indexer().remove([document.pk])
    assert_counts_are_right(base, {})


def _claim(document: Document) -> Claim:
    Document.objects.filter(pk=document.pk).update(status="chunked", heartbeat_at=None)
    held = claims.claim_indexing(document.pk)
    assert held is not None
    return held


def test_deleting_a_document_with_the_orm_leaves_no_counts(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    document, _ = add_document(base, ["a cat", "a dog"])
    _, corpus = add_document(base, ["a bird"])
    document.delete()
    assert_counts_are_right(base, corpus)
    Document.objects.filter(knowledge_base=base).delete()
    assert_counts_are_right(base, {})


def test_deleting_a_base_deletes_its_counts(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    add_document(base, ["a cat", "a dog"])
    base.delete()
    assert not TermFrequency.objects.exists()
    assert not CorpusSize.objects.exists()
    assert not IndexEntry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_parallel_workers_neither_deadlock_nor_miscount(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 5)
    rng = random.Random(11)
    base = factories.make_knowledge_base(owner)
    documents = [factories.make_document(base) for _ in range(4)]
    for document in documents:
        factories.make_chunks(document, [text_of(rng, ENGLISH) for _ in range(25)])

    def work(start: int) -> None:
        for step in (*range(start, 4), *range(start)):
            rows = [
                IndexRow(chunk.pk, chunk.document_id, chunk.searchable_text)
                for chunk in Chunk.objects.filter(document=documents[step])
            ]
            index.index(rows)
            if step % 2:
                index.delete([documents[step].pk])
                index.index(rows)
        connection.close()

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(work, range(4)))
    assert_counts_are_right(base, {chunk.pk: chunk.content for chunk in Chunk.objects.filter(document__in=documents)})


@pytest.mark.django_db(transaction=True)
def test_indexing_waits_for_a_deletion(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base)
    chunk = factories.make_chunk(document, "a cat")
    counted: list[int] = []

    def work() -> None:
        counted.append(index.index([IndexRow(chunk.pk, document.pk, "a cat")]))
        connection.close()

    worker = threading.Thread(target=work)
    with transaction.atomic():
        index.delete([document.pk])
        worker.start()
        worker.join(0.3)
        assert worker.is_alive()  # it waits for us
        document.delete()
    worker.join()
    assert counted == [0]
    assert_counts_are_right(base, {})

"""Runs: questions, stored results, and failures."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django.utils.translation import override
from django_q.models import OrmQ
from django_q.signals import post_spawn

from knowledge import services
from knowledge.ingestion import claims
from knowledge.models import Chunk, KnowledgeBase
from ragsite.db import in_database
from retrieval import tasks
from retrieval.checks import answerer_is_there
from retrieval.evaluation import executor, runs, sets
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.runs import RunFailed
from retrieval.evaluation.sets import SetRefused
from retrieval.types import Hit, SearchFailed, SearchRequest, SearchResult

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = RunOptions(mode="fulltext", reorder=False)
PASSAGES = ("The warranty lasts two years.", "Goods may be returned within thirty days.", "Tea is made of leaves.")


@pytest.fixture
def chunks(fill: Callable[..., list[Chunk]]) -> list[Chunk]:
    return fill(*PASSAGES)


@pytest.fixture
def golden(base: KnowledgeBase, owner: User, chunks: list[Chunk]) -> EvaluationSet:
    made = sets.create_set(owner, base, "Golden")
    sets.add_question(made, "How long does the warranty last?", [chunks[0].pk])
    sets.add_question(made, "warranty or goods", [chunks[1].pk, chunks[2].pk])
    return made


def test_progress_is_reported_in_order(golden: EvaluationSet) -> None:
    reported: list[int] = []

    def tell(done: int, total: int) -> None:
        time.sleep(0.3 if done == 1 else 0)
        reported.append(done)

    runs.run(golden, WORDS, golden.owner, tell)
    assert reported == [1, 2]


def test_a_run_stores_figures_and_hits(golden: EvaluationSet, chunks: list[Chunk]) -> None:
    reported: list[tuple[int, int]] = []
    run = runs.run(golden, WORDS, golden.owner, lambda done, total: reported.append((done, total)))
    assert (run.status, run.progress, run.question_count, run.notes) == ("done", 100, 2, [])
    assert run.started_by == golden.owner and run.finished_at is not None
    assert run.settings == {"mode": "fulltext", "reorder": False}
    assert reported == [(1, 2), (2, 2)]
    first, second = run.results.order_by("pk")
    assert first.figures == {"nDCG@10": 1.0, "recall@5": 1.0, "recall@10": 1.0, "MRR@10": 1.0}
    assert (first.hits[0]["chunk_id"], first.hits[0]["grade"], first.missed) == (chunks[0].pk, 1, [])
    assert first.hits[0]["snippet"] == PASSAGES[0] and first.hits[0]["filename"] == "Handbook.pdf"
    # "warranty" is found, which is wrong here; tea is missed.
    assert {hit["chunk_id"]: hit["grade"] for hit in second.hits} == {chunks[0].pk: 0, chunks[1].pk: 1}
    assert [missed["snippet"] for missed in second.missed] == [PASSAGES[2]]
    assert run.figures["recall@10"] == pytest.approx((1 + 0.5) / 2)
    assert run.figures["nDCG@10"] == pytest.approx((first.ndcg_10 + second.ndcg_10) / 2)


def test_the_gate_judges_the_hits(golden: EvaluationSet, chunks: list[Chunk]) -> None:
    sets.add_question(golden, "How high is Mount Everest above the sea?", [chunks[2].pk])
    run = runs.run(golden, WORDS)
    states = [result.answer_state for result in run.results.order_by("pk")]
    assert states[0] == "answered" and states[2] == "nothing"
    assert sum(run.answer_states.values()) == 3 and run.answer_states["nothing"] == 1


def test_a_missing_answerer_fails_the_system_check(settings: Any) -> None:
    assert answerer_is_there(None) == []
    settings.EVALUATION_ANSWERER = f"{__name__}.Nobody"
    (error,) = answerer_is_there(None)
    assert error.id == "retrieval.E003" and "Nobody" in error.msg


def test_the_options_reach_the_search(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SearchRequest] = []

    async def search(request: SearchRequest) -> SearchResult:
        asked.append(request)
        return SearchResult([], [], 1.0, [])

    monkeypatch.setattr(executor, "search", search)
    options = RunOptions("hybrid", True, "off", 0.5, 30, 0.1, 2.0, 3, reader=True)
    runs.run(golden, options)
    request = asked[0]
    assert request.queries[0].text == "How long does the warranty last?"
    assert request.knowledge_base_ids == (golden.knowledge_base_id,)
    assert (request.mode, request.reorder, request.k, request.per_document) == ("hybrid", True, 10, 3)
    assert (request.vector_weight, request.rrf_constant) == (0.5, 30)
    assert (request.read, request.patient) == (True, True)
    assert (request.vector_threshold, request.bm25_threshold) == (0.1, 2.0)
    assert request.rerank is not None
    # Ranks are measured, so hits are kept whatever their scores.
    assert (request.rerank.method, request.rerank.threshold, request.rerank.top_k) == ("off", 0.0, 10)


def test_document_targets_search_deeper_and_count_once(
    golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.RETRIEVER_TOP_K = 33
    sets.replace_questions(golden, sets.parse_questions([b'{"question": "warranty", "relevant": ["Handbook.pdf"]}']))
    depths: list[int] = []
    search = executor.search

    async def watch(request: SearchRequest) -> SearchResult:
        depths.append(request.k)
        return await search(request)

    monkeypatch.setattr(executor, "search", watch)
    run = runs.run(golden, WORDS)
    assert depths == [33]
    assert run.figures == {"nDCG@10": 1.0, "recall@5": 1.0, "recall@10": 1.0, "MRR@10": 1.0}


def test_questions_run_a_few_at_a_time_in_order(
    golden: EvaluationSet, chunks: list[Chunk], monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    texts = [f"Question {number}?" for number in range(20)]
    for text in texts:
        sets.add_question(golden, text, [chunks[0].pk])
    running, most = 0, 0

    async def search(request: SearchRequest) -> SearchResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        # Later questions are faster, so that they overtake.
        await asyncio.sleep(0.02 if request.queries[0].text.endswith("0?") else 0)
        running -= 1
        chunk = chunks[0] if request.queries[0].text == "Question 7?" else chunks[1]
        hit = Hit(chunk.pk, chunk.document_id, 1, chunk.content, "text", "a", "", None, 1.0, [])
        return SearchResult([hit], [], 1.0, [])

    monkeypatch.setattr(executor, "search", search)
    run = runs.run(golden, WORDS)
    assert most == executor.SIDE_BY_SIDE
    results = {result.text: result.mrr_10 for result in run.results.order_by("pk")}
    assert list(results)[2:] == texts
    assert results["Question 7?"] == 1.0 and results["Question 8?"] == 0.0


def test_missing_targets_are_left_out_with_a_note(golden: EvaluationSet, chunks: list[Chunk]) -> None:
    chunks[0].delete()
    run = runs.run(golden, WORDS)
    assert run.question_count == 1
    assert run.notes_said == [
        "1 relevant passage is no longer in the knowledge base and was left out.",
        "1 question was skipped: none of its relevant passages exists any more.",
    ]
    chunks[1].document.delete()
    with pytest.raises(RunFailed, match="3 relevant passages"):
        runs.run(golden, WORDS)
    failed = golden.runs.latest("pk")
    assert failed.status == "failed" and "3 relevant passages" in failed.error


def test_search_notes_are_counted(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    async def search(request: SearchRequest) -> SearchResult:
        return SearchResult([], [], 1.0, ["A side failed."])

    monkeypatch.setattr(executor, "search", search)
    assert runs.run(golden, WORDS).notes_said == ["A side failed. (2 questions)"]


def test_notes_are_translated(golden: EvaluationSet, chunks: list[Chunk]) -> None:
    chunks[0].delete()
    run = runs.run(golden, WORDS)
    run.notes += ["Kept by an older run."]
    run.error = "unexpected.KeyError"
    assert run.error_said.startswith("An unexpected error (KeyError)")
    with override("zh-hans"):
        gone, skipped, older = run.notes_said
        assert "1" in gone and not gone.isascii() and not skipped.isascii()
        assert "KeyError" in run.error_said and "unexpected" not in run.error_said
        run.error = "The run was interrupted."
        assert not run.error_said.isascii()
        run.error = "Kept by an older run."
        assert run.error_said == older == "Kept by an older run."


def test_a_failed_search_fails_the_run(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    async def search(request: SearchRequest) -> SearchResult:
        raise SearchFailed("Nothing answers.")

    monkeypatch.setattr(executor, "search", search)
    with pytest.raises(RunFailed, match="Nothing answers"):
        runs.run(golden, WORDS)
    run = golden.runs.get()
    assert (run.status, run.error, run.figures) == ("failed", "Nothing answers.", {})


def test_an_interrupted_run_is_failed(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run(golden, WORDS, progress=interrupt)
    assert golden.runs.get().status == "failed"


def test_a_run_is_queued_once_and_done_by_a_worker(golden: EvaluationSet, colleague: User) -> None:
    run = runs.start(golden, WORDS, golden.owner)
    assert (run.status, run.progress) == ("queued", 0)
    assert runs.start(golden, WORDS, colleague).pk == run.pk
    assert OrmQ.objects.count() == 1
    assert runs.start(golden, RunOptions(mode="vector"), colleague).pk != run.pk
    assert OrmQ.objects.count() == 2
    assert tasks.run_evaluation(run.pk)
    assert not tasks.run_evaluation(run.pk)  # delivered again by the queue
    run.refresh_from_db()
    assert run.status == "done" and run.figures["recall@10"] == 0.75
    assert runs.start(golden, WORDS, golden.owner).pk != run.pk


def test_documents_are_ingested_during_a_run(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_all = executor.ask_all
    run = runs.start(golden, WORDS, golden.owner)
    base = golden.knowledge_base

    async def ask_once_a_file_is_found(*args: Any) -> Any:
        file = SimpleUploadedFile("late.md", b"# Late")
        document = (await in_database(services.add_document, base, base.owner, "late.md", file)).document
        for _ in range(600):
            await document.arefresh_from_db()
            if document.status not in ("queued", "parsing"):
                return await ask_all(*args)
            await asyncio.sleep(0.1)
        raise RunFailed("the file still waits")

    monkeypatch.setattr(runs, "ask_all", ask_once_a_file_is_found)
    assert tasks.run_evaluation(run.pk)


def test_an_empty_set_and_too_many_runs_are_refused(
    golden: EvaluationSet, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = sets.create_set(golden.owner, base, "Empty")
    with pytest.raises(SetRefused, match="no question"):
        runs.start(empty, WORDS, golden.owner)
    with pytest.raises(RunFailed, match="no question"):
        runs.run(empty, WORDS)
    monkeypatch.setattr(runs, "MOST_UNFINISHED", 1)
    runs.start(golden, WORDS, golden.owner)
    with pytest.raises(SetRefused, match="unfinished"):
        runs.start(golden, RunOptions(), golden.owner)


def test_every_failure_in_a_worker_is_reported(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    for raised, words in (
        (SearchFailed("Nothing answers."), "Nothing answers."),
        (ZeroDivisionError(), "ZeroDivisionError"),
    ):

        async def search(request: SearchRequest, raised: Exception = raised) -> SearchResult:
            raise raised

        monkeypatch.setattr(executor, "search", search)
        run = runs.start(golden, WORDS, golden.owner)
        assert not runs.execute(run.pk)
        run.refresh_from_db()
        assert run.status == "failed" and words in run.error


def test_a_run_that_is_deleted_ends(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_REPORT_SECONDS", 0)
    asked = 0

    async def search(request: SearchRequest) -> SearchResult:
        nonlocal asked
        asked += 1
        await in_database(EvaluationRun.objects.all().delete)
        return SearchResult([], [], 1.0, [])

    monkeypatch.setattr(executor, "search", search)
    monkeypatch.setattr(executor, "SIDE_BY_SIDE", 1)
    run = runs.start(golden, WORDS, golden.owner)
    assert not runs.execute(run.pk)
    assert asked == 1
    assert not EvaluationRun.objects.exists()


def test_progress_is_stored_during_a_run(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_REPORT_SECONDS", 0)
    monkeypatch.setattr(executor, "SIDE_BY_SIDE", 1)
    seen: list[int] = []

    async def search(request: SearchRequest) -> SearchResult:
        seen.append(await in_database(lambda: EvaluationRun.objects.get().progress))
        return SearchResult([], [], 1.0, [])

    monkeypatch.setattr(executor, "search", search)
    runs.execute(runs.start(golden, WORDS, golden.owner).pk)
    assert seen == [0, 50]


def test_a_stalled_run_is_failed(golden: EvaluationSet) -> None:
    run = runs.start(golden, WORDS, golden.owner)
    long_ago = timezone.now() - runs.STALE_AFTER - timedelta(seconds=1)
    EvaluationRun.objects.update(heartbeat_at=long_ago)
    assert runs.fail_stalled() == 0  # it waits for a worker
    EvaluationRun.objects.update(status="running")
    assert runs.fail_stalled() == 1
    run.refresh_from_db()
    assert run.status == "failed" and "stopped" in run.error
    # If the slow worker is alive after all, it doesn't overwrite that.
    assert not runs.execute(run.pk)


def test_the_heartbeat_continues_during_a_slow_question(golden: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "HEARTBEAT_SECONDS", 0.01)
    begun = timezone.now() - timedelta(days=1)

    async def search(request: SearchRequest) -> SearchResult:
        await in_database(lambda: EvaluationRun.objects.update(heartbeat_at=begun))
        while await in_database(lambda: EvaluationRun.objects.get().heartbeat_at) == begun:
            await asyncio.sleep(0.01)
        return SearchResult([], [], 1.0, [])

    monkeypatch.setattr(executor, "search", search)
    monkeypatch.setattr(executor, "SIDE_BY_SIDE", 1)
    assert runs.execute(runs.start(golden, WORDS, golden.owner).pk)


def test_a_starting_worker_releases_tasks_of_a_killed_one(golden: EvaluationSet) -> None:
    run = runs.start(golden, WORDS, golden.owner)
    working = runs.start(golden, RunOptions(mode="fulltext"), golden.owner)
    EvaluationRun.objects.filter(pk=working.pk).update(status="running")
    OrmQ.objects.update(lock=timezone.now() + timedelta(hours=1))
    post_spawn.send(sender="django_q", proc_name="worker")
    (offered,) = OrmQ.objects.filter(lock__lte=timezone.now())
    assert offered.task["args"] == (run.pk,)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "magic"}, "“mode” must be one of: hybrid, vector, fulltext."),
        ({"rerank": "magic"}, "“rerank” must be one of: off, endpoint, local, llm, blend."),
        ({"reorder": "on"}, "“reorder” must be true or false."),
        ({"reader": "on"}, "“reader” must be true or false."),
        ({"vector_weight": -1}, "“vector_weight” must be a number of at least 0."),
        ({"vector_weight": float("nan")}, "“vector_weight” must be a number of at least 0."),
        ({"rrf_constant": 1.5}, "“rrf_constant” must be a whole number of at least 1."),
        ({"rrf_constant": True}, "“rrf_constant” must be a whole number of at least 1."),
        ({"per_document": 0}, "“per_document” must be a whole number of at least 1."),
        ({"colour": "red"}, "Unknown setting: colour"),
    ],
)
def test_invalid_options_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as refused:
        RunOptions.from_dict(given)
    assert str(refused.value) == words


def test_options_are_stored_and_labelled() -> None:
    options = RunOptions("hybrid", False, "local", 0.5, 60, None, 2.5, 3, reader=False)
    assert RunOptions.from_dict(options.to_dict()) == options
    assert options.label == (
        "hybrid · not reordered · without reader · reranked: local · vector weight 0.5 · RRF constant 60 · "
        "BM25 threshold 2.5 · hits per document 3"
    )
    assert RunOptions.from_dict({}) == RunOptions() and RunOptions().label == "hybrid"
    # A run can be shown after a later version has dropped one of its options.
    assert RunOptions.from_stored({"mode": "vector", "colour": "red"}).label == "by meaning"

"""Updating a site whose bundled model was all-MiniLM-L6-v2: it starts, searches words, and gets new vectors."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from pgvector import HalfVector
from pytest_django import Settings

from conversations.memory.relevance import relevant_turns
from conversations.models import Turn
from conversations.services import create_session
from knowledge.models import KnowledgeBase
from retrieval import tasks
from retrieval.embedding_models import jobs, notices, registry, schedules
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.engine import indexing, partitions, reembedding, spaces
from retrieval.models import EmbeddingSpace, IndexEntry, Vector, VectorCount
from retrieval.search import SearchRequest, SearchResult, search
from retrieval.templatetags.embedding_models import time_left
from retrieval.types import Mode, Query
from tests import factories
from tests.conversations.test_services import make_turn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.nightly]
Kind, Status = ModelJob.Kind, ModelJob.Status
BEFORE = ("retrieval", "0010_own_servers")
LIST = "/admin/retrieval/registeredmodel/"
COUNT = 60
# What the previous version wrote when it first embedded a text; `{pk}` is the space's id.
SPACE = """
INSERT INTO retrieval_embeddingspace
    (provider, model, base_url, own_network, encrypted_key, dimension, languages, active, created_at, left_at)
VALUES ('local', 'bundled', '', NULL, '', 384, '{en}', %s, now(), NULL) RETURNING id
"""
PARTITION = """
CREATE TABLE retrieval_vector_{pk} PARTITION OF retrieval_vector
    (CONSTRAINT retrieval_vector_{pk}_dimension CHECK (vector_dims(embedding) = 384)) FOR VALUES IN ({pk});
CREATE INDEX retrieval_vector_{pk}_hnsw ON retrieval_vector_{pk}
    USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) WITH (m = 16, ef_construction = 128);
"""
VECTORS = """
INSERT INTO retrieval_vector (chunk_id, space_id, knowledge_base_id, embedding)
SELECT chunk_id, {pk}, knowledge_base_id, %s::halfvec FROM retrieval_indexentry;
INSERT INTO retrieval_vectorcount (space_id, knowledge_base_id, vectors)
SELECT {pk}, knowledge_base_id, count(*) FROM retrieval_indexentry GROUP BY knowledge_base_id;
"""
# Created by its page of embedding models.
MODEL = """
INSERT INTO retrieval_registeredmodel (name, source, state, base_url, own_network, encrypted_key, dimension, languages,
    license, size, revision, digests, created_at)
VALUES ('bundled', 'bundled', 'ready', '', NULL, '', 384, '{en}', 'apache-2.0', 23259999, '', '{}', now())
"""


@pytest.fixture(autouse=True)
def _the_newest_at_the_end(transactional_db: None) -> Iterator[None]:
    yield
    migrate()


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "WINDOW", 4)
    monkeypatch.setattr(reembedding, "TAIL", 8)
    monkeypatch.setattr(jobs, "_REPORT_SECONDS", 0.0)


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    """Documents of the previous version, with their words indexed."""
    made = factories.make_knowledge_base(owner, name="Manual")
    texts = [f"Number {number} of the spare parts lies in drawer {number * 7}." for number in range(COUNT - 1)]
    document = factories.make_document(made, language="en")
    factories.make_chunks(document, [*texts, "The guarantee covers repairs for two years."])
    indexing.index_words(document.pk)
    return made


def migrate(target: tuple[str, str] | None = None) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate([target] if target else executor.loader.graph.leaf_nodes())
    if target is None:
        emit_post_migrate_signal(verbosity=0, interactive=False, db="default")


def go_back(active: bool = True) -> int:
    """Set up the database as the previous version left it; return the id of its space."""
    migrate(BEFORE)
    vector = HalfVector((np.ones(384) / np.sqrt(384)).tolist())
    with connection.cursor() as cursor:
        cursor.execute(SPACE, [active])
        pk = int(cursor.fetchone()[0])
        cursor.execute(PARTITION.format(pk=pk))
        cursor.execute(VECTORS.format(pk=pk), [vector.to_text()])
        cursor.execute(MODEL)
    return pk


@pytest.fixture
def old(base: KnowledgeBase) -> int:
    """The id of the old model's space on a newly migrated site."""
    pk = go_back()
    migrate()
    return pk


def found(base: KnowledgeBase, text: str = "drawer of the spare parts", mode: Mode = "hybrid") -> SearchResult:
    return async_to_sync(search)(SearchRequest((Query(text),), (base.pk,), mode=mode))


def queued() -> ModelJob:
    return ModelJob.objects.get(status=Status.QUEUED)


def finish(job: ModelJob) -> ModelJob:
    jobs.execute(job.pk)
    job.refresh_from_db()
    return job


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return str(response.content.decode())


def interrupt_after(monkeypatch: pytest.MonkeyPatch, passages: int, error: BaseException) -> None:
    """Interrupt the filling once so many passages have their vectors."""
    insert = reembedding.vectors.insert

    def broken(space: EmbeddingSpace, chunk_ids: list[int], vectors: Any) -> None:
        if Vector.objects.filter(space=space).count() >= passages:
            monkeypatch.setattr(reembedding.vectors, "insert", insert)
            raise error
        insert(space, chunk_ids, vectors)

    monkeypatch.setattr(reembedding.vectors, "insert", broken)


def test_the_old_model_keeps_its_own_name(old: int) -> None:
    left = EmbeddingSpace.objects.get(pk=old)
    assert (left.model, left.active, left.left_at is not None) == ("all-MiniLM-L6-v2", False, True)
    space = spaces.active_space()
    assert (space.model, space.filled, space.dimension, space.percent) == ("bundled", False, 384, 0)
    assert space.languages == spaces.embedder_of(space).languages
    assert space.pk != old
    known = {each.model.name: each for each in registry.all_models()}
    gone, new = known["all-MiniLM-L6-v2"], known["bundled"]
    assert (gone.model.state, gone.model.source, gone.in_use, gone.kept) == ("gone", "earlier", False, False)
    assert (gone.vectors, gone.model.size, gone.model.languages) == (COUNT, 23259999, ["en"])
    assert gone.disk > 0
    assert (new.model.license, new.in_use, new.filled, new.vectors) == ("mit", True, False, 0)
    assert new.model.size is not None
    assert new.model.size > 40_000_000
    assert registry.previous() is None
    with pytest.raises(registry.NotPossible, match="came with an earlier version"):
        jobs.start(gone.model, Kind.USE)


def test_search_uses_words_until_vectors_exist(old: int, base: KnowledgeBase, as_owner: Client, owner: User) -> None:
    by_words = found(base)
    assert by_words.hits
    (note,) = by_words.notes
    assert "(0%). Until it has finished, search uses words only." in note
    assert {source.type for hit in by_words.hits for source in hit.sources} == {"bm25"}
    assert found(base, "Gewährleistung").hits == []
    by_meaning = found(base, mode="vector")
    assert (by_meaning.hits, by_meaning.notes) == ([], [note])
    assert found(base, mode="fulltext").notes == []
    answered = as_owner.post(
        "/api/search", {"query": "drawer", "knowledge_bases": [base.pk]}, content_type="application/json"
    ).json()
    assert answered["notes"] == [note]
    assert answered["hits"]
    assert note in page(as_owner, "/playground/?q=drawer").replace("&#x27;", "'")


def test_documents_are_ingested_meanwhile(old: int, base: KnowledgeBase) -> None:
    document = factories.make_document(base)
    factories.make_chunk(document, "A heron stands on the jetty.")
    factories.index_document(document.pk)
    space = spaces.active_space()
    assert list(Vector.objects.values_list("entry__document", "space").filter(entry__document=document)) == [
        (document.pk, space.pk)
    ]
    assert space.percent == 100 // (COUNT + 1)
    assert [hit.content for hit in found(base, "heron").hits] == ["A heron stands on the jetty."]


def test_a_worker_fills_it_and_search_switches(old: int, base: KnowledgeBase) -> None:
    jobs.worker_started()
    job = queued()
    assert (job.model.name, job.kind, OrmQ.objects.count()) == ("bundled", Kind.USE, 1)
    jobs.worker_started()  # of the next process
    assert ModelJob.objects.count() == 1
    assert found(base).notes
    assert tasks.run_model_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.error) == ("done", "")
    space = spaces.active_space()
    assert (space.filled, space.percent, partitions.has_index(space)) == (True, 100, True)
    assert space.left_at is None
    assert VectorCount.objects.get(space=space).vectors == COUNT
    result = found(base)  # at once, whatever this process has cached
    assert result.notes == []
    assert {source.type for hit in result.hits for source in hit.sources} == {"bm25", "vector"}
    assert found(base, "Gewährleistung").hits
    # What can't be searched any more is gone.
    assert list(EmbeddingSpace.objects.values_list("model", flat=True)) == ["bundled"]
    assert list(RegisteredModel.objects.values_list("name", flat=True)) == ["bundled"]
    assert Vector.objects.count() == COUNT
    assert not tasks.fill_active_space()
    assert ModelJob.objects.count() == 1


def test_filling_resumes_after_a_kill(old: int, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs.worker_started()
    job = queued()
    interrupt_after(monkeypatch, 20, SystemExit())
    with pytest.raises(SystemExit):
        jobs.execute(job.pk)
    stored = set(Vector.objects.exclude(space=old).values_list("entry", flat=True))
    assert 20 <= len(stored) < COUNT
    assert f"({100 * len(stored) // COUNT}%)" in found(base).notes[0]
    assert not tasks.fill_active_space()  # its worker may be alive
    ModelJob.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    embedded: list[int] = []
    insert = reembedding.vectors.insert

    def noted(space: EmbeddingSpace, chunk_ids: list[int], vectors: Any) -> None:
        embedded.extend(chunk_ids)
        insert(space, chunk_ids, vectors)

    monkeypatch.setattr(reembedding.vectors, "insert", noted)
    assert tasks.fill_active_space()
    assert finish(queued()).status == "done"
    assert not stored & {*embedded}
    assert spaces.active_space().filled
    assert ModelJob.objects.count() == 1


def test_filling_pauses_for_other_work(old: int, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "ROUND_SECONDS", 0.0)
    jobs.worker_started()
    job = queued()
    rounds = 0
    while finish(job).status == "queued":
        rounds += 1
        assert rounds < 100
        assert not spaces.active_space().filled
        monkeypatch.setattr(jobs, "ROUND_SECONDS", rounds / 20)
    assert (job.status, rounds > 0) == ("done", True)


def test_failed_jobs_are_retried_and_stopped_ones_are_not(
    old: int, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.worker_started()
    job = queued()
    interrupt_after(monkeypatch, 8, OSError())
    assert finish(job).status == "failed"
    assert tasks.fill_active_space()
    assert queued() == job
    jobs.stop(job)
    assert not tasks.fill_active_space()
    again = jobs.go_on(ModelJob.objects.get())
    assert finish(again).status == "done"
    assert spaces.active_space().filled


def test_passages_indexed_while_filling_are_included(
    old: int, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Index only words, as for a document that waits to be embedded."""
    build = partitions.build_index

    def late(space: EmbeddingSpace) -> None:
        document = factories.make_document(base)
        factories.make_chunks(document, [f"Late passage {number}." for number in range(20)])
        indexing.index_words(document.pk)
        build(space)

    monkeypatch.setattr(partitions, "build_index", late)
    jobs.worker_started()
    assert finish(queued()).status == "done"
    assert Vector.objects.count() == IndexEntry.objects.count() == COUNT + 20


def test_pages_show_the_progress(old: int, base: KnowledgeBase, as_staff: Client, as_owner: Client) -> None:
    addresses = ["/admin/", LIST]
    for address in addresses:
        assert "processing the documents (0%)" in page(as_staff, address)
    assert "processing the documents (0%)" in page(as_owner, f"/knowledge/{base.pk}/")
    assert LIST not in page(as_owner, f"/knowledge/{base.pk}/")
    jobs.worker_started()
    job = queued()
    assert "Waiting for a worker" in page(as_staff, LIST)
    now = timezone.now()
    ModelJob.objects.filter(pk=job.pk).update(
        status=Status.RUNNING,
        done=30,
        total=COUNT,
        heartbeat_at=now,
        details={"first": 0, "began": (now - timedelta(minutes=4)).isoformat()},
    )
    shown = page(as_staff, LIST)
    assert "30 of 60 (50%)" in shown
    assert shown.count("About 4 minutes left.") == 2
    assert "No longer available" in shown
    assert "can no longer be searched" in shown
    for model in RegisteredModel.objects.all():
        page(as_staff, f"{LIST}{model.pk}/change/")
    page(as_staff, "/admin/retrieval/embeddingspace/")
    assert "About 4 minutes left." in page(as_staff, "/admin/")
    ModelJob.objects.filter(pk=job.pk).update(status=Status.STOPPED)
    assert "This has been stopped." in page(as_staff, "/admin/")
    assert "Resume" in page(as_staff, LIST)
    ModelJob.objects.filter(pk=job.pk).update(status=Status.FAILED)
    assert "will resume within a minute" in page(as_staff, "/admin/")
    assert finish(jobs.go_on(ModelJob.objects.get())).status == "done"
    assert notices.filling() is None
    for address in (*addresses, f"/knowledge/{base.pk}/"):
        assert "processing the documents" not in page(as_staff, address)


def test_the_old_vectors_can_be_removed_early(old: int, base: KnowledgeBase, as_staff: Client) -> None:
    gone = RegisteredModel.objects.get(state="gone")
    as_staff.post(f"{LIST}{gone.pk}/delete/", {"post": "yes"})
    assert not EmbeddingSpace.objects.filter(pk=old).exists()
    assert not RegisteredModel.objects.filter(state="gone").exists()
    assert found(base).hits


def test_commands(old: int, base: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("embedding_models", "list")
    output = capsys.readouterr().out
    assert "bundled  (in use, vectors missing)" in output
    assert "all-MiniLM-L6-v2  (No longer available)" in output
    call_command("reembed")
    assert "Deleted: all-MiniLM-L6-v2 (384)" in capsys.readouterr().out
    assert spaces.active_space().filled
    assert found(base).notes == []
    assert not tasks.fill_active_space()
    assert not RegisteredModel.objects.filter(state="gone").exists()


def test_turns_of_the_old_model_are_not_compared_by_vectors(old: int, base: KnowledgeBase, owner: User) -> None:
    turn = make_turn(create_session(owner), None, "Where are the spare parts?", "In the drawers.")
    vector = HalfVector((np.ones(384) / np.sqrt(384)).tolist())
    Turn.objects.filter(pk=turn.pk).update(embedding=vector, embedding_space_id=old)
    relevant = async_to_sync(relevant_turns)("Which drawer has the spare parts?", [turn.pk], [], 3)
    assert relevant.by == "words"
    assert [one.turn_id for one in relevant.turns] == [turn.pk]
    jobs.worker_started()
    assert finish(queued()).status == "done"
    turn.refresh_from_db()
    assert turn.embedding_space_id is None


def test_a_site_that_uses_another_model_keeps_it(base: KnowledgeBase) -> None:
    pk = go_back(active=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO retrieval_embeddingspace (provider, model, base_url, encrypted_key, dimension, languages,"
            " active, created_at) VALUES ('openai', 'text-embedding-3-small', 'http://models/v1', '', 1536, '{}', true,"
            " now())"
        )
    migrate()
    active = EmbeddingSpace.objects.get(active=True)
    assert (active.model, active.filled) == ("text-embedding-3-small", True)
    assert EmbeddingSpace.objects.get(pk=pk).model == "all-MiniLM-L6-v2"
    assert not EmbeddingSpace.objects.filter(model="bundled").exists()
    assert not tasks.fill_active_space()
    assert not ModelJob.objects.exists()
    assert not EmbeddingSpace.objects.filter(pk=pk).exists()


def test_a_site_that_never_used_the_old_model(base: KnowledgeBase) -> None:
    migrate(BEFORE)
    with connection.cursor() as cursor:
        cursor.execute(MODEL)
    migrate()
    assert not EmbeddingSpace.objects.exists()
    (known,) = registry.all_models()
    assert (known.model.name, known.model.license) == ("bundled", "mit")


def test_a_site_without_documents_starts_with_a_complete_space(owner: User) -> None:
    go_back()
    migrate()
    space = spaces.active_space()
    assert (space.model, space.filled, partitions.has_index(space)) == ("bundled", True, True)
    jobs.worker_started()
    assert list(EmbeddingSpace.objects.values_list("model", flat=True)) == ["bundled"]


def test_an_added_model_with_that_name_stays(old: int, base: KnowledgeBase) -> None:
    migrate(BEFORE)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM retrieval_embeddingspace WHERE active")
        cursor.execute(SPACE, [True])
        cursor.execute(PARTITION.format(pk=cursor.fetchone()[0]))
    migrate()
    names = {"all-MiniLM-L6-v2", "all-MiniLM-L6-v2-int8", "bundled"}
    assert set(EmbeddingSpace.objects.values_list("model", flat=True)) == names


def test_filling_works_if_the_environment_names_another_model(
    old: int, base: KnowledgeBase, settings: Settings
) -> None:
    settings.EMBEDDING_GIVEN = ("EMBEDDING_MODEL",)
    settings.EMBEDDING_MODEL = "BAAI/bge-small-zh-v1.5"
    jobs.worker_started()
    assert finish(queued()).status == "done"
    assert spaces.active_space().filled


def test_filling_is_scheduled() -> None:
    Schedule.objects.filter(name=schedules.FILL).delete()
    schedules.register()
    schedules.register()
    assert Schedule.objects.get(name=schedules.FILL).func == "retrieval.tasks.fill_active_space"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(20, "Less than a minute left."), (70, "About 1 minute left."), (600, "About 10 minutes left."),
     (7200, "About 2 hours left.")],
)  # fmt: skip
def test_time_left(seconds: int, expected: str) -> None:
    assert time_left(seconds) == expected


def test_the_time_left_is_estimated_from_the_speed() -> None:
    now = timezone.now()
    job = ModelJob(status=Status.RUNNING, done=300, total=900, heartbeat_at=now)
    assert job.seconds_left is None
    job.details = {"first": 200, "began": (now - timedelta(seconds=10)).isoformat()}
    assert job.seconds_left == 60
    job.details["first"] = 300
    assert job.seconds_left is None

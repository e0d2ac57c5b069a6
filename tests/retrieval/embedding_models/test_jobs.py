"""Jobs on embedding models in workers: completed, interrupted, stopped and refused."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ
from pytest_django import Settings

from knowledge.models import Chunk, KnowledgeBase
from ragsite.llm import secrets
from ragsite.llm.embedding import model_files
from retrieval import tasks
from retrieval.embedding_models import jobs, registry, trial
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.embedding_models.registry import NotPossible
from retrieval.engine import partitions, reembedding, spaces
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.models import EmbeddingSpace, VectorCount
from tests import factories
from tests.fakes.hub import REVISION, FakeHub
from tests.fakes.provider import FakeProvider
from tests.retrieval.embedding_models.conftest import PAIRS, add, done
from tests.retrieval.engine.test_spaces import use_endpoint

pytestmark = pytest.mark.django_db(transaction=True)
Kind, Status = ModelJob.Kind, ModelJob.Status
HUB_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def start_download(name: str = HUB_MODEL, **details: dict[str, str]) -> ModelJob:
    return jobs.start(registry.register(name, registry.Source.HUB), Kind.ADD, details=details)


def test_initial_models(base: KnowledgeBase) -> None:
    (known,) = registry.all_models()
    assert (known.model.name, known.in_use, known.vectors, known.named) == ("bundled", True, 45, False)
    assert (known.model.languages[:2], known.model.license, known.model.dimension) == (["en", "zh"], "mit", 384)
    assert known.model.size is not None
    assert 43_000_000 < known.model.size < 44_000_000
    assert known.disk > 0
    assert not known.can_be_removed
    assert registry.previous() is None
    assert registry.status_of(known.model).in_use


def test_a_download_in_a_worker(fake_hub: FakeHub) -> None:
    job = start_download()
    assert OrmQ.objects.count() == 1
    assert tasks.run_model_job(job.pk)
    job.refresh_from_db()
    model = job.model
    assert (job.status, job.error, model.state) == ("done", "", "ready")
    assert (model.dimension, model.license, model.revision, model.languages) == (384, "mit", REVISION, ["en"])
    assert model.digests == model_files.digests(model_files.folder_of(HUB_MODEL))
    assert job.total > 43_000_000


def test_an_interrupted_download_fails_and_resumes(fake_hub: FakeHub) -> None:
    fake_hub.break_after = [6_000_000, 0, 0, 0, 0, 0]
    job = done(start_download())
    assert job.status == "failed"
    assert "The downloaded part is kept" in job.error
    assert job.model.state == "failed"
    assert model_files.added(HUB_MODEL) is None
    with pytest.raises(NotPossible, match="isn't ready"):
        jobs.start(job.model, Kind.USE)
    fake_hub.break_after.clear()
    fake_hub.asked.clear()
    assert done(jobs.go_on(job)).status == "done"
    (asked,) = [asked for path, asked in fake_hub.asked if path.endswith("model.onnx")]
    assert int(asked.removeprefix("bytes=").rstrip("-")) > 4_000_000


def test_a_wrong_checksum_is_reported(fake_hub: FakeHub) -> None:
    job = done(start_download(digests={"model.onnx": "0" * 64}))
    assert job.status == "failed"
    assert "checksum" in job.error


def test_a_download_with_weights_of_another_model_is_refused(fake_hub: FakeHub, settings: Settings) -> None:
    bundled = Path(settings.BUNDLED_MODEL_DIR)
    fake_hub.serve("Qdrant/bge-small-zh-v1.5", bundled, model__onnx="model_optimized.onnx")
    job = done(start_download("BAAI/bge-small-zh-v1.5"))  # 512 dimensions, not 384
    assert job.status == "failed"
    assert model_files.added("BAAI/bge-small-zh-v1.5") is None
    assert not model_files.staging_of("BAAI/bge-small-zh-v1.5").exists()


def test_a_long_job_is_queued_again_and_resumes(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "ROUND_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "_REPORT_SECONDS", 0.0)
    job = start_download()
    OrmQ.objects.all().delete()
    assert done(job).status == "queued"
    assert OrmQ.objects.count() == 1
    rounds = 1
    while job.status == "queued" and rounds < 100:
        monkeypatch.setattr(jobs, "ROUND_SECONDS", rounds / 10)
        done(job)
        rounds += 1
    assert (job.status, rounds > 2) == ("done", True)


def test_a_stopped_job_ends_and_can_be_resumed(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_REPORT_SECONDS", 0.0)
    fake_hub.go_on.clear()  # files stay half sent
    job = start_download()
    worker = threading.Thread(target=_in_thread, args=[job.pk])
    worker.start()
    while not ModelJob.objects.filter(pk=job.pk, done__gt=0).exists():
        assert worker.is_alive()
    assert jobs.stop(job)
    fake_hub.go_on.set()
    worker.join(60)
    job.refresh_from_db()
    assert (job.status, job.model.state) == ("stopped", "failed")
    assert not jobs.stop(job)
    assert done(jobs.go_on(job)).status == "done"


def _in_thread(job_id: int) -> None:
    try:
        jobs.execute(job_id)
    finally:
        connection.close()


def test_a_model_has_one_unfinished_job_at_a_time(fake_hub: FakeHub) -> None:
    job = start_download()
    with pytest.raises(NotPossible, match="already"):
        jobs.start(job.model, Kind.ADD)
    with pytest.raises(NotPossible, match="already"):
        start_download()
    with pytest.raises(NotPossible, match="Stop it first"):
        registry.remove(job.model)


def test_jobs_of_a_killed_worker(fake_hub: FakeHub) -> None:
    job, waiting = start_download(), jobs.start(add_row("other"), Kind.ADD)
    long_ago = timezone.now() - timedelta(minutes=5)
    ModelJob.objects.filter(pk=job.pk).update(status=Status.RUNNING, heartbeat_at=long_ago)
    OrmQ.objects.update(lock=timezone.now() + timedelta(hours=1))
    jobs.worker_started()
    job.refresh_from_db()
    assert (job.status, job.model.state) == ("failed", "failed")
    free = [row.task["args"][0] for row in OrmQ.objects.filter(lock__lte=timezone.now())]
    assert free == [waiting.pk]
    assert done(jobs.go_on(job)).status == "done"


def add_row(name: str) -> RegisteredModel:
    return RegisteredModel.objects.create(name=name, source="files")


def test_trying_using_and_leaving_a_model_from_files(golden: EvaluationSet, stick: Path) -> None:
    model = add(stick)
    before = spaces.active_space()
    tried = done(jobs.start(model, Kind.TRY))
    assert (tried.status, tried.error) == ("done", "")
    (result,) = tried.details["results"]
    assert (result["name"], result["base"], result["questions"]) == ("Golden", "Store", len(PAIRS))
    assert result["then"]["nDCG@10"] == 1.0
    assert result["now"]["nDCG@10"] < 0.9
    assert (tried.details["present"], tried.details["passages"]) == ("bundled", 45)
    now, then = (EvaluationRun.objects.get(pk=pk) for pk in result["runs"])
    assert then.settings == {"mode": "hybrid", "model": "pairs"}
    assert "pairs" in RunOptions.from_stored(then.settings).label
    assert now.settings == {"mode": "hybrid"}
    assert spaces.active_space() == before

    used = done(jobs.start(model, Kind.USE))
    assert (used.status, used.error) == ("done", "")
    space = spaces.active_space()
    assert (space.model, space.dimension, partitions.has_index(space)) == ("pairs", 24, True)
    assert VectorCount.objects.get(space=space).vectors == 45
    assert [(each.model.name, each.in_use, each.kept) for each in registry.all_models()] == [
        ("pairs", True, False),
        ("bundled", False, True),
    ]
    previous = registry.previous()
    assert previous is not None
    assert previous.name == "bundled"

    # Documents ingested meanwhile have vectors only in this space, until the switch back.
    document = factories.make_document(golden.knowledge_base)
    factories.make_chunk(document, "A late passage.")
    factories.index_document(document.pk)
    assert done(jobs.start(previous, Kind.USE)).status == "done"
    assert spaces.active_space() == before
    assert VectorCount.objects.get(space=before).vectors == 46
    registry.remove(model)
    assert list(EmbeddingSpace.objects.values_list("model", flat=True)) == ["bundled"]
    assert model_files.added("pairs") is None
    assert not RegisteredModel.objects.filter(name="pairs").exists()


def test_only_the_vectors_of_the_bundled_model_can_be_removed(base: KnowledgeBase, stick: Path) -> None:
    model = add(stick)
    with pytest.raises(NotPossible, match="in use"):
        registry.remove(registry.find("Bundled"))
    done(jobs.start(model, Kind.USE))
    registry.remove(registry.find("bundled"))
    assert list(EmbeddingSpace.objects.values_list("model", flat=True)) == ["pairs"]
    assert not registry.all_models()[1].can_be_removed


def test_a_trial_runs_the_chosen_sets_and_resumes(golden: EvaluationSet, stick: Path, owner: User) -> None:
    from retrieval.evaluation import sets

    other = sets.create_set(owner, golden.knowledge_base, "Other")
    sets.add_question(other, PAIRS[0][1], [Chunk.objects.get(content__contains=PAIRS[0][0]).pk])
    model = add(stick)
    job = done(jobs.start(model, Kind.TRY, details={"sets": [other.pk]}))
    assert [result["name"] for result in job.details["results"]] == ["Other"]
    job = done(jobs.start(model, Kind.TRY, details={"results": job.details["results"]}))
    assert [result["name"] for result in job.details["results"]] == ["Other", "Golden"]
    total = trial.summary(job.details)
    assert total is not None
    assert (total["questions"], total["then"]["MRR@10"]) == (6, 1.0)


def test_a_long_trial_pauses_only_between_sets(
    golden: EvaluationSet, stick: Path, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    from retrieval.evaluation import sets

    other = sets.create_set(owner, golden.knowledge_base, "Other")
    sets.add_question(other, PAIRS[0][1], [Chunk.objects.get(content__contains=PAIRS[0][0]).pk])
    job = jobs.start(add(stick), Kind.TRY)
    monkeypatch.setattr(jobs, "_REPORT_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "ROUND_SECONDS", 0.0)
    assert done(job).status == "queued"  # while vectors are computed
    monkeypatch.setattr(trial.reembedding, "_fill", lambda *_: None)
    assert [len(done(job).details.get("results", ())) for _round in range(2)] == [1, 2]
    assert job.status == "done"
    assert EvaluationRun.objects.filter(status="done").count() == 4


def test_a_trial_needs_questions(base: KnowledgeBase, stick: Path) -> None:
    with pytest.raises(NotPossible, match="no question sets"):
        jobs.start(add(stick), Kind.TRY)


def test_a_trial_and_a_switch_exclude_each_other(golden: EvaluationSet, stick: Path) -> None:
    model = add(stick)
    job = jobs.start(model, Kind.TRY)
    with reembedding._alone():
        thread = threading.Thread(target=_in_thread, args=[job.pk])
        thread.start()
        thread.join(60)
    job.refresh_from_db()
    assert job.status == "failed"
    assert "in progress" in job.error


def test_users_cannot_search_a_model_on_trial() -> None:
    with pytest.raises(ValueError, match="model"):
        RunOptions.from_dict({"model": "pairs"})


def test_an_endpoint_is_queried_and_its_key_is_encrypted(golden: EvaluationSet, provider: FakeProvider) -> None:
    model = registry.register("first", registry.Source.ENDPOINT, base_url=provider.base_url, key="my-key", known=[])
    assert b"my-key" not in bytes(model.encrypted_key)
    assert done(jobs.start(model, Kind.ADD, details={"dimension": 16})).status == "done"
    model.refresh_from_db()
    assert (model.state, model.dimension, model.size) == ("ready", 16, None)
    assert done(jobs.start(model, Kind.USE)).status == "done"
    space = spaces.active_space()
    assert (space.model, space.dimension, space.base_url, space.languages) == ("first", 16, provider.base_url, [])
    assert provider.headers[-1]["Authorization"] == "Bearer my-key"
    # A new key is entered by adding it again.
    again = registry.register("first", registry.Source.ENDPOINT, base_url=provider.base_url, key="new-key", known=[])
    assert done(jobs.start(again, Kind.ADD)).status == "done"
    spaces.embed_query(spaces.active_space(), "a new question")
    assert provider.headers[-1]["Authorization"] == "Bearer new-key"


def test_a_key_is_sent_only_to_its_server() -> None:
    def register(base_url: str) -> str:
        model = registry.register("first", registry.Source.ENDPOINT, base_url=base_url, known=[])
        return secrets.decrypt(bytes(model.encrypted_key))

    registry.register("first", registry.Source.ENDPOINT, base_url="https://a.example/v1", key="my-key", known=[])
    assert register("https://a.example/v2") == "my-key"
    assert register("https://b.example/v2") == ""


def test_an_endpoint_that_rejects_the_key(provider: FakeProvider) -> None:
    provider.fail(401, {"error": {"message": "bad key my-key"}})
    model = registry.register("first", registry.Source.ENDPOINT, base_url=provider.base_url, key="my-key")
    job = done(jobs.start(model, Kind.ADD))
    assert job.status == "failed"
    assert "rejected the API key" in job.error
    assert "my-key" not in job.error


def test_the_environment_takes_precedence(
    base: KnowledgeBase, stick: Path, settings: Settings, provider: FakeProvider
) -> None:
    model = add(stick)
    use_endpoint(settings, provider)
    with pytest.raises(
        NotPossible, match=r"sets the embedding model to “first” \(EMBEDDING_PROVIDER, EMBEDDING_MODEL\)"
    ):
        jobs.start(model, Kind.USE)
    named = registry.find("first")
    assert (named.source, named.base_url) == ("endpoint", provider.base_url)
    assert done(jobs.start(named, Kind.USE)).status == "done"
    assert spaces.active_space().model == "first"
    with pytest.raises(NotPossible):
        registry.remove(named)


def test_changed_files_are_not_used(base: KnowledgeBase, stick: Path) -> None:
    model = add(stick)
    with (model_files.folder_of("pairs") / "tokenizer.json").open("a") as file:
        file.write(" ")
    job = done(jobs.start(model, Kind.USE))
    assert job.status == "failed"
    assert "have changed since it was added" in job.error
    assert spaces.active_space().model == "bundled"


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb"])
def test_invalid_names(name: str) -> None:
    with pytest.raises(NotPossible):
        registry.register(name, registry.Source.FILES)


def test_names_are_unique(stick: Path) -> None:
    add(stick)
    with pytest.raises(NotPossible, match="already"):
        registry.register("Pairs", registry.Source.FILES)
    with pytest.raises(NotPossible, match="already"):
        registry.register("bundled", registry.Source.FILES)
    with pytest.raises(NotPossible, match="isn't a model that can be downloaded"):
        registry.register("no/such", registry.Source.HUB)


def test_offered_models() -> None:
    offered = {each.name: each for each in registry.offered()}
    assert next(iter(offered.values())).languages == []
    assert offered["BAAI/bge-small-zh-v1.5"].languages == ["zh"]
    assert offered["intfloat/multilingual-e5-large"].languages == []
    assert offered["google/embeddinggemma-300m"].languages == []
    assert offered["jinaai/jina-embeddings-v2-base-zh"].languages == ["en", "zh"]
    assert offered["jinaai/jina-embeddings-v2-base-de"].languages == ["en"]
    assert not [name for name in offered if "clip" in name.lower() or "constella" in name]

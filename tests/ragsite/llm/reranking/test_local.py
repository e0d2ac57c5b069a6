"""Cross-encoders in this process, loaded from a folder, and their failures."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from ragsite.llm.errors import BadReply, LocalModelNotFound, TimedOut
from ragsite.llm.reranking import local
from ragsite.llm.reranking.entailment import LocalEntailment
from ragsite.llm.reranking.local import LocalReranker, local_reranker
from ragsite.llm.reranking.rerank import logistic
from tests.ragsite.llm import cross_encoder

QUERY = "Reset the switch"
TEXTS = ["lunch", "reset the switch", "the switch is", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder.write(tmp_path_factory.mktemp("model"))


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Loading fails; the names that were tried are kept."""
    tried: list[str] = []

    def load(model: str, folder: Path | None, labels: int) -> None:
        tried.append(model)
        raise LocalModelNotFound("no hub")

    monkeypatch.setattr(local, "_load", load)
    return iter([tried])


async def test_scores_are_the_logistic_of_the_logits_in_the_order_of_the_texts(folder: Path) -> None:
    scores = await LocalReranker(str(folder)).score(QUERY, TEXTS)
    assert scores == pytest.approx([logistic(-1), logistic(5), logistic(3), logistic(-1)])


async def test_many_texts_in_bounded_batches(folder: Path) -> None:
    reranker = LocalReranker(str(folder))
    texts = ["switch " * (number % 5) + "lunch " * number for number in range(90)]
    # 64 tokens are read of a pair, 7 of them the query's and special.
    assert await reranker.score("switch", texts) == pytest.approx([logistic(2 * (n % 5) - 1) for n in range(90)])
    assert await reranker.score("switch", []) == []


async def test_a_pair_is_cut_to_what_the_settings_allow(folder: Path, settings: Settings) -> None:
    begin = "lunch " * 40
    assert await LocalReranker(str(folder)).score("switch", [begin + "switch"]) == pytest.approx([logistic(1)])
    settings.RERANK_MAX_TOKENS = 32
    assert await LocalReranker(str(folder)).score("switch", [begin + "switch"]) == pytest.approx([logistic(-1)])


async def test_queries_side_by_side(folder: Path) -> None:
    reranker = LocalReranker(str(folder))
    asked = await asyncio.gather(*(reranker.score("switch", ["switch " * n]) for n in range(8)))
    assert [scores[0] for scores in asked] == pytest.approx([logistic(2 * n - 1) for n in range(8)])


async def test_who_stops_waiting_stops_the_model_after_its_batch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = LocalReranker(str(folder))
    await reranker.score("switch", ["switch"])
    batches: list[int] = []
    running, go_on = threading.Event(), threading.Event()

    def rerank(query: str, documents: list[str], batch_size: int) -> list[float]:
        batches.append(len(documents))
        running.set()
        go_on.wait(60)
        return [0.0] * len(documents)

    monkeypatch.setattr(reranker._loaded, "rerank", rerank)
    task = asyncio.create_task(reranker.score("switch", ["switch"] * 100))
    await asyncio.to_thread(running.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    # The thread is free for the next query.
    assert await reranker.score("switch", ["x"]) == [0.5]
    assert batches == [32, 1]


def test_one_model_serves_the_process(folder: Path) -> None:
    assert local_reranker(str(folder)) is local_reranker(str(folder))


@pytest.mark.parametrize("model", ["/no/such/folder", "./nothing"])
def test_a_folder_that_is_not_there(model: str) -> None:
    with pytest.raises(LocalModelNotFound, match="not a folder"):
        LocalReranker(model)


async def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(LocalModelNotFound, match="RERANK_LOCAL_MODEL"):
        await LocalReranker("no/such-model").score(QUERY, TEXTS)


@pytest.mark.parametrize("content", [None, b"", b"not a model"])
async def test_a_folder_without_a_model(tmp_path: Path, content: bytes | None) -> None:
    cross_encoder.write(tmp_path)
    (tmp_path / "model.onnx").unlink()
    if content is not None:
        (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(LocalModelNotFound, match="can't be found or loaded"):
        await LocalReranker(str(tmp_path)).score(QUERY, TEXTS)


@pytest.mark.parametrize("file", ["tokenizer.json", "tokenizer_config.json"])
async def test_a_folder_without_a_tokenizer(tmp_path: Path, file: str) -> None:
    (cross_encoder.write(tmp_path) / file).unlink()
    with pytest.raises(LocalModelNotFound, match=file):
        await LocalReranker(str(tmp_path)).score(QUERY, TEXTS)


async def test_a_model_of_two_classes_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(LocalModelNotFound, match="a reranker has one score"):
        await LocalReranker(str(cross_encoder.write(tmp_path, classes=2))).score(QUERY, TEXTS)


@pytest.mark.parametrize(("logits", "words"), [([float("nan")], "finite numbers"), ([], "can't be run")])
async def test_numbers_that_are_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, logits: list[float], words: str
) -> None:
    reranker = LocalReranker(str(folder))
    await reranker.score(QUERY, TEXTS)
    monkeypatch.setattr(reranker._loaded, "rerank", lambda *args, **kwargs: logits)
    with pytest.raises(BadReply, match=words):
        await reranker.score(QUERY, ["one"])


async def test_a_model_that_failed_to_load_is_not_tried_at_every_question(fails: Iterator[list[str]]) -> None:
    (tried,) = fails
    reranker = LocalReranker("some/model")
    for _ in range(3):
        with pytest.raises(LocalModelNotFound, match="no hub"):
            await reranker.score(QUERY, TEXTS)
    assert tried == ["some/model"]
    entailment = LocalEntailment("some/other")
    for _ in range(3):
        with pytest.raises(LocalModelNotFound, match="no hub"):
            await entailment.relations([(QUERY, TEXTS[0])])
    assert tried == ["some/model", "some/other"]


async def test_nobody_waits_for_a_model_that_is_being_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loading, go_on = threading.Event(), threading.Event()
    load = local._load

    def slow(model: str, folder: Path | None, labels: int) -> object:
        loading.set()
        go_on.wait(60)
        return load(model, folder, labels)

    monkeypatch.setattr(local, "_load", slow)
    monkeypatch.setattr(local, "_PATIENCE", 0.0)
    reranker = LocalReranker(str(folder))
    first = asyncio.create_task(reranker.score("switch", ["switch"]))
    await asyncio.to_thread(loading.wait, 60)
    with pytest.raises(TimedOut, match="still being loaded"):
        await reranker.score("switch", ["switch"])
    go_on.set()
    assert await first == await reranker.score("switch", ["switch"])

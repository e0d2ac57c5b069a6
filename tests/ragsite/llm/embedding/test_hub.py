"""Downloads from a fake hub: complete, interrupted, damaged and rejected."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants
from pytest_django import Settings

from ragsite.llm.embedding import hub, model_check, model_files
from ragsite.llm.embedding.embedding import LocalEmbedder
from ragsite.llm.embedding.hub import HubFailed
from ragsite.llm.embedding.model_files import Refused
from tests.fakes.hub import REVISION, FakeHub

NAME, REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2", "Qdrant/all-MiniLM-L6-v2-onnx"


@pytest.fixture
def fake_hub(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    settings.DATA_DIR = tmp_path / "data"
    with FakeHub() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        server.serve(REPOSITORY, Path(settings.BUNDLED_MODEL_DIR))
        yield server


def fetch(pinned: dict[str, str] | None = None) -> tuple[Path, str]:
    return hub.download(NAME, lambda done, total: None, pinned)


def ranges(server: FakeHub, name: str) -> list[str]:
    return [asked for path, asked in server.asked if path.endswith(name)]


def test_a_model_is_fetched_checked_and_works(fake_hub: FakeHub, settings: Settings) -> None:
    progress: list[tuple[int, int]] = []
    folder, revision = hub.download(NAME, lambda done, total: progress.append((done, total)))
    assert revision == REVISION
    digests = model_files.digests(folder)
    assert digests["model.onnx"] == model_files.sha256_of(Path(settings.BUNDLED_MODEL_DIR) / "model.onnx")
    assert set(digests) == {
        "LICENSE", "README.md", "calibration.json", "config.json", "config_sentence_transformers.json", "model.onnx",
        "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
    }  # fmt: skip
    assert progress == sorted(progress)
    assert len({total for _done, total in progress}) == 1
    assert progress[-1][0] == progress[-1][1] > 43_000_000
    assert model_check.check(folder, NAME) == 384
    model_files.install_checked_files(folder, NAME)
    fake_hub.repositories.clear()
    assert LocalEmbedder(NAME).embed_query("Hello").shape == (384,)


def test_the_token_of_the_hub_goes_along(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch()
    assert {*fake_hub.tokens} == {"Bearer hf_secret"}
    assert [path for path, _range in fake_hub.asked if "/resolve/" not in path] == [f"/api/models/{REPOSITORY}"]


def test_an_interrupted_file_is_continued_at_once(fake_hub: FakeHub) -> None:
    fake_hub.break_after = [9_000_000, 5_000_000]
    fetch()
    asked = [int(each.removeprefix("bytes=").rstrip("-") or 0) for each in ranges(fake_hub, "model.onnx")]
    assert asked[0] == 0
    assert len(asked) == 3
    assert 8_000_000 < asked[1] < asked[2] <= 14_000_000


def test_a_stopped_download_is_continued(fake_hub: FakeHub) -> None:
    def stop(done: int, total: int) -> None:
        if done > 9_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hub.download(NAME, stop)
    assert model_files.added(NAME) is None
    fake_hub.asked.clear()
    fetch()
    assert int(ranges(fake_hub, "model.onnx")[0].removeprefix("bytes=").rstrip("-")) > 4_000_000
    assert not ranges(fake_hub, f"/api/models/{REPOSITORY}")
    assert not ranges(fake_hub, "LICENSE")


def test_a_hub_that_takes_no_ranges(fake_hub: FakeHub) -> None:
    fake_hub.takes_ranges = False
    fake_hub.break_after = [9_000_000]
    assert (fetch()[0] / "model.onnx").is_file()


def test_a_hub_that_stays_away_fails_cleanly_and_keeps_what_came(fake_hub: FakeHub) -> None:
    fake_hub.break_after = [3_000_000, 0, 0, 0, 0, 0]
    with pytest.raises(HubFailed, match="downloaded part is kept"):
        fetch()
    part = model_files.staging_of(NAME) / "model.onnx.part"
    assert 2_000_000 < part.stat().st_size <= 3_000_000
    assert model_files.added(NAME) is None
    fake_hub.break_after.clear()
    fetch()


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused_and_fetched_anew(fake_hub: FakeHub, damaged: str) -> None:
    fake_hub.damaged = {damaged}
    with pytest.raises(Refused, match=f"checksum of {damaged}"):
        fetch()
    fake_hub.damaged.clear()
    fetch()
    assert ranges(fake_hub, damaged) == ["", ""]


def test_a_pinned_checksum_counts_more_than_what_the_hub_tells(fake_hub: FakeHub) -> None:
    with pytest.raises(Refused, match=r"The checksum of .*model\.onnx is wrong"):
        fetch({"model.onnx": "0" * 64})
    right = model_files.sha256_of(fetch()[0] / "model.onnx")
    model_files.remove(NAME)
    assert fetch({"model.onnx": right.upper()})[1] == REVISION


def test_a_checksum_of_a_file_that_is_none_of_the_models(fake_hub: FakeHub) -> None:
    with pytest.raises(Refused, match=r"given for onnx/model\.onnx, but the model has no such file"):
        fetch({"onnx/model.onnx": "0" * 64})


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_hub_that_refuses(fake_hub: FakeHub, status: int) -> None:
    fake_hub.statuses = {"model.onnx": status}
    with pytest.raises(HubFailed, match=str(status)):
        fetch()
    fake_hub.statuses.clear()
    fetch()


def test_hubs_that_are_none(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    del fake_hub.repositories[REPOSITORY]["tokenizer.json"]
    with pytest.raises(HubFailed, match=r"tokenizer\.json"):
        fetch()
    fake_hub.repositories.clear()
    with pytest.raises(HubFailed, match="404"):
        fetch()
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(HubFailed, match=r"127\.0\.0\.1 can't be reached"):
        fetch()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HubFailed, match="HF_HUB_OFFLINE"):
        fetch()


def test_what_is_too_large_is_not_fetched(fake_hub: FakeHub, settings: Settings) -> None:
    settings.EMBEDDING_MODEL_MAX_MB = 10
    with pytest.raises(Refused, match="10 MB"):
        fetch()
    assert not ranges(fake_hub, "model.onnx")


def test_what_fastembed_does_not_know(fake_hub: FakeHub) -> None:
    with pytest.raises(Refused):
        hub.download("no/such-model", lambda done, total: None)

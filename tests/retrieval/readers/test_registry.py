"""The site's readers and their descriptions."""

from pathlib import Path

import pytest
from pytest_django import Settings

from ragsite.llm.reranking.reader import get_reader, own_folder
from retrieval.readers import registry
from retrieval.readers.registry import KnownReader, NoSuchReader, State
from tests.ragsite.llm import reading_model

pytestmark = pytest.mark.django_db


def states() -> dict[str, str]:
    return {each.name: each.state for each in registry.all_readers()}


def reader(name: str) -> KnownReader:
    return registry.find(name)


def test_the_bundled_reader() -> None:
    (bundled,) = registry.all_readers()
    assert (bundled.name, bundled.state, bundled.is_configured) == ("bundled", State.READY, False)
    assert (bundled.languages, bundled.license) == (["en", "zh"], "apache-2.0")
    assert bundled.size is not None and bundled.size > 40_000_000
    assert bundled.is_calibrated and bundled.tells == "Ranks passages, judges whether they answer, and finds where"


def test_a_reader_in_the_data_folder(tiny: Path, settings: Settings) -> None:
    assert states() == {"bundled": "ready", "tiny": "ready"}
    assert (reader("tiny").languages, reader("tiny").license) == (["en", "zh"], "mit")
    settings.ENABLE_READER = True
    for named in ("tiny", str(tiny)):  # its path means the same
        settings.READER_MODEL = named
        assert list(states().items()) == [("tiny", "in-use"), ("bundled", "ready")]
    settings.ENABLE_READER = False
    assert states() == {"tiny": "off", "bundled": "ready"}
    tiny.rename(tiny.with_name("off"))  # which means none
    settings.READER_MODEL = "off"
    assert states() == {"bundled": "ready"}
    tiny.with_name("off").rename(tiny)
    assert get_reader("tiny").calibration.answers == (1, 0)
    with pytest.raises(NoSuchReader, match="no reader named “small”"):
        registry.find("small")


def test_a_reader_in_another_folder(tmp_path: Path, settings: Settings) -> None:
    elsewhere = reading_model.write(tmp_path / "elsewhere", {"five": 1.0})
    settings.READER_MODEL = str(elsewhere)
    found = reader(str(elsewhere))
    assert found.is_configured and found.languages is None and not found.is_calibrated


def test_why_one_cannot_be_loaded(tiny: Path, settings: Settings) -> None:
    (tiny / "tokenizer.json").unlink()
    assert (reader("tiny").state, reader("tiny").problem) == (State.BROKEN, "Missing files: tokenizer.json.")
    settings.ENABLE_READER, settings.READER_MODEL = True, "/no/such/folder"
    assert reader("/no/such/folder").problem == "/no/such/folder is not a folder."
    settings.READER_MODEL = "no-such-model"
    assert "neither a folder on the server" in reader("no-such-model").problem
    # The reader in use is loaded, which reveals more problems.
    broken = reading_model.write(own_folder() / "broken", {"five": 1.0})
    (broken / "model.onnx").write_bytes(b"no model")
    assert reader("broken").problem == ""
    settings.READER_MODEL = "broken"
    assert "can't be loaded" in reader("broken").problem


def test_a_model_with_one_score_and_one_that_is_downloaded(settings: Settings) -> None:
    plain = own_folder() / "plain" / "onnx"
    plain.mkdir(parents=True)
    for path in (plain / "model.onnx", plain.parent / "tokenizer.json", plain.parent / "tokenizer_config.json"):
        path.write_text("{}")
    assert (reader("plain").tells, reader("plain").problem) == ("Ranks passages", "")
    (plain.parent / "calibration.json").write_text('{"reader": {"answers": [0.5, 1]}}')
    assert reader("plain").tells == "Ranks passages and judges whether they answer"
    settings.READER_MODEL = "BAAI/bge-reranker-base"
    found = reader("BAAI/bge-reranker-base")
    assert (found.source, found.state, found.license) == ("hub", "off", "mit")

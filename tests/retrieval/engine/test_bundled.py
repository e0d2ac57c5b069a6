"""The bundled model: its files are those that were measured, with their licence, and they work offline."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from django.conf import settings

from ragsite.llm.embedding.embedding import get_embedder

FOLDER = Path(settings.BUNDLED_MODEL_DIR)


def load_build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundled_build", FOLDER.parent / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_checksums_hold_and_name_every_file_of_the_model() -> None:
    build = load_build()
    sums = dict(line.split()[::-1] for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
    assert {name: build.sha256_of(FOLDER / name) for name in sums} == sums
    others = {"LICENSE", "NOTICE", "SHA256SUMS"}
    assert {path.name for path in FOLDER.iterdir()} == set(sums) | others
    assert {*build.COPIED, "model.onnx"} == set(sums)


def test_the_licence_and_the_origin_are_beside_the_model() -> None:
    assert "Apache License" in (FOLDER / "LICENSE").read_text()
    notice = (FOLDER / "NOTICE").read_text()
    assert "sentence-transformers/all-MiniLM-L6-v2" in notice
    assert load_build().WEIGHTS_SHA256 in notice


def test_other_weights_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = load_build()
    assert build.main([str(tmp_path), str(tmp_path / "out")]) == 1
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    assert build.main([str(tmp_path), str(tmp_path / "out")]) == 1
    assert "SHA-256" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_model_tells_meanings_apart() -> None:
    embedder = get_embedder()
    cat, kitten, stock = embedder.embed_documents(["A cat sleeps.", "The kitten is napping.", "The stock market fell."])
    assert cat.shape == (embedder.dimension,) == (384,)
    assert embedder.languages == ["en"]
    assert np.dot(cat, kitten) > 0.5 > np.dot(cat, stock)

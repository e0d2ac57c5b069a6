"""The bundled models: their files are the measured ones, with licences, and they work offline."""

from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from ragsite.llm.embedding.embedding import get_embedder
from ragsite.llm.embedding.model_card import ModelCard
from ragsite.llm.embedding.model_files import sha256_of

EMBEDDER, READER = Path(settings.BUNDLED_MODEL_DIR), Path(settings.BUNDLED_READER_DIR)
DESCRIBING = {"LICENSE", "README.md", "SHA256SUMS"}


def sums_of(folder: Path) -> dict[str, str]:
    return dict(line.split()[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())


@pytest.mark.parametrize(("folder", "others"), [(EMBEDDER, {"calibration.json"}), (READER, {"calibration.json"})])
def test_checksums_match_and_cover_every_file(folder: Path, others: set[str]) -> None:
    sums = sums_of(folder)
    assert {name: sha256_of(folder / name) for name in sums} == sums
    assert {path.name for path in folder.iterdir()} == set(sums) | DESCRIBING | others
    assert {"config.json", "model.onnx", "tokenizer.json"} <= set(sums)


@pytest.mark.parametrize(
    ("folder", "named", "title"), [(EMBEDDER, "mit", "MIT License"), (READER, "apache-2.0", "Apache License")]
)
def test_licence_and_origin_are_included(folder: Path, named: str, title: str) -> None:
    assert title in (folder / "LICENSE").read_text()
    assert ModelCard.of(folder).license == named
    assert "intfloat/multilingual-e5-small" in (folder / "README.md").read_text()


def test_both_have_the_same_vocabulary() -> None:
    assert sums_of(READER)["tokenizer.json"] == sums_of(EMBEDDER)["tokenizer.json"]


def test_the_model_distinguishes_meanings_in_both_languages() -> None:
    embedder = get_embedder()
    texts = ["A cat sleeps.", "The kitten is napping.", "小猫在打盹。", "The stock market fell.", "股市下跌了。"]
    cat, kitten, chinese_kitten, stock, chinese_stock = embedder.embed_documents(texts)
    assert cat.shape == (embedder.dimension,) == (384,)
    assert {"en", "zh"} < set(embedder.languages)
    assert min(np.dot(cat, kitten), np.dot(cat, chinese_kitten)) > max(np.dot(cat, stock), np.dot(cat, chinese_stock))

"""Models from folders and archives: accepted files, and rejection without side effects."""

import hashlib
import io
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from ragsite.llm.embedding import model_check, model_files
from ragsite.llm.embedding.embedding import EmbeddingModel, LocalEmbedder, get_embedder
from ragsite.llm.embedding.model_files import Refused
from tests.ragsite.llm import embedder


@pytest.fixture(autouse=True)
def _own_data(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DATA_DIR = tmp_path / "data"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return embedder.write(tmp_path / "stick" / "words")


def nothing(done: int, total: int) -> None:
    """Take no notice."""


def add(origin: Path, name: str = "words") -> Path:
    staging = model_files.gather(origin, name, nothing)
    model_check.check(staging, name)
    return model_files.install_checked_files(staging, name)


def zipped(folder: Path, below: str = "words/") -> Path:
    target = folder.parent / "words.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, below + path.relative_to(folder).as_posix())
    return target


def tarred(folder: Path) -> Path:
    target = folder.parent / "words.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, "exported/words")
    return target


@pytest.mark.parametrize("made", [lambda folder: folder, zipped, tarred], ids=["folder", "zip", "tar.gz"])
def test_a_model_comes_as_folder_or_archive_and_works(folder: Path, made: Callable[[Path], Path]) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"not needed")
    progress: list[tuple[int, int]] = []
    staging = model_files.gather(made(folder), "words", lambda done, total: progress.append((done, total)))
    assert model_files.added("words") is None
    assert model_check.check(staging, "words") == 16
    placed = model_files.install_checked_files(staging, "words")
    assert placed == model_files.added("words")
    assert "pytorch_model.bin" not in model_files.digests(placed)
    assert model_files.digests(placed)["model.onnx"] == model_files.sha256_of(folder / "model.onnx")
    assert model_files.licence_of(placed) == "mit"
    assert progress[-1][0] <= progress[-1][1]
    near, far = LocalEmbedder("words").embed_documents(["the switch ports", "lunch"])
    query = LocalEmbedder("words").embed_query("switch ports")
    assert query @ near > query @ far
    assert folder.is_dir()


def test_weights_may_lie_in_a_folder_of_their_own(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert add(folder).joinpath("onnx", "model.onnx").is_file()


def test_a_model_that_fastembed_knows_is_loaded_as_it_describes_it(settings: Settings, tmp_path: Path) -> None:
    name = "BAAI/bge-small-en-v1.5"  # by the first token's vector, and its weights have another name
    brought = tmp_path / "bge"
    shutil.copytree(settings.BUNDLED_MODEL_DIR, brought)
    with pytest.raises(Refused, match=r"model_optimized\.onnx"):
        add(brought, name)
    (brought / "model.onnx").rename(brought / "model_optimized.onnx")
    (brought / "SHA256SUMS").unlink()
    add(brought, name)
    first, bundled = LocalEmbedder(name).embed_query("A switch"), LocalEmbedder().embed_query("A switch")
    assert first.shape == (384,)
    assert first @ bundled < 0.99


def test_files_that_are_replaced_are_loaded_anew(tmp_path: Path) -> None:
    model = EmbeddingModel("local", "words")
    add(embedder.write(tmp_path / "one"))
    before = get_embedder(model)
    assert before.embed_query("cat").shape == (16,)
    assert get_embedder(model) is before
    model_files.remove("words")
    add(embedder.write(tmp_path / "two", dimension=8))
    assert get_embedder(model).embed_query("cat").shape == (8,)


@pytest.mark.parametrize("lacking", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.onnx"])
def test_what_a_model_needs(folder: Path, lacking: str) -> None:
    (folder / lacking).unlink()
    with pytest.raises(Refused, match=lacking):
        add(folder)
    assert not list((model_files.folder_of("words").parent).glob("*"))


@pytest.mark.parametrize(
    ("file", "content"),
    [("model.onnx", b"no model"), ("tokenizer.json", b"{}"), ("tokenizer.json", b"\xff"), ("config.json", b"[]")],
)
def test_files_that_cannot_be_loaded(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    with pytest.raises(Refused):
        add(folder)
    assert model_files.added("words") is None


def test_a_wrong_dimension_in_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="dimension stated"):
        add(embedder.write(tmp_path / "liar", stated=12))


def test_a_checksum_that_came_along(folder: Path) -> None:
    right = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{right}  model.onnx\n{'0' * 64}  tokenizer.json\n")
    with pytest.raises(Refused, match=r"tokenizer\.json is damaged"):
        add(folder)


@pytest.mark.parametrize(
    "name", ["../outside.txt", "/tmp/outside.txt", "words/../../outside", "..\\outside", "C:\\outside"]
)
def test_paths_that_lead_out(folder: Path, tmp_path: Path, name: str) -> None:
    for archive in (zipped(folder), tarred(folder)):
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive, "a") as opened:
                opened.writestr(name, "x")
        else:
            with tarfile.open(archive, "w:gz") as packed:
                packed.add(folder, "words")
                packed.addfile(tarfile.TarInfo(name), io.BytesIO())
        with pytest.raises(Refused, match="was not unpacked"):
            add(archive)
    assert not list(tmp_path.rglob("outside*"))


def test_links_in_archives(folder: Path) -> None:
    archive = folder.parent / "links.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(folder, "words")
        link = tarfile.TarInfo("words/README.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    with pytest.raises(Refused, match="was not unpacked"):
        add(archive)


def test_what_is_too_large_whatever_it_says_of_itself(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMBEDDING_MODEL_MAX_MB = 1
    (folder / "model.onnx").write_bytes(bytes(2_000_000))
    archive = zipped(folder)
    assert archive.stat().st_size < 100_000
    with pytest.raises(Refused, match="larger than 1 MB"):
        add(archive)
    # An archive that lies about its sizes is cut off as it is unpacked.
    monkeypatch.setattr(zipfile.ZipInfo, "is_dir", lambda info: setattr(info, "file_size", 1))
    with pytest.raises(Refused):
        add(archive)
    assert not list((model_files.folder_of("words").parent).glob("*"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and nothing", b"\x1f\x8b nothing", b"plain text"])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "words.zip").write_bytes(content)
    with pytest.raises(Refused):
        add(tmp_path / "words.zip")


def test_too_many_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "MOST_FILES", 3)
    for origin in (folder, zipped(folder), tarred(folder)):
        with pytest.raises(Refused, match="more than 3 files"):
            add(origin)


def test_nothing_takes_the_place_of_a_model(folder: Path) -> None:
    placed = add(folder)
    before = model_files.digests(placed)
    staging = model_files.gather(embedder.write(folder.parent / "other", dimension=4), "words", nothing)
    with pytest.raises(Refused, match="already"):
        model_files.install_checked_files(staging, "words")
    assert model_files.digests(placed) == before
    np.testing.assert_equal(LocalEmbedder("words").dimension, 16)


def test_names_do_not_lead_out_either(folder: Path, settings: Settings) -> None:
    for name in ("../../up", "/root", "a/b", "名字", "..", "x" * 190):
        assert model_files.folder_of(name).parent == Path(settings.DATA_DIR) / "models" / "added"
    assert model_files.folder_of("a/b") != model_files.folder_of("a--b")

"""Scripts and styles are collected once, under names with a hash, compressed; a style sheet holds its imports."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage

from ragsite.runtime import static_files
from ragsite.runtime.static_files import SiteStaticFilesStorage


@pytest.fixture
def files(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sheets, a script that imports another, and the folder in which they are collected."""
    source, root = tmp_path / "source", tmp_path / "root"
    for name, text in {
        "css/site.css": '@layer base, pages;\n@import url("pages/a.css") layer(pages);\n',
        "css/pages/a.css": 'main { background: url("../../dot.svg"); color: #123456; color: #123456 }\n' * 9,
        "js/shell.js": 'import { keys } from "./keys.js";\nkeys();\n',
        "js/keys.js": "export const keys = () => 1;\n",
        "dot.svg": "<svg/>",
    }.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = root
    monkeypatch.setattr(static_files, "_prepared", False)
    static_files.prepare()
    return source


def collected(name: str) -> Path:
    return Path(staticfiles_storage.path(staticfiles_storage.stored_name(name)))


def test_a_sheet_holds_what_it_imports_and_scripts_import_hashed_names(files: Path) -> None:
    assert isinstance(staticfiles_storage, SiteStaticFilesStorage)
    sheet = collected("css/site.css").read_text()
    assert "@import" not in sheet and "@layer pages {" in sheet
    assert f'url("../{collected("dot.svg").name}")' in sheet
    assert collected("js/keys.js").name in collected("js/shell.js").read_text()
    assert staticfiles_storage.url("css/site.css") == f"/static/css/{collected('css/site.css').name}"


def test_files_are_compressed_and_collected_again_only_when_they_changed(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = collected("css/site.css")
    assert gzip.decompress(Path(f"{sheet}.gz").read_bytes()) == sheet.read_bytes()
    assert Path(f"{sheet}.br").exists()

    calls: list[str] = []
    collect = static_files.call_command
    monkeypatch.setattr(static_files, "call_command", lambda *a, **k: (calls.append(a[0]), collect(*a, **k)))
    static_files.prepare()
    assert calls == []
    (files / "css/pages/a.css").write_text("main { color: #654321 }\n")
    static_files.prepare()
    assert calls == ["collectstatic"]
    staticfiles_storage.hashed_files = staticfiles_storage.load_manifest()[0]
    assert collected("css/site.css") != sheet and "#654321" in collected("css/site.css").read_text()
    assert sheet.exists(), "pages that are open still ask for it"


def test_names_stay_plain_where_nothing_was_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_files, "_prepared", False)
    assert staticfiles_storage.url("css/site.css") == "/static/css/site.css"


def test_equal_files_are_compressed_once_and_maps_of_sources_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def compress(data: bytes, **how: int) -> bytes:
        sizes.append(len(data))
        return b"short"

    monkeypatch.setattr("brotli.compress", compress)
    compressor = SiteStaticFilesStorage().create_compressor(quiet=True)
    for name in ("a.js", "a.0123456789ab.js"):
        (tmp_path / name).write_text("let a = 1;\n" * 50)
        compressor.compress(tmp_path / name)
        assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()) == (tmp_path / name).read_bytes()
        assert (tmp_path / f"{name}.br").exists()
    assert len(sizes) == 1
    assert compressor.should_compress("a.js") and not compressor.should_compress("a.js.map")

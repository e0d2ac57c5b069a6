"""Scripts and styles are collected once, under names with a hash; a style sheet holds its imports.

A file is compressed when it is first asked for.
"""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli  # type: ignore[import-untyped]
import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpResponse
from django.test import AsyncRequestFactory

from ragsite.runtime import static_files
from ragsite.runtime.static_files import SiteCompressor, SiteStaticFilesStorage, StaticFiles


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
    # The one storage of the process learns the names of another test's files otherwise.
    staticfiles_storage.hashed_files = staticfiles_storage.load_manifest()[0]
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


def test_files_are_collected_again_only_when_they_changed(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = collected("css/site.css")
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


async def _ask(url: str, encoding: str = "br") -> tuple[dict[str, str], bytes]:
    async def elsewhere(request: Any) -> HttpResponse:
        return HttpResponse(status=404)

    response: Any = await StaticFiles(elsewhere)(AsyncRequestFactory().get(url, headers={"accept-encoding": encoding}))
    content = response.content if response.status_code == 404 else b"".join([part async for part in response])
    return dict(response.headers), content


@pytest.mark.parametrize(("encoding", "read"), [("br", brotli.decompress), ("gzip", gzip.decompress)])
async def test_a_file_is_compressed_when_it_is_first_asked_for(
    files: Path, encoding: str, read: Callable[[bytes], bytes]
) -> None:
    hashed = collected("css/site.css")
    for path, cached in ((hashed, "immutable"), (hashed.with_name("site.css"), "max-age=3600, public")):
        assert not Path(f"{path}.br").exists()
        headers, content = await _ask(f"/static/css/{path.name}", encoding)
        assert (headers["Content-Encoding"], headers["Vary"]) == (encoding, "Accept-Encoding")
        assert read(content) == path.read_bytes() and cached in headers["Cache-Control"]
    assert await _ask("/static/css/other.css") == ({"Content-Type": "text/html; charset=utf-8"}, b"")
    assert not [file for file in hashed.parent.glob("*.*") if file.suffix not in (".css", ".br", ".gz")]


async def test_what_was_compressed_before_a_change_is_not_sent(files: Path) -> None:
    path = Path(staticfiles_storage.path("css/pages/a.css"))
    await _ask("/static/css/pages/a.css")
    path.write_text("main { color: #654321 }\n" * 9)
    os.utime(path, (1, 1))
    _, content = await _ask("/static/css/pages/a.css")
    assert brotli.decompress(content) == path.read_bytes()


async def test_where_nothing_can_be_written_files_are_sent_as_they_are(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes, quality: int) -> bytes:
        raise OSError("No space left on device")

    monkeypatch.setattr("brotli.compress", fail)
    headers, content = await _ask("/static/css/pages/a.css")
    assert "Content-Encoding" not in headers
    assert content == Path(staticfiles_storage.path("css/pages/a.css")).read_bytes()


def test_maps_of_sources_are_not_compressed() -> None:
    compressor = SiteCompressor()
    assert compressor.should_compress("a.js") and not compressor.should_compress("a.js.map")

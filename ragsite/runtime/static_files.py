"""Serve static files: collected under hashed names, compressed, and cached by browsers for ever.

`manage.py web` calls `prepare` before it builds the site. Files are collected again only if one has changed. Other
processes use plain names. Plain names are also served, with a cache time of an hour, since scripts address some files
by their path. A file is compressed on its first request: compressing all of them would take seconds, and most are never
requested.
"""

import asyncio
import fcntl
import hashlib
import os
import posixpath
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import brotli  # type: ignore[import-untyped]
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage, StaticFilesStorage, staticfiles_storage
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from servestatic.compress import Compressor
from servestatic.middleware import ServeStaticMiddleware
from servestatic.responders import StaticFile

# Unused files of third-party apps: the API has no pages except Swagger UI.
IGNORED = ("redoc", "rest_framework")
_IMPORT = re.compile(r'@import url\("([^":]+)"\)( layer\([\w.-]+\))?;')
_URL = re.compile(r"""url\((["']?)(?!["']?(?:data:|#|/|[a-z]+:))([^"')]+)\1\)""")
_prepared = False


class SiteStaticFilesStorage(ManifestStaticFilesStorage):
    """Hashed names, also in imports of scripts; imported style sheets are inlined, which saves requests."""

    # The site's own scripts are modules that import each other; libraries are left unchanged.
    patterns = (
        ManifestStaticFilesStorage.patterns[0],
        ("js/*.js", ManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined]
    )

    def url(self, name: str, force: bool = False) -> str:  # type: ignore[override]
        """Return the URL of a file, with its hash once this process has called `prepare`."""
        return super().url(name, force) if _prepared else StaticFilesStorage.url(self, name)

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """Replace imports in style sheets by the imported ones, then hash the files."""
        for name, (storage, path) in list(paths.items()):
            if not dry_run and name.endswith(".css"):
                text = storage.open(path).read().decode()
                if _IMPORT.search(text):
                    self.delete(name)
                    self._save(name, ContentFile(_with_imports(name, text, paths).encode()))  # type: ignore[attr-defined]
                    paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)


class SiteCompressor(Compressor):  # type: ignore[misc]
    """Compresses nearly as well as Brotli's maximum in a tenth of the time, since a request waits for it."""

    def __init__(self) -> None:
        """Leave out source maps, which are only used for debugging."""
        super().__init__(extensions=(*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"), quiet=True)

    def compress(self, path: str) -> None:
        """Write compressed versions of a file beside it, unless they are up to date."""
        changed = int(Path(path).stat().st_mtime)
        existing = [file for suffix in (".zstd", ".br", ".gz") if (file := Path(path + suffix)).exists()]
        if not existing or any(int(file.stat().st_mtime) != changed for file in existing):
            for file in existing:
                file.unlink(missing_ok=True)
            super().compress(path)

    def compress_brotli(self, data: bytes) -> bytes:
        """Compress with Brotli at quality 9."""
        return bytes(brotli.compress(data, quality=9))

    def write_data(self, path: str, data: bytes, suffix: str, stat_result: os.stat_result) -> str:
        """Write a compressed file atomically, since other threads and processes may be sending it."""
        half_made = f"{path}.{os.getpid()}-{threading.get_ident()}"
        Path(super().write_data(half_made, data, suffix, stat_result)).rename(path + suffix)
        return path + suffix


class StaticFiles(ServeStaticMiddleware):  # type: ignore[misc]
    """Serves collected files; a file is compressed, and its headers are built, on its first request."""

    _names: frozenset[str] = frozenset()
    _compressor = SiteCompressor()

    def add_files_from_manifest(self) -> None:
        """Store the existing names."""
        hashed: dict[str, str] = staticfiles_storage.hashed_files  # type: ignore[attr-defined]
        self._names = frozenset([*hashed, *hashed.values()])

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve a file, or pass the request on to the site."""
        url = request.path_info
        if url not in self.files and (name := url.removeprefix(self.static_prefix)) in self._names:
            self.files[url] = await asyncio.to_thread(self._compressed, name, url)
        response: HttpResponseBase = await super().__call__(request)
        return response

    def _compressed(self, name: str, url: str) -> StaticFile:
        path = staticfiles_storage.path(name)
        if self._compressor.should_compress(path):
            with suppress(OSError):  # such as a full disk: send the file uncompressed
                self._compressor.compress(path)
        return self.get_static_file(path, url)


def prepare() -> None:
    """Collect the static files if they changed, and use their hashed names in this process.

    Processes that start together wait for the first of them.
    """
    global _prepared
    root = Path(settings.STATIC_ROOT)
    marker = root / ".collected"
    # The names, sizes and times of all files, and of this module.
    known = [f"{Path(__file__).stat().st_mtime:.0f}"]
    for finder in finders.get_finders():
        for path, storage in finder.list(list(IGNORED)):
            stat = Path(storage.path(path)).stat()
            known.append(f"{path} {stat.st_size} {stat.st_mtime:.0f}")
    signature = hashlib.sha256("\n".join(known).encode()).hexdigest()
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists() or marker.read_text() != signature:
            call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=list(IGNORED))
            marker.write_text(signature)
    _prepared = True


def _with_imports(name: str, text: str, paths: dict[str, Any]) -> str:
    """Return a style sheet with imported ones inlined, wrapped in their layers, and with adjusted URLs."""

    def imported(match: re.Match[str]) -> str:
        relative, layer = match[1], match[2]
        folder = posixpath.dirname(relative)
        storage, path = paths[posixpath.normpath(posixpath.join(posixpath.dirname(name), relative))]
        sheet = storage.open(path).read().decode()
        sheet = _URL.sub(lambda url: f'url("{posixpath.normpath(posixpath.join(folder, url[2]))}")', sheet)
        return f"@layer {layer[len(' layer(') : -1]} {{\n{sheet}}}\n" if layer else sheet

    return _IMPORT.sub(imported, text)

"""Scripts, styles and pictures as they are served: collected under names with a hash, compressed, kept for ever.

`manage.py web` calls `prepare` before it builds the site. What was collected once is kept until a file changes. In
other processes names stay plain. Plain names are served too, for an hour: scripts address some files by their path.
"""

import fcntl
import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import brotli  # type: ignore[import-untyped]
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.files.base import ContentFile
from django.core.management import call_command
from servestatic.compress import Compressor
from servestatic.storage import CompressedManifestStaticFilesStorage

# The API's page has Swagger; the other reader that comes with it is nowhere used.
IGNORED = ("redoc",)
_IMPORT = re.compile(r'@import url\("([^":]+)"\)( layer\([\w.-]+\))?;')
_URL = re.compile(r"""url\((["']?)(?!["']?(?:data:|#|/|[a-z]+:))([^"')]+)\1\)""")
_prepared = False


class SiteCompressor(Compressor):  # type: ignore[misc]
    """Compresses nearly as well as Brotli can, in a tenth of the time, and equal files once: a first start waits."""

    def __init__(self, **kwargs: Any) -> None:
        # Maps of sources are for who looks into a library's scripts.
        super().__init__(**kwargs | {"extensions": (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")})
        self._compressed: dict[bytes, bytes] = {}

    def compress_brotli(self, data: bytes) -> bytes:
        """Compress as Brotli does at quality 9."""
        return self._once(b"br", data, lambda: brotli.compress(data, quality=9))

    def compress_gzip(self, data: bytes) -> bytes:
        """Compress as the library does."""
        return self._once(b"gz", data, lambda: Compressor.compress_gzip(data))

    def _once(self, kind: bytes, data: bytes, compress: Callable[[], bytes]) -> bytes:
        # Most files are there twice: under their name, and under one with a hash.
        key = kind + hashlib.sha256(data).digest()
        if key not in self._compressed:
            self._compressed[key] = compress()
        return self._compressed[key]

    def compress(self, path: Any) -> list[str]:
        """Compress a file, unless that was done and it hasn't changed since."""
        done = Path(f"{path}.gz")
        if done.exists() and int(done.stat().st_mtime) == int(Path(path).stat().st_mtime):
            return []
        return list(super().compress(path))


class SiteStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names with hashes, imports of scripts too; a style sheet holds what it imports, so that none waits."""

    # Of scripts ours are modules that import one another; libraries are taken as they are.
    patterns = (
        CompressedManifestStaticFilesStorage.patterns[0],
        ("js/*.js", CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),
    )

    def url(self, name: str | None, force: bool = False) -> str:
        """Return the address of a file; with its hash once the files of this process are prepared."""
        return super().url(name, force) if _prepared else StaticFilesStorage.url(self, name)

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """Put imported style sheets in place of their imports, then hash and compress."""
        for name, (storage, path) in list(paths.items()):
            if not dry_run and name.endswith(".css"):
                text = storage.open(path).read().decode()
                if _IMPORT.search(text):
                    self.delete(name)
                    self._save(name, ContentFile(_with_imports(name, text, paths).encode()))
                    paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)

    def create_compressor(self, **kwargs: Any) -> Compressor:
        """Return the compressor of the collected files."""
        return SiteCompressor(**kwargs)


def prepare() -> None:
    """Collect the static files if they changed, and use their hashed names in this process.

    Processes that start together wait for the first of them.
    """
    global _prepared
    root = Path(settings.STATIC_ROOT)
    marker = root / ".collected"
    signature = _signature()
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists() or marker.read_text() != signature:
            call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=list(IGNORED))
            marker.write_text(signature)
    _prepared = True


def _signature() -> str:
    """Return a digest of all files' names, sizes and times, and of this module."""
    known = [f"{Path(__file__).stat().st_mtime:.0f}"]
    for finder in finders.get_finders():
        for path, storage in finder.list(list(IGNORED)):
            stat = Path(storage.path(path)).stat()
            known.append(f"{path} {stat.st_size} {stat.st_mtime:.0f}")
    return hashlib.sha256("\n".join(known).encode()).hexdigest()


def _with_imports(name: str, text: str, paths: dict[str, Any]) -> str:
    """Return a style sheet with imported ones in place, their layers around them and their addresses seen from it."""

    def imported(match: re.Match[str]) -> str:
        relative, layer = match[1], match[2]
        folder = posixpath.dirname(relative)
        storage, path = paths[posixpath.normpath(posixpath.join(posixpath.dirname(name), relative))]
        sheet = storage.open(path).read().decode()
        sheet = _URL.sub(lambda url: f'url("{posixpath.normpath(posixpath.join(folder, url[2]))}")', sheet)
        return f"@layer {layer[len(' layer(') : -1]} {{\n{sheet}}}\n" if layer else sheet

    return _IMPORT.sub(imported, text)

"""The files of embedding models that were added to the site: where they lie, what is needed, and whether it works.

A model's files lie in a folder of its own below the data folder. They come there as a whole: what is downloaded or
unpacked lies in a folder beside it until it was checked, and is then renamed.
"""

import hashlib
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar

from django.conf import settings
from django.utils.translation import gettext as _

from ragsite.llm.embedding.model_card import ModelCard, read_json

T = TypeVar("T")
# Takes how many bytes, passages or steps are done by now, and how many there are; may raise to put an end to the work.
Progress = Callable[[int, int], None]

NEEDED = ("config.json", "tokenizer.json", "tokenizer_config.json")
_OPTIONAL = (
    "special_tokens_map.json", "preprocessor_config.json", "1_Pooling/config.json", "README.md",
    "config_sentence_transformers.json", "calibration.json",
)  # fmt: skip
_WEIGHTS = ("model.onnx", "onnx/model.onnx")
# Data that lie beside the weights they belong to, and what a licence asks to be kept.
_KEPT = re.compile(r"(onnx/)?model[\w.-]*\.onnx[_.]data|(LICEN[CS]E|NOTICE)[\w.-]*")
_SUMS = "SHA256SUMS"
# What licence files begin with, by the names that model cards have for them.
_LICENCES = {"apache-2.0": r"Apache License.*2\.0", "mit": r"\bMIT License", "cc-by-nc-4.0": r"NonCommercial 4\.0"}
# What a model has of files that are not its weights.
MOST_FILES = 2000
_PIECE = 1 << 20


class Refused(Exception):
    """Files are no model that this site could use; the message is for the person who brought them."""


def name_of(filename: str) -> str:
    """Return what a model is called by the name of its file or archive."""
    return re.sub(r"(\.(tar|tgz|gz|zip))+$", "", filename, flags=re.IGNORECASE)


def folder_of(name: str) -> Path:
    """Return where the files of an added model lie, or would lie."""
    plain = re.sub(r"[^\w.-]+", "--", name).strip(".-")[:80]
    return Path(settings.DATA_DIR) / "models" / "added" / f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def added(name: str) -> Path | None:
    """Return where an added model lies; None where no model of this name was added."""
    folder = folder_of(name)
    return folder if folder.is_dir() else None


def staging_of(name: str) -> Path:
    """Return the folder in which a model is put together; what was begun there can be gone on with."""
    folder = folder_of(name)
    return folder.with_name(f"{folder.name}.part")


def known_to_fastembed(name: str) -> dict[str, Any] | None:
    """Return fastembed's description of a model, None of one that it doesn't know."""
    from fastembed import TextEmbedding

    return next((each for each in TextEmbedding.list_supported_models() if each["model"].lower() == name.lower()), None)


def wanted(known: dict[str, Any] | None) -> Callable[[str], bool]:
    """Return a predicate for paths, such as `onnx/model.onnx`: whether the model needs or should keep that file."""
    weights = [known["model_file"], *known["additional_files"]] if known else _WEIGHTS
    names = {*NEEDED, *_OPTIONAL, *weights}
    return lambda path: path in names or bool(_KEPT.fullmatch(path) and (not known or "onnx" not in path.lower()))


def missing(paths: set[str], known: dict[str, Any] | None) -> list[str]:
    """Return which files a model lacks."""
    lacking = [name for name in NEEDED if name not in paths]
    if known:
        return lacking + [name for name in (known["model_file"], *known["additional_files"]) if name not in paths]
    return lacking if paths & {*_WEIGHTS} else [*lacking, _WEIGHTS[0]]


def gather(origin: Path, name: str, progress: Progress) -> Path:
    """Put the files of a folder or archive (zip, tar.gz) into the model's staging folder, and return that.

    Raises `Refused` for what holds no model, leads out of the folder, or is larger than `EMBEDDING_MODEL_MAX_MB`.
    """
    staging = staging_of(name)
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        with _opened(origin) as members:
            total = sum(size for _path, size, _open in members) or 1
            described = [path for path, _size, _open in members if path.name == "config.json"]
            top = min(described, key=lambda path: len(path.parts), default=None)
            if top is None:
                raise Refused(_("There is no config.json in it, as every model has one."))
            known, done = known_to_fastembed(name), 0
            is_wanted = wanted(known)
            for path, _size, opened in members:
                inner = path.relative_to(top.parent).as_posix() if path.is_relative_to(top.parent) else ""
                if not is_wanted(inner) and inner != _SUMS:
                    continue
                target = staging / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened() as source, target.open("wb") as file:
                    while piece := source.read(_PIECE):
                        done += len(piece)
                        check_size(done)  # whatever an archive says of itself
                        file.write(piece)
                        progress(min(done, total), total)
        if lacking := missing({path.relative_to(staging).as_posix() for path in staging.rglob("*")}, known):
            raise Refused(_("It lacks what a model needs: {names}").format(names=", ".join(lacking)))
        _compare_with_sums(staging)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise Refused(_("It can't be read: {error}").format(error=error)) from error
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return staging


def install_checked_files(staging: Path, name: str) -> Path:
    """Put checked files in the model's place; raises `Refused` where there are some already."""
    target = folder_of(name)
    if target.exists():
        raise Refused(_("There is a model of this name already."))
    return staging.rename(target)


def remove(name: str) -> None:
    """Delete a model's files, and what is left of a download."""
    shutil.rmtree(folder_of(name), ignore_errors=True)
    remove_staging(name)


def remove_staging(name: str) -> None:
    """Delete what is being put together, or is left of a download."""
    shutil.rmtree(staging_of(name), ignore_errors=True)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of a model's files by their paths in its folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def size_of(folder: Path) -> int:
    """Return the bytes of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def licence_of(folder: Path) -> str:
    """Return the licence that a model's card or licence file tells, empty where none does."""
    if told := ModelCard.of(folder).license:
        return told
    for path in sorted(folder.glob("LICEN*")):
        lines = path.read_text(encoding="utf-8", errors="replace")[:2000].split("\n")
        title = " ".join(" ".join(lines[:4]).split())
        if named := next(
            (name for name, mark in _LICENCES.items() if re.search(mark, title, re.IGNORECASE)), title[:60]
        ):
            return named
    return ""


def check_size(size: int) -> None:
    """Raise `Refused` for more bytes than a model may have."""
    if size > settings.EMBEDDING_MODEL_MAX_MB * 1024 * 1024:
        message = _("It is larger than the {limit} MB that EMBEDDING_MODEL_MAX_MB allows.")
        raise Refused(message.format(limit=settings.EMBEDDING_MODEL_MAX_MB))


def _compare_with_sums(staging: Path) -> None:
    """Compare files with the SHA256SUMS that came along, where one did."""
    sums = staging / _SUMS
    if not sums.is_file():
        return
    for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
        told, _space, named = line.partition(" ")
        file = staging / named.strip().lstrip("*")
        if file.resolve().is_relative_to(staging.resolve()) and file.is_file() and sha256_of(file) != told.lower():
            raise Refused(
                _("{name} is damaged: its checksum is another one than SHA256SUMS tells.").format(name=file.name)
            )
    sums.unlink()


# A member's path, its size in bytes, and what opens it.
Member = tuple[PurePosixPath, int, Callable[[], IO[bytes]]]


@contextmanager
def _opened(origin: Path) -> Iterator[list[Member]]:
    """Open a folder or archive, and give its regular files. Raises `Refused` for what is no such."""
    with ExitStack() as stack:
        if origin.is_dir():
            members = _of_folder(origin)
        elif zipfile.is_zipfile(origin):
            members = _of_zip(stack.enter_context(zipfile.ZipFile(origin)))
        elif origin.is_file() and tarfile.is_tarfile(origin):
            members = _of_tar(stack.enter_context(tarfile.open(origin)))
        else:
            raise Refused(_("It is neither a folder nor a zip or tar.gz archive."))
        found = list(members)
        check_size(sum(size for _path, size, _open in found))
        yield found


def _few(items: Iterable[T]) -> Iterator[T]:
    """Yield what a folder or archive holds; raises `Refused` for more than `MOST_FILES`."""
    for number, item in enumerate(items):
        if number == MOST_FILES:
            raise Refused(_("It holds more than {n} files.").format(n=MOST_FILES))
        yield item


def _of_folder(folder: Path) -> Iterator[Member]:
    for path in _few(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        # Also of a download of the hub, whose files are links to others.
        yield PurePosixPath(path.relative_to(folder).as_posix()), path.stat().st_size, lambda path=path: path.open("rb")  # type: ignore[misc]


def _of_zip(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in _few(archive.infolist()):
        is_link = (info.external_attr >> 16) & 0o170000 == 0o120000
        path = _safe(info.filename, is_link=is_link)
        if not info.is_dir():
            yield path, info.file_size, lambda info=info: archive.open(info)  # type: ignore[misc]


def _of_tar(archive: tarfile.TarFile) -> Iterator[Member]:
    for info in _few(archive):
        path = _safe(info.name, is_link=not (info.isfile() or info.isdir()))
        if info.isfile():
            yield path, info.size, lambda info=info: archive.extractfile(info)  # type: ignore[misc]


def _safe(name: str, *, is_link: bool) -> PurePosixPath:
    """Return a member's path; raises `Refused` for one that leads out of the folder, or is no plain file."""
    path = PurePosixPath(name.replace("\\", "/"))
    if is_link or path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
        raise Refused(_("The archive holds what no model needs, and was not unpacked: {name}").format(name=name[:200]))
    return path


def description(folder: Path) -> dict[str, Any]:
    """Return what a model's `config.json` says; empty where it says nothing that can be read."""
    return read_json(folder / "config.json")

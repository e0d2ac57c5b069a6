"""The files of embedding models that were added to the site: their location, and which files are needed.

Each model has a folder below the data folder. It appears there as a whole: files are downloaded or unpacked to a
staging folder beside it, which is renamed once they have been checked.
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
# Called with the number of bytes, passages or steps done, and their total; may raise an exception to stop the work.
Progress = Callable[[int, int], None]

NEEDED = ("config.json", "tokenizer.json", "tokenizer_config.json")
_OPTIONAL = (
    "special_tokens_map.json", "preprocessor_config.json", "1_Pooling/config.json", "README.md",
    "config_sentence_transformers.json", "calibration.json",
)  # fmt: skip
_WEIGHTS = ("model.onnx", "onnx/model.onnx")
# External data of the weights, and files that licences require to be kept.
_KEPT = re.compile(r"(onnx/)?model[\w.-]*\.onnx[_.]data|(LICEN[CS]E|NOTICE)[\w.-]*")
_SUMS = "SHA256SUMS"
# Beginnings of licence files, by the licence's name in model cards.
_LICENCES = {"apache-2.0": r"Apache License.*2\.0", "mit": r"\bMIT License", "cc-by-nc-4.0": r"NonCommercial 4\.0"}
# The most files in a model's folder or archive.
MOST_FILES = 2000
_PIECE = 1 << 20


class Refused(Exception):
    """The files aren't a model that this site can use; the message is for the user who added them."""


def name_of(filename: str) -> str:
    """Return a model's name according to the name of its file or archive."""
    return re.sub(r"(\.(tar|tgz|gz|zip))+$", "", filename, flags=re.IGNORECASE)


def folder_of(name: str) -> Path:
    """Return the folder for the files of an added model, whether it exists or not."""
    plain = re.sub(r"[^\w.-]+", "--", name).strip(".-")[:80]
    return Path(settings.DATA_DIR) / "models" / "added" / f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def added(name: str) -> Path | None:
    """Return the folder of an added model, or None if there is no such model."""
    folder = folder_of(name)
    return folder if folder.is_dir() else None


def staging_of(name: str) -> Path:
    """Return the staging folder of a model, from which an interrupted download can be continued."""
    folder = folder_of(name)
    return folder.with_name(f"{folder.name}.part")


def known_to_fastembed(name: str) -> dict[str, Any] | None:
    """Return fastembed's description of a model, or None if it doesn't know the model."""
    from fastembed import TextEmbedding

    return next((each for each in TextEmbedding.list_supported_models() if each["model"].lower() == name.lower()), None)


def wanted(known: dict[str, Any] | None) -> Callable[[str], bool]:
    """Return a predicate for paths, such as `onnx/model.onnx`, of files that the model needs or should keep."""
    weights = [known["model_file"], *known["additional_files"]] if known else _WEIGHTS
    names = {*NEEDED, *_OPTIONAL, *weights}
    return lambda path: path in names or bool(_KEPT.fullmatch(path) and (not known or "onnx" not in path.lower()))


def missing(paths: set[str], known: dict[str, Any] | None) -> list[str]:
    """Return the names of needed files that are missing."""
    lacking = [name for name in NEEDED if name not in paths]
    if known:
        return lacking + [name for name in (known["model_file"], *known["additional_files"]) if name not in paths]
    return lacking if paths & {*_WEIGHTS} else [*lacking, _WEIGHTS[0]]


def gather(origin: Path, name: str, progress: Progress) -> Path:
    """Copy the files of a folder or archive (zip, tar.gz) to the model's staging folder, and return the folder.

    Raises `Refused` if there is no model in it, a path leads outside, or it is larger than `EMBEDDING_MODEL_MAX_MB`.
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
                raise Refused(_("It contains no config.json, which every model has."))
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
                        check_size(done)  # an archive may understate its size
                        file.write(piece)
                        progress(min(done, total), total)
        if lacking := missing({path.relative_to(staging).as_posix() for path in staging.rglob("*")}, known):
            raise Refused(_("Files that a model needs are missing: {names}").format(names=", ".join(lacking)))
        _compare_with_sums(staging)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise Refused(_("It can't be read: {error}").format(error=error)) from error
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return staging


def install_checked_files(staging: Path, name: str) -> Path:
    """Move checked files to the model's folder; raises `Refused` if that exists already."""
    target = folder_of(name)
    if target.exists():
        raise Refused(_("A model with this name already exists."))
    return staging.rename(target)


def remove(name: str) -> None:
    """Delete a model's files, and the remains of a download."""
    shutil.rmtree(folder_of(name), ignore_errors=True)
    remove_staging(name)


def remove_staging(name: str) -> None:
    """Delete the model's staging folder."""
    shutil.rmtree(staging_of(name), ignore_errors=True)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 checksums of a model's files, by their paths in its folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def size_of(folder: Path) -> int:
    """Return the total size of a folder's files, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def licence_of(folder: Path) -> str:
    """Return the licence according to a model's card or licence file, empty if unknown."""
    if stated := ModelCard.of(folder).license:
        return stated
    for path in sorted(folder.glob("LICEN*")):
        lines = path.read_text(encoding="utf-8", errors="replace")[:2000].split("\n")
        title = " ".join(" ".join(lines[:4]).split())
        if named := next(
            (name for name, mark in _LICENCES.items() if re.search(mark, title, re.IGNORECASE)), title[:60]
        ):
            return named
    return ""


def check_size(size: int) -> None:
    """Raise `Refused` if a model exceeds the size limit; `size` is in bytes."""
    if size > settings.EMBEDDING_MODEL_MAX_MB * 1024 * 1024:
        message = _("The model is larger than {limit} MB, the limit set by EMBEDDING_MODEL_MAX_MB.")
        raise Refused(message.format(limit=settings.EMBEDDING_MODEL_MAX_MB))


def _compare_with_sums(staging: Path) -> None:
    """Verify files against the SHA256SUMS among them, if there is one."""
    sums = staging / _SUMS
    if not sums.is_file():
        return
    for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _space, name = line.partition(" ")
        file = staging / name.strip().lstrip("*")
        if file.resolve().is_relative_to(staging.resolve()) and file.is_file() and sha256_of(file) != digest.lower():
            raise Refused(_("{name} is damaged: its checksum differs from that in SHA256SUMS.").format(name=file.name))
    sums.unlink()


# A member's path, its size in bytes, and a function that opens it.
Member = tuple[PurePosixPath, int, Callable[[], IO[bytes]]]


@contextmanager
def _opened(origin: Path) -> Iterator[list[Member]]:
    """Context manager that opens a folder or archive and yields its regular files. Raises `Refused` for others."""
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
    """Yield the items of a folder or archive; raises `Refused` if there are more than `MOST_FILES`."""
    for number, item in enumerate(items):
        if number == MOST_FILES:
            raise Refused(_("It contains more than {n} files.").format(n=MOST_FILES))
        yield item


def _of_folder(folder: Path) -> Iterator[Member]:
    for path in _few(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        # Links are followed, since the files of a hub download are links.
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
    """Return a member's path; raises `Refused` if it leads outside the folder or isn't a regular file."""
    path = PurePosixPath(name.replace("\\", "/"))
    if is_link or path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
        message = _("The archive was not unpacked because it contains an unsafe entry: {name}")
        raise Refused(message.format(name=name[:200]))
    return path


def description(folder: Path) -> dict[str, Any]:
    """Return the content of a model's `config.json`, empty if it can't be read."""
    return read_json(folder / "config.json")

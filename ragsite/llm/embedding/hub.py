"""Download models that fastembed supports from the Hugging Face Hub, or from the mirror in `HF_ENDPOINT`.

The library's own download starts from the beginning after an interruption. This one keeps the part that has arrived and
requests the rest: models are hundreds of megabytes, and connections are often slow. All files of a download are of the
revision that it began with, and are verified against the hub's checksums.
"""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import httpx
from django.utils.translation import gettext as _

from ragsite.llm.embedding import model_files
from ragsite.llm.embedding.model_files import Progress, Refused

# Seconds for connecting, and without any data.
CONNECT_TIMEOUT, IDLE_TIMEOUT = 15.0, 60.0
# Attempts to continue a file at once after an interruption, as long as each brings some data.
ATTEMPTS = 5
_PLAN = "plan.json"


class HubFailed(Exception):
    """The download failed; the part that has arrived is kept. The message is for the user."""


def download(name: str, progress: Progress, pinned: dict[str, str] | None = None) -> tuple[Path, str]:
    """Download a model's files to its staging folder, continuing an earlier download; return the folder and revision.

    `pinned` are known SHA-256 checksums by file path. Raises `HubFailed`, and `Refused` if a checksum is wrong or the
    files are larger than `EMBEDDING_MODEL_MAX_MB`.
    """
    known = model_files.known_to_fastembed(name)
    if known is None:
        raise Refused(_("“{name}” isn't a model that can be downloaded.").format(name=name))
    staging = model_files.staging_of(name)
    staging.mkdir(parents=True, exist_ok=True)
    with httpx.Client(
        timeout=httpx.Timeout(IDLE_TIMEOUT, connect=CONNECT_TIMEOUT), follow_redirects=True, headers=_headers()
    ) as client:
        plan = _plan(client, known, staging)
        files: list[dict[str, Any]] = plan["files"]
        for path, digest in (pinned or {}).items():
            file = next((file for file in files if file["path"] == path), None)
            if file is None:
                raise Refused(_("A checksum was given for {path}, but the model has no such file.").format(path=path))
            file["sha256"] = digest.lower()
        total = sum(file["size"] for file in files)
        model_files.check_size(total)
        if shutil.disk_usage(staging).free < total - model_files.size_of(staging):
            raise HubFailed(_("There isn't enough disk space: {n} MB are needed.").format(n=total >> 20))
        done = 0
        for file in files:
            _fetch(client, plan, file, staging, lambda came, done=done: progress(done + came, total))
            done += file["size"]
    (staging / _PLAN).unlink()
    return staging, plan["revision"]


def _plan(client: httpx.Client, known: dict[str, Any], staging: Path) -> dict[str, Any]:
    """Return the revision and files of the download, as stored when it began."""
    written = staging / _PLAN
    if written.is_file():
        found: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
        return found
    repository = known["sources"]["hf"]
    url = f"{_endpoint()}/api/models/{repository}"
    try:
        reply = client.get(url, params={"blobs": "true"})
        reply.raise_for_status()
        listing = reply.json()
        is_wanted = model_files.wanted(known)
        files = [
            {
                "path": each["rfilename"],
                "size": int(each["size"]),
                "sha256": (each.get("lfs") or {}).get("sha256", ""),
                "blob": each.get("blobId", ""),
            }
            for each in listing["siblings"]
            if is_wanted(each["rfilename"])
        ]
        plan = {"repository": repository, "revision": str(listing["sha"]), "files": files}
    except httpx.HTTPError as error:
        raise _unreachable(error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise HubFailed(_("{host} doesn't respond like a model hub.").format(host=_host())) from error
    if lacking := model_files.missing({file["path"] for file in files}, known):
        raise HubFailed(_("{host} lacks files of this model: {names}").format(host=_host(), names=", ".join(lacking)))
    written.write_text(json.dumps(plan), encoding="utf-8")
    return plan


def _fetch(client: httpx.Client, plan: dict[str, Any], file: dict[str, Any], staging: Path, came: Any) -> None:
    """Download a file, or the rest of it, and verify it. `came` is called with the number of bytes received."""
    target = staging / file["path"]
    if target.is_file():  # verified before it was renamed
        came(file["size"])
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    url = f"{_endpoint()}/{plan['repository']}/resolve/{plan['revision']}/{file['path']}"
    part.touch()
    failed = 0
    while (here := part.stat().st_size) < file["size"]:
        came(here)
        try:
            with client.stream("GET", url, headers={"Range": f"bytes={here}-"} if here else {}) as reply:
                reply.raise_for_status()
                is_rest = reply.status_code == 206 and reply.headers.get("Content-Range", "").startswith(
                    f"bytes {here}-"
                )
                with part.open("ab" if here and is_rest else "wb") as out:
                    for piece in reply.iter_raw():
                        out.write(piece)
                        if out.tell() > file["size"]:
                            break
                        came(out.tell())
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (404, 410):  # the revision is gone; start over with the current one
                shutil.rmtree(staging)
            raise _unreachable(error) from error
        except httpx.HTTPError as error:
            failed += 1
            if failed == ATTEMPTS or part.stat().st_size <= here:
                raise _unreachable(error) from error
        else:
            if part.stat().st_size <= here:
                raise HubFailed(_("{host} stopped sending {name}.").format(host=_host(), name=file["path"]))
    if not _is_intact(part, file):
        part.unlink()  # so that the next download starts over
        message = _("The checksum of {name} is wrong. The file was deleted; try again.")
        raise Refused(message.format(name=file["path"]))
    part.rename(target)
    came(file["size"])


def _is_intact(path: Path, file: dict[str, Any]) -> bool:
    """Return whether a file has the hub's size and checksum: SHA-256 for large files, git's hash for others."""
    size = path.stat().st_size
    if size != file["size"]:
        return False
    if file["sha256"]:
        return bool(model_files.sha256_of(path) == file["sha256"])
    if file["blob"]:
        return bool(
            hashlib.sha1(b"blob %d\0" % size + path.read_bytes(), usedforsecurity=False).hexdigest() == file["blob"]
        )
    return True


def _endpoint() -> str:
    from huggingface_hub import constants

    return constants.ENDPOINT.rstrip("/")


def _host() -> str:
    return httpx.URL(_endpoint()).host


def _headers() -> dict[str, str]:
    """Return the headers of a request, with the token configured for the hub's own library, if any."""
    from huggingface_hub import constants, get_token

    if constants.HF_HUB_OFFLINE:
        message = _("HF_HUB_OFFLINE is set, so this site doesn't download models. Add the model from a file instead.")
        raise HubFailed(message)
    token = get_token()
    authorization = {"Authorization": f"Bearer {token}"} if token else {}
    return {"User-Agent": "ragsite", "Accept-Encoding": "identity", **authorization}


def _unreachable(error: httpx.HTTPError) -> HubFailed:
    if isinstance(error, httpx.HTTPStatusError):
        message = _("{host} refused the download (status {status}).")
        return HubFailed(message.format(host=_host(), status=error.response.status_code))
    message = _(
        "{host} can't be reached, or the connection was lost: {error}. The downloaded part is kept. "
        "Try again, or add the model from a file."
    )
    return HubFailed(message.format(host=_host(), error=type(error).__name__))

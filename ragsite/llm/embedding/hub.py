"""Fetching the models that fastembed knows from the Hugging Face Hub, or from the mirror that `HF_ENDPOINT` names.

The library's own download starts a file again when it was cut off. Here the part that has arrived is kept and the rest
is requested: models are hundreds of megabytes, and connections are often slow. All files of a download are of the
revision that it began with, and each is compared with the checksum that the hub gives.
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

# Seconds for a connection, and without a byte.
CONNECT_TIMEOUT, IDLE_TIMEOUT = 15.0, 60.0
# Times that a file which breaks off is gone on with at once, as long as something comes each time.
ATTEMPTS = 5
_PLAN = "plan.json"


class HubFailed(Exception):
    """Nothing more comes from the hub now; what has come stays. The message is for a person."""


def download(name: str, progress: Progress, pinned: dict[str, str] | None = None) -> tuple[Path, str]:
    """Fetch a model's files into its staging folder, going on with what is there; return that, and their revision.

    `pinned` are SHA-256 checksums by the files' paths, known from before or from elsewhere. Raises `HubFailed`, and
    `Refused` when a file is not what its checksum says, or all are larger than `EMBEDDING_MODEL_MAX_MB`.
    """
    known = model_files.known_to_fastembed(name)
    if known is None:
        raise Refused(_("“{name}” is no model that can be downloaded.").format(name=name))
    staging = model_files.staging_of(name)
    staging.mkdir(parents=True, exist_ok=True)
    with httpx.Client(
        timeout=httpx.Timeout(IDLE_TIMEOUT, connect=CONNECT_TIMEOUT), follow_redirects=True, headers=_headers()
    ) as client:
        plan = _plan(client, known, staging)
        files: list[dict[str, Any]] = plan["files"]
        for path, digest in (pinned or {}).items():
            named = next((file for file in files if file["path"] == path), None)
            if named is None:
                raise Refused(
                    _("A checksum was given of {path}, which is none of the model's files.").format(path=path)
                )
            named["sha256"] = digest.lower()
        total = sum(file["size"] for file in files)
        model_files.check_size(total)
        if shutil.disk_usage(staging).free < total - model_files.size_of(staging):
            raise HubFailed(_("There is too little room on the disk: {n} MB are needed.").format(n=total >> 20))
        done = 0
        for file in files:
            _fetch(client, plan, file, staging, lambda came, done=done: progress(done + came, total))
            done += file["size"]
    (staging / _PLAN).unlink()
    return staging, plan["revision"]


def _plan(client: httpx.Client, known: dict[str, Any], staging: Path) -> dict[str, Any]:
    """Return which files of which revision are fetched, as it was written down when the download began."""
    written = staging / _PLAN
    if written.is_file():
        found: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
        return found
    repository = known["sources"]["hf"]
    url = f"{_endpoint()}/api/models/{repository}"
    try:
        reply = client.get(url, params={"blobs": "true"})
        reply.raise_for_status()
        told = reply.json()
        is_wanted = model_files.wanted(known)
        files = [
            {
                "path": each["rfilename"],
                "size": int(each["size"]),
                "sha256": (each.get("lfs") or {}).get("sha256", ""),
                "blob": each.get("blobId", ""),
            }
            for each in told["siblings"]
            if is_wanted(each["rfilename"])
        ]
        plan = {"repository": repository, "revision": str(told["sha"]), "files": files}
    except httpx.HTTPError as error:
        raise _unreachable(error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise HubFailed(_("{host} answers something else than a model hub does.").format(host=_host())) from error
    if lacking := model_files.missing({file["path"] for file in files}, known):
        raise HubFailed(_("{host} lacks files of this model: {names}").format(host=_host(), names=", ".join(lacking)))
    written.write_text(json.dumps(plan), encoding="utf-8")
    return plan


def _fetch(client: httpx.Client, plan: dict[str, Any], file: dict[str, Any], staging: Path, came: Any) -> None:
    """Fetch one file, or the rest of it, and check it. `came` is told how many of its bytes are here."""
    target = staging / file["path"]
    if target.is_file():  # it was checked before it got this name
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
                goes_on = reply.status_code == 206 and reply.headers.get("Content-Range", "").startswith(
                    f"bytes {here}-"
                )
                with part.open("ab" if here and goes_on else "wb") as out:
                    for piece in reply.iter_raw():
                        out.write(piece)
                        if out.tell() > file["size"]:
                            break
                        came(out.tell())
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (404, 410):  # the revision is gone; the next try asks for the present one
                shutil.rmtree(staging)
            raise _unreachable(error) from error
        except httpx.HTTPError as error:
            failed += 1
            if failed == ATTEMPTS or part.stat().st_size <= here:
                raise _unreachable(error) from error
        else:
            if part.stat().st_size <= here:
                raise HubFailed(_("{host} sent nothing more of {name}.").format(host=_host(), name=file["path"]))
    if not _is_what_was_told(part, file):
        part.unlink()  # so that it is fetched anew, and not gone on with
        message = _("{name} is not what was asked for: its checksum is wrong. It was thrown away; try again.")
        raise Refused(message.format(name=file["path"]))
    part.rename(target)
    came(file["size"])


def _is_what_was_told(path: Path, file: dict[str, Any]) -> bool:
    """Whether a file has the size and the checksum that the hub told: SHA-256 of large ones, git's hash of others."""
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
    """Return the headers of a request: with the token that was set up for the hub's own library, where one was."""
    from huggingface_hub import constants, get_token

    if constants.HF_HUB_OFFLINE:
        raise HubFailed(_("HF_HUB_OFFLINE is set: this site downloads nothing. Bring the model as a file."))
    token = get_token()
    authorization = {"Authorization": f"Bearer {token}"} if token else {}
    return {"User-Agent": "ragsite", "Accept-Encoding": "identity", **authorization}


def _unreachable(error: httpx.HTTPError) -> HubFailed:
    if isinstance(error, httpx.HTTPStatusError):
        message = _("{host} refuses the download (status {status}).")
        return HubFailed(message.format(host=_host(), status=error.response.status_code))
    message = _(
        "{host} can't be reached, or broke off: {error}. What has come is kept; try again, or bring it as a file."
    )
    return HubFailed(message.format(host=_host(), error=type(error).__name__))

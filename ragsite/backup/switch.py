"""Replace files of the data folder together with the database, so that after any interruption both are old or new.

New files are staged beside the old ones. Within the transaction that loads the database, the database is marked with a
token, old files are moved away and the new ones into place. `recover`, called after failures and at the next start,
sees from the token whether the transaction was committed, and finishes or reverts the moves.
"""

import json
import os
import secrets
import shutil
from pathlib import Path

from django.conf import settings

from ragsite.backup import database
from ragsite.runtime import secret_files

# What a restored site needs of the data folder: documents, the key, models, and the first start's password.
ITEMS = ("media", "secret-key", "models/added", "models/readers", "demo-password")
_STATE = "state.json"


def staging() -> Path:
    """Return the folder for new files, with the paths that they will have in the data folder."""
    return Path(settings.DATA_DIR) / "restore.new"


def _old() -> Path:
    return Path(settings.DATA_DIR) / "restore.old"


def is_pending() -> bool:
    """Return whether a restore is in progress or was interrupted."""
    return staging().exists() or _old().exists()


def begin() -> Path:
    """Create the empty folder for new files and return it. Raises `OSError`."""
    secret_files.private_folder(staging())
    return staging()


def swap() -> None:
    """Mark the database, move the old files away and the new ones into place. Raises `OSError`.

    To be called at the end of the transaction that loads the database.
    """
    state = {"token": secrets.token_hex(16), "new": [item for item in ITEMS if (staging() / item).exists()]}
    database.mark(str(state["token"]))
    secret_files.private_folder(_old())
    half_made = _old() / f"{_STATE}.new"
    half_made.write_text(json.dumps(state), encoding="utf-8")
    half_made.rename(_old() / _STATE)
    os.sync()  # the staged files and the state, before anything is moved
    for item in ITEMS:
        _replace(item)
    os.sync()  # the moves, before the database is committed


def recover() -> None:
    """Finish a restore whose database was committed, or revert it; does nothing if there was none.

    Needs the database. Raises `OSError`.
    """
    state = _old() / _STATE
    if state.exists():
        known = json.loads(state.read_text(encoding="utf-8"))
        is_committed = database.marked() == known["token"]
        for item in ITEMS:
            is_staged = (staging() / item).exists()
            if is_committed and (is_staged or item not in known["new"]):
                _replace(item)
            elif not is_committed:
                if item in known["new"] and not is_staged:
                    _move(Path(settings.DATA_DIR), staging(), item)
                _move(_old(), Path(settings.DATA_DIR), item)
        os.sync()
    for folder in (_old(), staging()):
        shutil.rmtree(folder, ignore_errors=True)


def _replace(item: str) -> None:
    _move(Path(settings.DATA_DIR), _old(), item)
    _move(staging(), Path(settings.DATA_DIR), item)


def _move(source: Path, target: Path, item: str) -> None:
    if (source / item).exists():
        (target / item).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (source / item).rename(target / item)

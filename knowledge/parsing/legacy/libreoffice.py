"""Where LibreOffice is, and whether the part of it that a kind of file needs is installed."""

import os
import shutil
import time
from functools import lru_cache
from pathlib import Path

# Module of LibreOffice → the library that it is, and what Debian calls it.
_LIBRARIES = {"writer": "libswlo", "calc": "libsclo", "impress": "libsdlo"}
_PLACES = (
    "/usr/lib/libreoffice/program",
    "/usr/lib64/libreoffice/program",
    "/opt/libreoffice/program",
    "/Applications/LibreOffice.app/Contents/MacOS",
)


_KEPT_S = 60  # seconds for which an answer is kept: it may be installed while the site runs


def program() -> str:
    """Return the path of LibreOffice, or "" where there is none."""
    return _program(time.monotonic() // _KEPT_S)


@lru_cache(maxsize=1)
def _program(now: float) -> str:
    path = os.pathsep.join((os.defpath, "/usr/local/bin", "/snap/bin", *_PLACES))
    return shutil.which("soffice", path=path) or shutil.which("libreoffice", path=path) or ""


def has(module: str) -> bool:
    """Whether LibreOffice is installed with this module: "writer", "calc" or "impress"."""
    return _has(module, time.monotonic() // _KEPT_S)


@lru_cache(maxsize=len(_LIBRARIES))
def _has(module: str, now: float) -> bool:
    if not program():
        return False
    folder = Path(program()).resolve().parent
    libraries = [path.name for path in (*folder.glob("lib*lo.*"), *folder.parent.glob("Frameworks/lib*lo.*"))]
    # Where its libraries aren't beside it, as behind a wrapper, it is taken for whole.
    return not libraries or any(name.startswith(f"{_LIBRARIES[module]}.") for name in libraries)


def package(module: str) -> str:
    """Return what Debian and its kin call the module, without a desktop."""
    return f"libreoffice-{module}-nogui"

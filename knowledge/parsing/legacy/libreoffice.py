"""The location of LibreOffice, and whether the module that a kind of file needs is installed."""

import os
import shutil
import time
from functools import lru_cache
from pathlib import Path

# The library of each LibreOffice module.
_LIBRARIES = {"writer": "libswlo", "calc": "libsclo", "impress": "libsdlo"}
_PLACES = (
    "/usr/lib/libreoffice/program",
    "/usr/lib64/libreoffice/program",
    "/opt/libreoffice/program",
    "/Applications/LibreOffice.app/Contents/MacOS",
)


_KEPT_S = 60  # seconds for which a result is cached, since LibreOffice may be installed while the site runs


def program() -> str:
    """Return the path of LibreOffice, or "" if it isn't installed."""
    return _program(time.monotonic() // _KEPT_S)


@lru_cache(maxsize=1)
def _program(now: float) -> str:
    path = os.pathsep.join((os.defpath, "/usr/local/bin", "/snap/bin", *_PLACES))
    return shutil.which("soffice", path=path) or shutil.which("libreoffice", path=path) or ""


def has(module: str) -> bool:
    """Return whether LibreOffice is installed with this module: "writer", "calc" or "impress"."""
    return _has(module, time.monotonic() // _KEPT_S)


@lru_cache(maxsize=len(_LIBRARIES))
def _has(module: str, now: float) -> bool:
    if not program():
        return False
    folder = Path(program()).resolve().parent
    libraries = [path.name for path in (*folder.glob("lib*lo.*"), *folder.parent.glob("Frameworks/lib*lo.*"))]
    # If the libraries aren't next to the program, as with a wrapper script, assume that it is complete.
    return not libraries or any(name.startswith(f"{_LIBRARIES[module]}.") for name in libraries)


def package(module: str) -> str:
    """Return the name of the module's package in Debian and its derivatives, without a desktop."""
    return f"libreoffice-{module}-nogui"

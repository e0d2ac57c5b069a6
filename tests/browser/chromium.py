"""The Chromium that the browser tests use.

Run as a program (`python -m tests.browser.chromium`), it succeeds if there is one, so that `make test` knows whether to
download Playwright's own.
"""

import os
import shutil
import sys
from pathlib import Path

BROWSERS = Path(__file__).resolve().parents[2] / ".browsers"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Chromium treats pages rewritten by a test as coming from the internet, and blocks their requests to this machine.
    "--disable-features=LocalNetworkAccessChecks",
]


def executable() -> str | None:
    """Return the system's Chromium or Chrome, otherwise Playwright's in `.browsers`, otherwise None.

    Debian's headless Chromium comes first: the tests need a quarter less processor time with it.
    """
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"):
        if found := shutil.which(name):
            return found
    own = sorted(BROWSERS.glob("chromium-*/chrome-linux*/chrome")) + sorted(
        BROWSERS.glob("chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
    )
    return next((str(path) for path in reversed(own) if os.access(path, os.X_OK)), None)


if __name__ == "__main__":
    sys.exit(executable() is None)

"""Which Chromium the browser tests drive.

As a program (`python -m tests.browser.chromium`) it succeeds when there is one, so that `make test` knows
whether to fetch Playwright's own.
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
    # A page that a test rewrites on its way counts as one of the internet, which may not ask this machine for anything.
    "--disable-features=LocalNetworkAccessChecks",
]


def executable() -> str | None:
    """Return the system's Chromium or Chrome, else the one that Playwright put into `.browsers`, else None.

    Debian's Chromium without a desktop comes first: the tests take it a quarter less of a processor's time.
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

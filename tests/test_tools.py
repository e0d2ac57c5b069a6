"""`make test` lists missing programs before running anything, if it can't install them."""

import os
import subprocess
from pathlib import Path

from tests.site import ROOT


def _run(tmp_path: Path, *there: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a machine that has only these programs, and no apt."""
    found = {name: path for name in there if (path := _which(name))}
    for name, path in found.items():
        (tmp_path / name).symlink_to(path)
    command = ["/bin/sh", str(ROOT / "tests" / "tools.sh"), str(ROOT / ".venv" / "bin" / "python")]
    return subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)


def _which(name: str) -> str | None:
    return next((path for folder in os.get_exec_path() if os.access(path := f"{folder}/{name}", os.X_OK)), None)


def test_missing_programs_are_listed(tmp_path: Path) -> None:
    refused = _run(tmp_path, "id", "uname", "msgfmt", "xgettext", "fc-list")
    assert refused.returncode == 1
    assert "please install" in refused.stderr and "  redis-server\n" in refused.stderr
    assert "gettext" not in refused.stderr


def test_nothing_is_printed_if_nothing_is_missing(tmp_path: Path) -> None:
    everything = _run(tmp_path, "id", "uname", "msgfmt", "xgettext", "fc-list", "redis-server", "pdftotext")
    assert (everything.returncode, everything.stdout, everything.stderr) == (0, "", "")

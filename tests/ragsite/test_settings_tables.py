"""The table of settings: the documentation is made from it, it holds every variable, and its bounds are kept."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from ragsite import env
from tests.site import ROOT

SOURCES = [
    path for app in ("ragsite", "knowledge", "retrieval", "conversations") for path in ROOT.glob(f"{app}/**/*.py")
]


def test_the_documentation_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("list_settings")
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == capsys.readouterr().out, "run `make docs`"


def test_every_variable_is_in_the_table() -> None:
    readers = re.compile(r"\benv\.(?:text|secret|boolean|integer|decimal|choice|words|path|url|origins|optional_\w+)\(")
    assert [path.name for path in SOURCES if readers.search(path.read_text(encoding="utf-8"))] == ["options.py"]
    read = {
        name
        for path in [*SOURCES, ROOT / "manage.py"]
        for name in re.findall(r"environ(?:\.\w+\(|\[)\s*\"([A-Z_]+)\"", path.read_text(encoding="utf-8"))
    }
    assert read - {"DJANGO_SETTINGS_MODULE"} <= set(env.options)
    assert all(section.title and row[0].help for section, rows in env.rows() for row in rows)
    assert sum(len(row) for _section, rows in env.rows() for row in rows) == len(env.options) > 100


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("DEFAULT_TOP_K", "101", "is 101; it takes a whole number of at least 1 and at most 100"),
        ("LLM_TEMPERATURE", "warm", "is 'warm'; it takes a number of at least 0.0 and at most 2.0"),
        ("EMBEDDING_DIMENSION", "5000", "is 5000; it takes a whole number of at least 1 and at most 4000"),
        ("RAGSITE_LANGUAGE", "fr", "is 'fr'; it takes one of: en, zh-hans"),
    ],
)
def test_what_is_out_of_bounds_stops_the_start(name: str, value: str, takes: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import ragsite.options"],
        cwd=ROOT,
        env=os.environ | {name: value, "RAGSITE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"ImproperlyConfigured: {name} {takes}." in done.stderr

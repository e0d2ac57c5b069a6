"""The registry of settings: the documentation is generated from it, it is complete, and bounds are enforced."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from conversations.web import settings_page
from ragsite import env
from tests.site import ROOT

SOURCES = [
    path for app in ("ragsite", "knowledge", "retrieval", "conversations") for path in ROOT.glob(f"{app}/**/*.py")
]


def test_the_documentation_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("list_settings")
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == capsys.readouterr().out, "run `make docs`"


def test_every_variable_is_in_the_table() -> None:
    reader = re.compile(
        r"^from ragsite import env\b.*\benv\.(?!given|rows|unknown|written|option_of)[a-z_]+\(",
        re.MULTILINE | re.DOTALL,
    )
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in [*SOURCES, ROOT / "manage.py"]}
    assert [name for name, text in texts.items() if reader.search(text)] == ["ragsite/options.py"]
    read = {name for text in texts.values() for name in re.findall(r"environ(?:\.\w+\(|\[)\s*\"([A-Z_]+)\"", text)}
    assert read - {"DJANGO_SETTINGS_MODULE"} <= set(env.options)
    assert all(section.title and row[0].help for section, rows in env.rows() for row in rows)
    assert sum(len(row) for _section, rows in env.rows() for row in rows) == len(env.options) > 100


def test_one_entry_is_enough_for_documentation_and_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], settings: Settings
) -> None:
    monkeypatch.setattr(env, "options", dict(env.options))
    settings.NEW_KNOB = env.integer("NEW_KNOB", 3, (1, 9), "turns of the knob")
    call_command("list_settings")
    assert "| `NEW_KNOB` | `3` | 1 – 9 | on restart | turns of the knob |" in capsys.readouterr().out
    _title, rows = list(settings_page.sections())[-1]
    assert rows[-1] == ([settings_page.Cell("NEW_KNOB", "3", "3", "1 – 9")], "turns of the knob")


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("ANSWER_TOP_K", "101", "is 101; it must be a whole number of at least 1 and at most 100"),
        ("LLM_TEMPERATURE", "warm", "is 'warm'; it must be a number of at least 0.0 and at most 2.0"),
        ("EMBEDDING_DIMENSION", "5000", "is 5000; it must be a whole number of at least 1 and at most 4000"),
        ("RAGSITE_LANGUAGE", "fr", "is 'fr'; it must be one of: en, zh-hans"),
    ],
)
def test_a_value_out_of_bounds_prevents_the_start(name: str, value: str, takes: str, tmp_path: Path) -> None:
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


def test_what_changes_at_run_time_is_read_as_such() -> None:
    """By `config`, not by `settings`: else what an administrator or an assistant sets would not count."""
    live = {option.setting for option in env.options.values() if option.live}
    for path in SOURCES:
        read = set(re.findall(r"\bsettings\.([A-Z_0-9]+)", path.read_text(encoding="utf-8")))
        assert not read & live, path
        read = set(re.findall(r"\bconfig\.([A-Z_0-9]+)", path.read_text(encoding="utf-8")))
        assert read <= live, path

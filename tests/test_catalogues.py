"""The translations are complete, compiled, and have the placeholders of the originals."""

import gettext
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = Path("locale") / "zh_Hans" / "LC_MESSAGES" / "django.po"
_FIELD = re.compile(r'^(?P<field>msgctxt|msgid_plural|msgid|msgstr(?:\[0\])?) |^(?=")')
_PLACEHOLDER = re.compile(r"%\(\w+\)[.\d]*[sdf]|%[sd]|(?<!{){\w+}(?!})|{{ *\w+ *}}")


def _entries(po: Path, *, guesses: bool = False) -> dict[str, str]:
    """Return a catalogue's strings and their translations; guesses (fuzzy ones) must be allowed.

    A string with a context has that before it, as in a compiled catalogue.
    """
    entries: dict[str, str] = {}
    for block in po.read_text(encoding="utf-8").split("\n\n")[1:]:
        fields: dict[str, str] = {}
        field = ""
        for line in block.splitlines():
            if line.startswith("#"):
                assert guesses or "fuzzy" not in line, block
                continue
            match = _FIELD.match(line)
            assert match, line
            field = match["field"] or field
            text = line[line.index('"') + 1 : -1]
            fields[field] = fields.get(field, "") + text.encode().decode("unicode_escape").encode("latin-1").decode()
        if fields:
            context = fields["msgctxt"] + "\x04" if "msgctxt" in fields else ""
            entries[context + fields["msgid"]] = fields.get("msgstr", "") or fields.get("msgstr[0]", "")
    return entries


ENTRIES = _entries(ROOT / CATALOGUE)


def test_every_string_is_translated() -> None:
    assert len(ENTRIES) > 100
    assert [text for text, translation in ENTRIES.items() if not translation.strip()] == []


def test_placeholders_are_those_of_the_original() -> None:
    for text, translation in ENTRIES.items():
        wanted = {name for name in _PLACEHOLDER.findall(text) if not name.startswith("{{")}
        assert wanted == {name for name in _PLACEHOLDER.findall(translation) if not name.startswith("{{")}, text


def test_it_is_compiled() -> None:
    with (ROOT / CATALOGUE).with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for text, translation in ENTRIES.items():
        assert translation in (compiled.gettext(text), compiled.ngettext(text, text, 1)), f"stale: {text}"


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="gettext is not installed")
def test_it_holds_every_string_of_the_sources(tmp_path: Path) -> None:
    hidden = shutil.ignore_patterns(".*", "__pycache__", "tests", "node_modules", "bundled", "*.mo")
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=hidden)
    command = [sys.executable, "-m", "django", "makemessages", "--locale", "zh_Hans", "--no-wrap", "--no-obsolete"]
    environment = {"PATH": str(Path(shutil.which("xgettext") or "").parent), "PYTHONPATH": str(copy)}
    subprocess.run(command, cwd=copy, env=environment, check=True, capture_output=True)
    found = _entries(copy / CATALOGUE, guesses=True)
    assert sorted(found) == sorted(ENTRIES), "run `make messages` and translate what is new"

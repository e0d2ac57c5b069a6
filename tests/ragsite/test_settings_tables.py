"""The README's tables of variables: each is there, with the default that the settings give it.

Staff read the same words on the page of the pipeline's settings.
"""

import ast
import re
from pathlib import Path
from typing import Any

from django.utils import translation

from conversations.web.settings_page import SECTIONS, UNSET, written
from ragsite import fixed_settings, settings

README = Path(settings.__file__ or "").parents[1] / "README.md"
# Defaults that are told in words: nothing is set, or what is taken is found out when the site starts.
IN_WORDS = re.compile(
    "|off|never|generated|kept in the data folder|embedded|in memory|first offered|.*(model|cores|machine).*"
)
# No constants: `.data`, where Ollama listens, and the model of the provider.
COMPUTED = {"RAGSITE_DATA_DIR", "OLLAMA_URL", "EMBEDDING_MODEL"}


def _told() -> dict[str, str]:
    """Return the default that the README tells of each variable."""
    found: dict[str, str] = {}
    for row in re.findall(r"^\| (`[A-Z0-9_]+`.*)\|$", README.read_text(), re.MULTILINE):
        names, default, _meaning = (cell.strip() for cell in row.split("|", 2))
        variables = re.findall(r"`([A-Z0-9_]+)`", names)
        defaults = default.split(", ") if len(variables) > 1 and default else [default] * len(variables)
        found |= dict(zip(variables, defaults, strict=True))
    return found


def _given() -> dict[str, Any]:
    """Return what each variable falls back to where it is unset; None for nothing, or what is no constant."""
    found: dict[str, Any] = {}
    for module in (settings, fixed_settings):
        for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text())):
            if isinstance(node, ast.Call) and re.match(r"env\.\w+$", ast.unparse(node.func)):
                name, default = ast.literal_eval(node.args[0]), node.args[1:2]
                try:
                    value = ast.literal_eval(default[0]) if default else None
                except ValueError:
                    value = None
                found[name] = None if ast.unparse(node.func) in ("env.url", "env.languages") else value
    return found


def _written(value: Any) -> str:
    """Return a default as the README writes it."""
    return "" if value == () else f"`{written(value)}`"


def _meanings(title: str) -> dict[str, str]:
    """Return the rows of a README's table, by their variables."""
    section = README.read_text().split(f"\n### {title}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| (`[A-Z0-9_]+`[^|]*) \|[^|]*\| (.*) \|$", section, re.MULTILINE)
    return {names.replace("`", "").replace(",", ""): meaning for names, meaning in rows}


def test_every_variable_has_its_row() -> None:
    assert set(_told()) == set(_given())


def test_the_defaults_are_those_that_are_told() -> None:
    told, given = _told(), _given()
    wrong = {
        name: (told.get(name, ""), value)
        for name, value in given.items()
        if name not in COMPUTED
        and told.get(name) != _written(value)
        and (value or not IN_WORDS.fullmatch(told.get(name, "")))
    }
    assert wrong == {}


def test_staff_read_the_same_rows_and_words() -> None:
    with translation.override("en"):
        shown = {str(title): {names: str(said) for names, said in rows.items()} for title, rows in SECTIONS.items()}
        unset = {name: str(words) for name, words in UNSET.items()}
    assert shown == {title: _meanings(title) for title in shown}
    assert list(shown) == ["Language model", "Search", "Reranking", "Conversation"]
    told = _told()
    assert unset == {name: told[name] for name in UNSET}
    in_words = {
        name
        for rows in shown.values()
        for names in rows
        for name in names.split()
        if told[name].strip("`") == told[name] != ""
    }
    assert in_words == set(unset)

"""The parsers' words in the catalogue."""

import ast
import re
from pathlib import Path

import pytest
from django.utils.translation import override

from knowledge import error_words

PARSING = Path(error_words.__file__).parent / "parsing"


def test_the_listed_words_are_those_that_the_parsers_use() -> None:
    files = [*PARSING.rglob("*.py"), PARSING.parent / "ingestion" / "ingestion.py"]
    source = "".join(path.read_text() for path in files)
    source = re.sub(r'"\s*\n\s*"', "", source)
    assert [message for message in error_words.MESSAGES if message not in source] == []


def _as_pattern(text: ast.JoinedStr) -> str:
    """Return a message with figures as the catalogue would have it, its figures nameless."""
    return "".join(part.value if isinstance(part, ast.Constant) else "%s" for part in text.values)  # type: ignore[misc]


def _raised() -> list[ast.expr]:
    """Return what stands for the message in each error and notice that a parser makes."""
    trees = [ast.parse(path.read_text()) for path in PARSING.rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    notices = [call.keywords[0].value for call in calls if ast.unparse(call.func) == "Notice"]
    return notices + [call.args[1] for call in calls if ast.unparse(call.func) == "ParseError" and len(call.args) > 1]


def test_all_messages_without_figures_are_listed() -> None:
    used = {text.value for text in _raised() if isinstance(text, ast.Constant)}
    assert [message for message in used if message not in error_words.MESSAGES] == []


def test_all_messages_with_figures_are_listed() -> None:
    raised = _raised()
    used = {_as_pattern(text) for text in raised if isinstance(text, ast.JoinedStr)}
    used -= {"%s is not a parser.", "%s can't be read. Supported: %s."}  # no reader's; two forms that are tried below
    listed = {re.sub(r"%\(\w+\)s", "%s", words) for words in error_words.FIGURED}
    assert used == {words for words in listed if "can't be read. Supported" not in words} - {"a .%s document"}


def test_figures_are_put_into_the_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    named = "The file is named .%(extension)s but its content is %(found)s. Rename or convert it."
    words = {
        named: "%(found)s: .%(extension)s",
        "a text file": "TEXT",
        "a .%(extension)s document": "%(extension)s!",
        "%(kind)s files can't be read. Supported: %(known)s.": "%(known)s, not %(kind)s",
    }
    monkeypatch.setattr(error_words, "gettext", words.__getitem__)
    told = "The file is named .docx but its content is a text file. Rename or convert it."
    assert error_words.translated(told) == "TEXT: .docx"
    assert error_words.translated(told.replace("a text file", "a .xlsx document")) == "xlsx!: .docx"
    assert error_words.translated(".%s files can't be read. Supported: csv, md.") == "csv, md, not .%s"


def test_what_was_found_in_a_file_is_listed() -> None:
    source = (PARSING / "limits.py").read_text()
    named = set(re.findall(r'[^f]"(an? [^"]+|something else)"', source))
    assert named == set(error_words.FOUND)


def test_each_is_translated_and_others_stay() -> None:
    with override("zh-hans"):
        assert all(error_words.translated(message) != message for message in error_words.MESSAGES)
        assert error_words.translated("Line 3 is odd.") == "Line 3 is odd."

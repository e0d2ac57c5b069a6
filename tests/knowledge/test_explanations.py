"""Messages about files: a sentence for each key, in both languages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils.translation import override

from knowledge import explanations
from knowledge.explanations import FOUND, SENTENCES, explain

KNOWLEDGE = Path(explanations.__file__).parent
MADE_BY = {"ParseError", "ParseStopped", "Notice", "_fail"}
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def _made() -> Iterator[tuple[str, set[str]]]:
    """Yield the key and the names of the parameters of each error and notice in the code."""
    for path in KNOWLEDGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in MADE_BY:
                named = {keyword.arg or "**": keyword.value for keyword in call.keywords}
                key = named.pop("key", None) or next(arg for arg in call.args if ast.unparse(arg) != "held")
                if isinstance(key, ast.Constant):
                    params = named.pop("params", ast.Dict([], []))
                    assert isinstance(params, ast.Dict)
                    yield str(key.value), {*named, *(ast.literal_eval(name) for name in params.keys if name)}


def test_each_key_has_a_sentence_with_its_parameters() -> None:
    made = list(_made())
    assert len(made) > 60
    wrong = {key: names for key, names in made if names != set(_PLACEHOLDER.findall(str(SENTENCES.get(key, "%(?)s"))))}
    assert wrong == {}


def test_every_sentence_is_used() -> None:
    assert set(SENTENCES) - {key for key, _ in _made()} == {"worker_lost", "left_out.scans_failed"}
    assert '{"key": "worker_lost", "times": ' in (KNOWLEDGE / "services.py").read_text(encoding="utf-8")
    assert '{"key": "left_out.scans_failed"}' in (KNOWLEDGE / "ingestion" / "ingestion.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_each_key_reads_well_in_both_languages(language: str) -> None:
    with override("en"):
        english = {key: str(words) for key, words in SENTENCES.items()}
    with override(language):
        for key, words in english.items():
            params = dict.fromkeys(_PLACEHOLDER.findall(words), "Ⅻ") | ({"found": "pdf"} if "(found)" in words else {})
            message = explain(key, **params)
            assert "%(" not in message and message.count("Ⅻ") == len(params) - ("found" in params), message
            assert (str(SENTENCES[key]) == words) == (language == "en"), words


def test_numbers_and_names_are_inserted() -> None:
    assert explain("timeout", seconds=3600).startswith("Reading the file took longer than 3,600 seconds.")
    assert "(exit code 3)" in explain("broken.ended", code=3)
    message = "The file is named .docx but its content is %s. Rename or convert it."
    for found, words in (("text", "a text file"), ("xlsx", "a .xlsx document"), ("other_zip", str(FOUND["other_zip"]))):
        assert explain("broken.mislabelled", extension="docx", found=found) == message % words
    with override("zh-hans"):
        assert "PDF" in explain("broken.mislabelled", extension="docx", found="pdf")
        assert "a PDF" not in explain("broken.mislabelled", extension="docx", found="pdf")


def test_types_found_in_files_have_names() -> None:
    source = (KNOWLEDGE / "parsing" / "sandbox" / "identity.py").read_text(encoding="utf-8")
    assert [name for name in FOUND if f'"{name}"' not in source] == ["text"]  # from earlier versions
    signatures = re.findall(r'^    \(.*, "(\w+)"\),$', source, re.M)
    assert len(signatures) > 10 and set(signatures) <= set(FOUND)


def test_unknown_keys_have_a_message_too() -> None:
    assert explain() == ""
    assert explain(text="Line 3 is odd.") == "Line 3 is odd."
    assert explain("timeout", text="The model took too long.") == "The model took too long."
    assert explain("of_tomorrow", size=3) == "The file can't be read (of_tomorrow)."
    assert explain("timeout") == "Reading the file took longer than ? seconds. Split it into smaller files."

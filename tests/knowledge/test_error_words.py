"""The parsers' words in the catalogue."""

import re
from pathlib import Path

from django.utils.translation import override

from knowledge import error_words

PARSING = Path(error_words.__file__).parent / "parsing"


def test_the_listed_words_are_those_that_the_parsers_use() -> None:
    files = [*PARSING.glob("*.py"), PARSING.parent / "ingestion.py"]
    source = "".join(path.read_text() for path in files)
    source = re.sub(r'"\s*\n\s*"', "", source)
    assert [message for message in error_words.MESSAGES if message not in source] == []


def test_each_is_translated_and_others_stay() -> None:
    with override("zh-hans"):
        assert all(error_words.translated(message) != message for message in error_words.MESSAGES)
        assert error_words.translated("Line 3 is odd.") == "Line 3 is odd."

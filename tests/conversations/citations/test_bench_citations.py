"""Tests of the benchmark of the citation check on labelled pairs."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from conversations.citations.verifiers.rules import Rules
from tests.benchmarks.conversations.citations import Row, Total, measure, read_pairs, total

PASSAGE = "The TL-SE2109 has nine ports. Paid leave is not carried over."
PAIRS = [
    {"sentence": "The TL-SE2109 has nine ports.", "label": "true"},
    {"sentence": "The TL-SE2109 has nine ports and eight lights, as TL-SE2110.", "label": "true"},
    {"sentence": "The TL-SE2109 has twelve ports.", "label": "number"},
    {"sentence": "Paid leave is carried over.", "label": "negated"},
    {"sentence": "It has ports, nine of them.", "label": "number"},
]
LINES = [json.dumps({**pair, "passage": PASSAGE, "language": "en"}) for pair in PAIRS]


async def test_only_false_sentences_should_be_doubted() -> None:
    rows = await measure(read_pairs([*LINES, ""]), Rules())
    assert rows == [Row("true", "en", 1, 2), Row("number", "en", 1, 2), Row("negated", "en", 1, 1)]
    assert total(rows) == Total(2 / 3, 2 / 3, 1 / 2)
    assert total(rows[:1]) == Total(None, None, 1 / 2)


def test_table_is_printed_for_each_file(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(LINES), encoding="utf-8")
    out = StringIO()
    call_command("bench_citations", str(file), str(file), stdout=out)
    assert out.getvalue().count("| pairs.jsonl | en | all |") == 2
    for row in (
        "| true | 1/2 | 1/2 |",
        "| precision | 0.667 | 0.667 |",
        "| recall | 0.667 | 0.667 |",
        "| true sentences doubted | 0.500 | 0.500 |",
    ):
        assert row in out.getvalue()


def test_other_verifiers_can_be_measured(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(LINES), encoding="utf-8")
    out, same = StringIO(), StringIO()
    call_command("bench_citations", str(file), stdout=out)
    call_command("bench_citations", str(file), verifier="conversations.citations.verifiers.rules.Rules", stdout=same)
    assert out.getvalue() == same.getvalue()
    with pytest.raises(CommandError, match="nowhere"):
        call_command("bench_citations", str(file), verifier="nowhere.Judge")


@pytest.mark.parametrize("text", ["not JSON", '{"sentence": "It has no label."}', "[1]"])
def test_invalid_file_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=r"other\.jsonl"):
        call_command("bench_citations", str(file))

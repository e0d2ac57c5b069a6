"""JSON and JSON lines: records become rows or passages."""

import json
from pathlib import Path
from typing import Any

import pytest

from knowledge.parsing.errors import ParseError
from tests.knowledge.reading import message_of, outline, read_bytes, refused


@pytest.mark.parametrize(
    ("name", "data", "lines"),
    [
        ("a.json", [{"part": "泵", "cost": 12, "sold": True}, {"part": "valve", "cost": None}],
         ["table: part,cost,sold | 泵,12,true | valve,,"]),
        ("a.json", {"name": "Pump", "tags": ["blue", 3], "none": None, "size": {"h": 1.5, "w": 2}},
         ["name: Pump\ntags: blue, 3", "# size", "h: 1.5\nw: 2"]),
        ("a.json", {"parts": [{"a": 1}, {"a": 2}]}, ["# parts", "table: a | 1 | 2"]),
        ("a.json", [[1, "x"], [2, "y", "z"]], ["table:  | 1,x, | 2,y,z"]),
        ("a.json", ["one", ["two", "three"], {"four": 5}], ["- one", "- two, three", "four: 5"]),
        ("a.json", "just words", ["just words"]),
        ("a.json", [{"title": "Oil", "text": "long " * 80, "at": {"page": 3}}],
         ["# Oil", "title: Oil\ntext: " + ("long " * 80).strip(), "## at", "page: 3"]),
    ],
)  # fmt: skip
def test_json(tmp_path: Path, name: str, data: Any, lines: list[str]) -> None:
    assert outline(read_bytes(tmp_path, name, json.dumps(data))) == lines


def test_a_number_with_too_many_digits_for_python_is_read_as_written(tmp_path: Path) -> None:
    modulus = "9" * 5000
    assert outline(read_bytes(tmp_path, "a.json", f'{{"n": {modulus}}}')) == [f"n: {modulus}"]
    assert outline(read_bytes(tmp_path, "a.jsonl", f'["n", -{modulus}]')) == [f"table:  | n,-{modulus}"]


def test_json_lines_also_under_the_name_of_json(tmp_path: Path) -> None:
    text = '{"q": "Which pump?", "a": "blue"}\n\n{"q": "Which oil?", "a": "none"}\n'
    for name in ("a.jsonl", "a.ndjson", "a.json"):
        assert outline(read_bytes(tmp_path, name, text)) == ["table: q,a | Which pump?,blue | Which oil?,none"]


def test_records_without_a_name_are_numbered_and_deep_ones_shown_as_they_are(tmp_path: Path) -> None:
    deep: Any = "end"
    for _ in range(8):
        deep = {"in": deep}
    found = outline(read_bytes(tmp_path, "a.json", json.dumps([{"x": deep}, {"x": deep}])))
    assert found[0] == "# #1"
    assert sum(line.startswith("code: {") for line in found) == 2 and "end" in found[-1]


def test_invalid_json_is_reported_with_its_position(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        read_bytes(tmp_path, "a.json", '{"a": 1,\n "b": }')
    assert message_of(caught.value) == "The file is not valid JSON: line 2, column 7 can't be read."
    with pytest.raises(ParseError, match="'line': 2"):
        read_bytes(tmp_path, "a.jsonl", '{"a": 1}\n{"a": \n')


def test_bounds(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(list(range(11))))
    assert refused(tmp_path / "a.json", max_rows=10) == "too_many_rows"
    (tmp_path / "b.json").write_text("{}")
    assert refused(tmp_path / "b.json") == "no_text"


def test_tab_separated_values(tmp_path: Path) -> None:
    for name in ("a.tsv", "a.tab"):
        found = read_bytes(tmp_path, name, "part, or none\tcolour\npump, large\tblue\nvalve\tred\n")
        assert outline(found) == ["table: part, or none,colour | pump, large,blue | valve,red"]

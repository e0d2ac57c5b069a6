"""JSON in the replies of language models."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm.stream.json_reply import line, number, objects, truth, words

KNOWN = ("keep", "reason")


@pytest.mark.parametrize(
    "text",
    [
        '{"keep": true, "reason": "ok"}',
        '```json\n{"keep": true, "reason": "ok"}\n```',
        'Sure, here it is:\n\n{"keep": true, "reason": "ok"}\n\nTell me {if} you need more.',
        '{"example": 1} {"keep": true, "reason": "ok"}',
        'Use {braces} so: {"keep": true, "reason": "ok"}',
        '[{"keep": true, "reason": "ok"}]',
        '{"result": {"keep": true, "reason": "ok"}}',
        '<tool_call>{"name": "judge", "arguments": {"keep": true, "reason": "ok"}}</tool_call>',
        '{"keep": true, "reason": "ok",}',
        '{"keep": true "reason": "ok"}',
        "{'keep': True, 'reason': 'ok'}",
        '{keep: true, reason: "ok"}',
        "{“keep”: true, “reason”: “ok”}",
        '{"keep": true, // yes\n "reason": "ok"}',
        '{"keep": true, "reason": "ok"',
        '{"keep": true, "reason": "ok',
        '```json\n{"keep": true, "reason": "ok"',
        '\ufeff{"keep": true, "reason": "ok"}}}}',
    ],
)
def test_however_it_is_written(text: str) -> None:
    assert objects(text, *KNOWN) == [{"keep": True, "reason": "ok"}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"keep": true, "reason": "braces } { inside \\" and ]"}', 'braces } { inside " and ]'),
        ('{"keep": true, "reason": "he said "no" twice"}', 'he said "no" twice'),
        ('{"keep": true, "reason": "two\nlines"}', "two\nlines"),
        ('{"keep": true, "reason": "端口“隔离”"}', "端口“隔离”"),
    ],
)
def test_texts_stay_whole(text: str, reason: str) -> None:
    assert objects(text, *KNOWN)[0]["reason"] == reason


def test_two_objects_come_in_their_order() -> None:
    assert [item["keep"] for item in objects('{"keep": true}\nor\n{"keep": false}', *KNOWN)] == [True, False]


@pytest.mark.parametrize(
    "text",
    ["", "I am sorry, I can't do that.", "抱歉，我不能。", "[]", "{}", "null", '{"other": 1}', "{", "}", "keep: true",
     "[" * 50_000, '{"keep":' * 5000, '{"' * 5000, "{'" * 5000],
)  # fmt: skip
def test_nothing_to_read(text: str) -> None:
    assert not [item for item in objects(text, *KNOWN) if truth(item.get("keep")) is not None]


def test_what_is_deep_inside_is_not_looked_for() -> None:
    assert objects('{"a":' * 300 + '{"keep": true}' + "}" * 300, *KNOWN) == []


@given(st.text(alphabet="{}[]\",:' \\keptru10\n/“”", max_size=120))
def test_any_text_gives_objects_or_none(text: str) -> None:
    assert all(isinstance(item, dict) for item in objects(text, *KNOWN))


@given(
    st.dictionaries(st.sampled_from(KNOWN), st.text(max_size=30), min_size=1), st.text(alphabet="ab.\n ", max_size=9)
)
def test_what_is_json_comes_back_unchanged(value: dict[str, str], prose: str) -> None:
    assert objects(f"{prose}{json.dumps(value)}{prose}", *KNOWN) == [value]


@pytest.mark.parametrize(
    ("value", "flag"),
    [(True, True), ("Yes", True), (" true ", True), (1, True), ("是", True), (False, False), ("no", False), (0, False),
     ("否", False), (None, None), ("", None), ("null", None), ("perhaps", None), (7, None), (math.nan, None),
     ([], None), ({}, None)],
)  # fmt: skip
def test_flags(value: Any, flag: bool | None) -> None:
    assert truth(value) is flag


@pytest.mark.parametrize(
    ("value", "found"),
    [(7, 7), (0.5, 0.5), ("7", 7), ("7/10", 7), ("70%", 70), (" 0.9 ", 0.9), ("high", None), (math.nan, None),
     (math.inf, None), (10**400, None), (True, None), (None, None), ([1], None), ("seven", None)],
)  # fmt: skip
def test_numbers(value: Any, found: float | None) -> None:
    assert number(value) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [(["a", " b  c ", "a", ""], ["a", "b c"]), ("a, b；c、a", ["a", "b", "c"]), ([1, None, {}, "x"], ["1", "x"]),
     (None, []), ({"a": 1}, []), (7, [])],
)  # fmt: skip
def test_lists_of_words(value: Any, found: list[str]) -> None:
    assert words(value) == found


def test_lines() -> None:
    assert line(" one\n two ") == "one two" and line(["one"]) == line(None) == ""

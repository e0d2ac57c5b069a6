"""Replies that say which of several documents is meant."""

import pytest

from conversations.events import Choice
from conversations.pipeline.understanding.choices import chosen_by

REPORTS = [Choice(document_id=year, name=f"Annual report {year}.md") for year in (2023, 2022, 2021)]
OTHERS = [
    Choice(document_id=1, name="员工手册"),
    Choice(document_id=2, name="安全手册 2022"),
    Choice(document_id=3, name="Staff handbook"),
]


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("2022", 2022),
        ("The 2022 one", 2022),
        ("I mean the annual report 2021, please", 2021),
        ("the first", 2023),
        ("2", 2022),
        ("Number 3.", 2021),
        ("the last one", 2021),
        ("第二个", 2022),
        ("最后一份", 2021),
        ("2022年的那份。", 2022),
        # Several, none, or more than a choice.
        ("the annual report", None),
        ("2020", None),
        ("5", None),
        ("all", None),
        ("What was the profit in 2022?", None),
        ("thank you", None),
        ("年度报告", None),
    ],
)
def test_a_reply_that_names_one_document_chooses_it(reply: str, chosen: int | None) -> None:
    assert chosen_by(reply, REPORTS) == chosen


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("员工手册", 1),
        ("我要员工手册", 1),
        ("員工手冊", 1),
        ("安全的那个", 2),
        ("2022年的", 2),
        ("staff handbook", 3),
        ("手册", None),
        ("员工手册里年假几天", None),
    ],
)
def test_names_are_read_in_both_languages(reply: str, chosen: int | None) -> None:
    assert chosen_by(reply, OTHERS) == chosen


def test_without_an_offer_nothing_is_chosen() -> None:
    assert chosen_by("2022", []) is None

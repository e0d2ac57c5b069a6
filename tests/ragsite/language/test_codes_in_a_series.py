"""Codes that sources lack although they have others of the series."""

import pytest

from ragsite.language.facts import code_in_a_series

SOURCES = [
    "Model | LS-2408 | LS-2424 | LS-2448P",
    "Forms F-10 to F-15 are for installers, rooms R101至R120 for guests.",
    "E01 | E02 | E03",
    "IPv4 only, Windows 10 or later; published in 2023.",
]


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("What does the LS-2412 cost?", "LS-2412"),
        ("E07 是什么故障？", "E07"),
        ("Who needs form F-16?", "F-16"),
        ("Does it support IPv6?", "IPv6"),
        ("R130 房在几楼？", "R130"),
    ],
)
def test_a_code_that_only_others_of_its_series_resemble_is_missing(question: str, code: str) -> None:
    assert code_in_a_series(question, SOURCES) == code


@pytest.mark.parametrize(
    "question",
    [
        "What does the LS-2424 cost?",
        "ls2424 price",  # another spelling
        "LS-2408P 多少钱？",  # a longer form
        "LS-2448 多少钱？",  # a shorter one
        "Who needs form F-12?",  # within a range
        "R115 房在几楼？",
        "What is the RX-200?",  # no series: nothing is known about its codes
        "What does error E100 mean?",  # another length
        "Does it run on Windows 11?",
        "What was published in 2024?",
    ],
)
def test_other_codes_may_be_known(question: str) -> None:
    assert code_in_a_series(question, SOURCES) == ""

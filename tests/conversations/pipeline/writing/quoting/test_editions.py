"""Documents that are versions of one thing: their order, their names, and what is not a version."""

import pytest

from conversations.pipeline.writing.quoting.editions import Beginning, asked_for, concerns_versions, editions
from retrieval.search import Hit


def hit(document_id: int) -> Hit:
    return Hit(document_id, document_id, 1, "", "text", "a.md", "", None, 1.0, [])


def labels(*beginnings: Beginning) -> list[str]:
    """Return the labels of the documents, the oldest first."""
    found = editions([hit(number) for number in range(len(beginnings))], dict(enumerate(beginnings)))
    return [edition.label for edition in sorted(found.values(), key=lambda edition: edition.order)]


@pytest.mark.parametrize(
    ("newer", "older", "expected"),
    [
        (
            Beginning("Leave policy 2025", "a.md", ""),
            Beginning("Leave policy 2023", "b.md", ""),
            ["Leave policy 2023", "Leave policy 2025"],
        ),
        (
            Beginning("休假办法（2025年）", "a.md", ""),
            Beginning("休假办法（2023年）", "b.md", ""),
            ["休假办法（2023年）", "休假办法（2025年）"],
        ),
        (
            Beginning("Prices", "a.md", "In force since 1 May 2024. It replaces the list of 2021."),
            Beginning("Prices", "b.md", "In force since 3 June 2021."),
            ["Prices (2021)", "Prices (2024)"],
        ),
        (
            Beginning("章程", "章程-新.md", "自2024年2月1日起施行，2019年的章程同时废止。"),
            Beginning("章程", "章程-旧.md", "自2019年7月1日起施行。"),
            ["章程 (2019)", "章程 (2024)"],
        ),
        (
            Beginning("員工規章", "a.md", "自2024年2月1日起施行，2019年的規章同時廢止。"),
            Beginning("员工规章", "b.md", "2019年7月1日发布。"),
            ["员工规章 (2019)", "員工規章 (2024)"],
        ),
        (
            Beginning("", "rules v2.1.txt", "Dogs are allowed."),
            Beginning("", "rules v2.0.txt", "Dogs are not allowed."),
            ["rules v2.0.txt (V2.0)", "rules v2.1.txt (V2.1)"],
        ),
        (
            Beginning("Menu", "a.md", "", ("2024-03-01",)),
            Beginning("Menu", "b.md", "", ("2024-01-01",)),
            ["Menu (2024)", "Menu (2024)"],
        ),
    ],
)
def test_versions_are_ordered_by_their_dates_and_named_with_them(
    newer: Beginning, older: Beginning, expected: list[str]
) -> None:
    assert labels(newer, older) == labels(older, newer) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Beginning("Leave policy 2025", "a.md", ""), Beginning("Travel policy 2023", "b.md", "")),
        (Beginning("Leave policy", "a.md", ""), Beginning("Leave policy", "b.md", "")),  # without dates
        (Beginning("2025", "2025.md", ""), Beginning("2023", "2023.md", "")),  # without names
    ],
)
def test_other_documents_are_no_versions(one: Beginning, other: Beginning) -> None:
    assert labels(one, other) == []


def test_a_question_may_name_a_version() -> None:
    beginnings = {number: Beginning(f"Rules {year}", "", "") for number, year in enumerate((2021, 2023))}
    found = editions([hit(0), hit(1)], beginnings)
    assert asked_for("What did the rules of 2021 allow?", found) == {0}
    assert asked_for("What do the rules allow?", found) == set()
    assert asked_for("How do 2021 and 2023 differ?", found) == set()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And in 2023?", True),
        ("And in version 2?", True),
        ("And in the other years?", True),
        ("How did that change?", True),
        ("2023年呢？", True),
        ("其他年度呢？", True),
        ("与去年相比呢？", True),
        ("And the profit?", False),
        ("Who signed it?", False),
        ("那净利润呢？", False),
    ],
)
def test_a_question_may_be_about_other_versions(question: str, expected: bool) -> None:
    assert concerns_versions(question) is expected

"""The location of a passage in the units of its format."""

import pytest
from django.utils.translation import override

from knowledge.locations import place, place_in_line


@pytest.mark.parametrize(
    ("filename", "page", "heading", "said"),
    [
        ("handbook.pdf", 3, "Leave", "p. 3"),
        ("Handbook", 3, "", "p. 3"),
        ("Talk.PPTX", 3, "Aims", "slide 3"),
        ("prices.xlsx", 1, "", "sheet 1"),
        ("prices.xlsx", 1, "Switches", ""),
        ("prices.xls", 1, "", "sheet 1"),
        ("prices.ods", 1, "Switches", ""),
        ("talk.odp", 3, "Aims", "slide 3"),
        ("book.epub", 3, "Oil", "chapter 3"),
        ("notes.md", None, "", ""),
    ],
)
def test_a_location_is_a_page_a_slide_or_a_sheet(filename: str, page: int | None, heading: str, said: str) -> None:
    with override("en"):
        assert place(filename, page, heading) == said


def test_a_sheet_is_named_if_the_heading_is_not_shown() -> None:
    with override("en"):
        assert place_in_line("prices.xlsx", 2, "Budget › Item") == "sheet Budget"
        assert place_in_line("prices.xlsx", 2, "") == "sheet 2"
        assert place_in_line("book.epub", 2, "Oil") == "chapter 2"
        assert place_in_line("notes.md", None, "Oil") == ""

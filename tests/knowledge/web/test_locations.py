"""Where a passage stands is said as its format counts."""

import pytest
from django.utils.translation import override

from knowledge.web.locations import place


@pytest.mark.parametrize(
    ("filename", "page", "heading", "said"),
    [
        ("handbook.pdf", 3, "Leave", "p. 3"),
        ("Handbook", 3, "", "p. 3"),
        ("Talk.PPTX", 3, "Aims", "slide 3"),
        ("prices.xlsx", 1, "", "sheet 1"),
        ("prices.xlsx", 1, "Switches", ""),
        ("notes.md", None, "", ""),
    ],
)
def test_a_place_is_a_page_a_slide_or_a_sheet(filename: str, page: int | None, heading: str, said: str) -> None:
    with override("en"):
        assert place(filename, page, heading) == said

"""A model's notes, by section."""

import pytest

from conversations.pipeline.whole_documents.notes import read_notes
from conversations.pipeline.whole_documents.sections import Passage, Section

SECTIONS = [
    Section((Passage(10, 1, 0, "The tower stands on the quay."),), ("A",)),
    Section((Passage(20, 1, 1, "Dogs stay below the stairs."),), ("B",)),
]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It stands on the quay. [1]\nDogs stay below. [2]", {10: "It stands on the quay.", 20: "Dogs stay below."}),
        ("- One [1]\n- Two [1]", {10: "One\nTwo"}),
        ("1. Two 【2】\n2) One ［1］", {10: "One", 20: "Two"}),
        ("Both [1, 2]", {10: "Both"}),
        ("# Notes\n\nDogs are not allowed up the stairs.", {20: "Dogs are not allowed up the stairs."}),
        ("Dogs [2]\nThey bark.", {20: "Dogs\nThey bark."}),
        ("Beyond [7]", {10: "Beyond"}),
        ("NONE", {}),
        ("None.", {}),
        ("无", {}),
        ("- \n---\n| --- |", {}),
        ("Dogs [2]\nNONE", {20: "Dogs"}),
    ],
)
def test_lines_are_assigned_to_their_sections(reply: str, expected: dict[int, str]) -> None:
    assert read_notes(reply, SECTIONS) == expected

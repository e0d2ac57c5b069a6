"""Tags and fields: valid values, and the documents that a filter finds."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from knowledge.labels import LabelError, LabelFilter, clean_metadata, clean_tags
from knowledge.models import Document
from tests import factories


def test_tags_are_deduplicated_ignoring_case() -> None:
    assert clean_tags([" Invoice ", "invoice", "", "2026  draft"]) == ["Invoice", "2026 draft"]


@pytest.mark.parametrize("tag", [7, "x" * 61, "a,b", "a\x00b"])
def test_invalid_tags_are_refused(tag: Any) -> None:
    with pytest.raises(LabelError):
        clean_tags([tag])


@pytest.mark.parametrize(
    "fields",
    [
        [], {"": 1}, {"a": None}, {"a": {}}, {"a": " "}, {"a": "x" * 501}, {"x" * 61: 1},
        {"a": float("inf")}, {"a": float("nan")}, {"a": 10**400}, {"a": -(10**400)},
    ],
)  # fmt: skip
def test_invalid_fields_are_refused(fields: Any) -> None:
    with pytest.raises(LabelError):
        clean_metadata(fields)


@pytest.mark.parametrize(
    ("tags", "metadata", "found"),
    [
        (["red"], None, ["a", "c"]),
        (["red", "blue"], None, ["a", "b", "c"]),
        ([], {"year": 2025}, ["a"]),
        ([], {"year": {"gte": 2025, "lt": 2027}}, ["a", "b"]),
        ([], {"signed": {"gt": "2026-01-01"}}, ["c"]),
        ([], {"final": True}, ["b"]),
        ([], {"year": "2025"}, []),
        ([], {'a "quoted" 名': "值"}, ["c"]),
        (["red"], {"year": {"gte": 2020}}, ["a"]),
    ],
)
def test_a_filter_finds_by_tags_and_by_fields(owner: User, tags: list[str], metadata: Any, found: list[str]) -> None:
    base = factories.make_knowledge_base(owner)
    factories.make_document(base, "a", tags=["red"], metadata={"year": 2025})
    factories.make_document(base, "b", tags=["blue"], metadata={"year": 2026, "final": True})
    factories.make_document(base, "c", tags=["red", "x"], metadata={"signed": "2026-02-03", 'a "quoted" 名': "值"})
    narrowed = Document.objects.filter(LabelFilter.read(tags, metadata).condition)
    assert sorted(narrowed.values_list("original_filename", flat=True)) == found

"""Topics of documents: which headings are suggested, and as what question."""

import pytest
from django.contrib.auth.models import User

from conversations.rendering.topics import as_question, suggested_topics
from knowledge.models import Document
from tests import factories

pytestmark = pytest.mark.django_db


def about(words: str, times: int = 3) -> str:
    """Return a text about some words."""
    return " ".join([f"This part of the handbook for the house explains {words} at some length."] * times)


def suggested(count: int = 4) -> list[str]:
    return suggested_topics(Document.objects.all(), count)


def test_what_the_document_says_most_about_comes_first(owner: User) -> None:
    document = factories.make_document(factories.make_knowledge_base(owner))
    texts = {
        "Ann Larsen": "Department of Lamps, University of the North, 12 Station Road. She writes about lighthouses.",
        "Contains links": about("the tower and its stairs"),
        "Working hours": about("working hours, which contains links", 2),
        "Lamp oil": about("lamp oil", 4),
        "See also": about("see also"),
    }
    for ordinal, (heading, text) in enumerate(texts.items()):
        factories.make_chunk(document, text, heading_path=["Handbook", heading], ordinal=ordinal)
    factories.make_chunk(document, about("lamp oil"), heading_path=["Handbook", "Stock"], ordinal=9)
    assert suggested() == ["Lamp oil", "Working hours"]


def test_sections_inside_a_passage_are_topics_too(owner: User) -> None:
    document = factories.make_document(factories.make_knowledge_base(owner))
    inner = f"{about('the post')}\n#### Sending a parcel\n{about('sending a parcel')}"
    factories.make_chunk(document, inner, heading_path=["Post of the house"])
    assert suggested() == ["Sending a parcel"]


def test_a_short_document_is_named_by_its_title_and_a_long_one_by_its_sections(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    for title, heading, times in (("Filling a lamp", "Procedure", 2), ("The lamp book", "Cleaning a lamp", 80)):
        document = factories.make_document(base, title=title)
        topic = title if times == 2 else heading
        factories.make_chunk(document, about(topic.lower(), times), heading_path=[title, heading])
    assert suggested() == ["Cleaning a lamp", "Filling a lamp"]


def test_bases_take_turns(owner: User) -> None:
    for name, headings in {"Rules": ("Paid leave", "Travel costs", "Sick pay"), "Lamps": ("Lamp oil", "Wicks")}.items():
        document = factories.make_document(factories.make_knowledge_base(owner, name))
        for ordinal, heading in enumerate(headings):
            text = about(heading.lower(), 9 - ordinal)
            factories.make_chunk(document, text, heading_path=["Handbook", heading], ordinal=ordinal)
    assert suggested(3) == ["Lamp oil", "Paid leave", "Wicks"]


@pytest.mark.parametrize(
    "heading",
    ["1. Introduction", "Abstract", "目录", "第一章 概述", "3.2", "2024-11-03", "Table of Contents", "IV.", "Synopsis",
     "Costs ........ 12", "The lamp must be filled before it is lit.", "灯必须先装满油，然后才能点燃。",
     "What we did, and why", "语法："],
)  # fmt: skip
def test_generic_headings_are_not_suggested(owner: User, heading: str) -> None:
    document = factories.make_document(factories.make_knowledge_base(owner))
    factories.make_chunk(document, about(heading), heading_path=["Handbook", heading])
    factories.make_chunk(document, about("lamp oil"), heading_path=["Handbook", "Chapter 3: Lamp oil"], ordinal=1)
    assert suggested() == ["Lamp oil"]


@pytest.mark.parametrize(
    ("topic", "question"),
    [
        ("Working hours", "Tell me about working hours."),
        ("Working Hours", "Tell me about Working Hours."),
        ("CREATE POLICY", "Tell me about CREATE POLICY."),
        ("How to fill a lamp", "How do I fill a lamp?"),
        ("Is there a lamp?", "Is there a lamp?"),
        ("年假", "介绍一下年假。"),
        ("怎么请假？", "怎么请假？"),
    ],
)
def test_a_topic_is_worded_as_a_person_would_ask(topic: str, question: str) -> None:
    assert as_question(topic) == question

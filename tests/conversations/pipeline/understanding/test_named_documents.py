"""Documents that a question names as its source."""

import pytest
from django.contrib.auth.models import User

from conversations.pipeline.state import Request
from conversations.pipeline.understanding.named_documents import Titled, documents_named, names_a_source
from conversations.pipeline.understanding.scope import searchable
from tests.factories import make_document, make_knowledge_base

DOCUMENTS = [
    Titled(1, "Annual report 2021"),
    Titled(2, "Annual report 2022"),
    Titled(3, "LS-2400_Switch_Handbook.pdf"),
    Titled(4, "员工手册（2024版）.md"),
    Titled(5, "2022年度报告.docx"),
    Titled(6, "2023年度报告.docx"),
    Titled(7, "Price list 价格表.xlsx"),
]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What was the revenue in the 2022 annual report?", [2]),
        ("In the report of 2021, what was the revenue?", [1]),
        ("What does the switch handbook say about fans?", [3]),
        ("Summarise the handbook", [3]),
        ("According to our price list, what does a fan cost?", [7]),
        ("2022年度报告中营收是多少？", [5]),
        ("员工手册里年假几天", [4]),
        ("請問員工手冊裏年假幾天", [4]),
        ("根据手册，年假几天", [4]),
        ("《年度报告》里营收是多少", [5, 6]),
    ],
)
def test_a_part_of_a_title_names_a_document(question: str, named: list[int]) -> None:
    assert names_a_source(question) and documents_named(question, DOCUMENTS) == named


@pytest.mark.parametrize(
    "question",
    [
        "How do I export the annual report?",
        "How does the switch handbook get printed?",
        "How many ports does the switch have?",
        "What was the revenue in the 2019 annual report?",
        "In the maintenance contract, who pays?",
        "规定时间内要交报告吗",
        "租房合同里押金是多少",
    ],
)
def test_other_questions_name_none(question: str) -> None:
    assert documents_named(question, DOCUMENTS) == []


def test_a_name_that_fits_many_documents_names_none() -> None:
    assert documents_named("What is in the report?", [Titled(number, f"Report {number}") for number in range(6)]) == []


@pytest.mark.django_db
def test_only_the_named_document_is_searched_unless_others_are_selected() -> None:
    owner = User.objects.create_user("owner")
    base = make_knowledge_base(owner)
    old, new = (make_document(base, f"Annual report {year}.md", status="ready") for year in (2021, 2022))
    question = "What was the revenue in the 2022 annual report?"
    assert searchable(Request(owner.pk, None, question)).document_ids == (new.pk,)
    assert searchable(Request(owner.pk, None, "What was the revenue?")).document_ids == ()
    selected = Request(owner.pk, None, question, asked_document_ids=(old.pk,))
    assert searchable(selected).document_ids == (old.pk,)

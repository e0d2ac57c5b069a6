"""Documents that a question names as its source."""

import pytest
from django.contrib.auth.models import User

from conversations.pipeline.state import Request
from conversations.pipeline.understanding.named_documents import Named, Titled, documents_named, names_a_source
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
        ("Summarise the annual report 2022", [2]),
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
    assert names_a_source(question) and list(documents_named(question, DOCUMENTS).document_ids) == named


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
    assert documents_named(question, DOCUMENTS) == Named()


def test_a_name_that_fits_many_documents_names_none() -> None:
    reports = [Titled(number, f"Report {number}") for number in range(6)]
    assert documents_named("What is in the report?", reports) == Named()


SHELF = [
    Titled(1, "Annual report", "Annual report 2021.md"),
    Titled(2, "Annual report", "Annual report 2022.md"),
    Titled(3, "Staff handbook"),
    Titled(4, "Safety handbook"),
    Titled(5, "Staff handbook for contractors"),
    Titled(6, "Travel policy 2022"),
    Titled(7, "Travel policy 2024"),
    Titled(8, "华东区年度报告（2022）"),
    Titled(9, "华东区年度报告（2023）"),
    Titled(10, "租赁合同（一号楼）"),
    Titled(11, "租赁合同（二号楼）"),
    Titled(12, "差旅制度2021版"),
    Titled(13, "差旅制度2023版"),
    Titled(14, "Minutes of 3 May"),
    Titled(15, "Minutes of 7 June"),
]


@pytest.mark.parametrize(
    ("question", "named", "one_is_meant"),
    [
        ("What was the revenue in the annual report?", (1, 2), True),
        ("Summarise the handbook", (3, 4, 5), True),
        ("Who pays according to the 年度报告?", (), False),
        ("年度报告里营收是多少", (8, 9), True),
        ("《年度报告》中的营收是多少？", (8, 9), True),
        ("根据租赁合同，押金是多少？", (10, 11), True),
        ("What was decided in the minutes?", (14, 15), True),
        # The whole name of one of them.
        ("What does the staff handbook say about leave?", (3,), False),
        # The newest.
        ("What was the revenue in the latest annual report?", (2,), False),
        ("最新的年度报告里营收是多少", (9,), False),
        # Versions of one thing, of which the newer one is in force.
        ("What does the travel policy say about trains?", (6, 7), False),
        ("差旅制度里火车票怎么报销", (12, 13), False),
        # Several at once.
        ("What do the handbooks say about leave?", (3, 4, 5), False),
        ("What is in the annual reports?", (1, 2), False),
        ("In which year was revenue highest, according to the annual report?", (1, 2), False),
        ("How does revenue differ in the annual report?", (1, 2), False),
        ("两份租赁合同中的押金有什么区别", (10, 11), False),
        ("哪份租赁合同里押金更高", (10, 11), False),
    ],
)
def test_which_of_several_fitting_documents_is_meant_may_be_open(
    question: str, named: tuple[int, ...], one_is_meant: bool
) -> None:
    found = documents_named(question, SHELF)
    assert (found.document_ids, found.one_is_meant) == (named, one_is_meant)


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What was the revenue in the latest annual report, and the profit?", "What was the revenue, and the profit?"),
        ("In the report of 2021, what was the revenue?", "What was the revenue?"),
        ("According to our travel policy 2022, who pays?", "Who pays?"),
        ("最新的年度报告里营收是多少？", "营收是多少？"),
        ("《年度报告》里的营收是多少？", "营收是多少？"),
        ("根据租赁合同，押金是多少？", "押金是多少？"),
        # What it is asked for is no part of its name.
        ("What does the staff handbook say about leave?", "What does the staff handbook say about leave?"),
        ("What is in the staff handbook?", "What is in the staff handbook?"),
    ],
)
def test_the_name_can_be_left_out_of_the_question(question: str, rest: str) -> None:
    assert documents_named(question, SHELF).without(question) == rest


def test_rules_in_general_are_no_document() -> None:
    shelf = [Titled(1, "请假规定"), Titled(2, "考勤规定")]
    assert not documents_named("按规定年假有几天", shelf).one_is_meant


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

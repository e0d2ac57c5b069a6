"""Questions about whole documents."""

from pathlib import Path

import pytest

from conversations.pipeline.whole_documents.requests import WholeRequest, may_want_whole, names_in, whole_request

# Written before the rules, in two halves. Rules developed on the first half recognised 33 of 37 requests in the second,
# which had been held out, and none of 75 other questions; later fixes were made with the second half in view.
SENTENCES = [
    tuple(line.split("\t"))
    for name in ("sentences", "sentences_held")
    for line in Path(__file__).with_name(f"{name}.tsv").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("row", SENTENCES, ids=lambda row: row[1])
def test_requests_are_distinguished_from_other_questions(row: tuple[str, ...]) -> None:
    kind, question, *names = row
    called = names[0].split(";") if names else []
    found = whole_request(question, called)
    assert (found.kind if found else "none") == kind
    if found is not None:
        assert may_want_whole(question)
        assert (found.means == "names") == bool(called)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("List all error codes.", "error codes"),
        ("Give me a complete list of the fees in this contract.", "fees"),
        ("请列出文档中的全部联系人", "联系人"),
        ("把这份合同里所有的日期都列出来", "日期"),
    ],
)
def test_a_list_has_a_subject(question: str, subject: str) -> None:
    found = whole_request(question)
    assert found is not None and (found.kind, found.subject) == ("list", subject)


def test_a_subject_may_have_the_name_of_a_document() -> None:
    assert whole_request("List all error codes.", ["error codes"]) == WholeRequest("list", "nothing", "error codes")


@pytest.mark.parametrize(
    ("question", "names", "found"),
    [
        ("Compare B 2 and A 1.", ["A 1", "B 2", "C"], ["B 2", "A 1"]),
        ("Summarise Leave 2025", ["Leave", "Leave 2025"], ["Leave 2025"]),
        ("Summarise leave", ["Leave"], []),
        ("Summarise “leave”", ["Leave"], ["Leave"]),
        ("Summarise abc.pdfs", ["abc.pdf"], []),
        ("从a.docx到b.docx改了什么", ["a.docx", "b.docx", "a", "b"], ["a.docx", "b.docx"]),
        ("总结《制度》", ["制度"], ["制度"]),
        ("总结制度", ["制度"], []),
    ],
)
def test_names_in_a_question(question: str, names: list[str], found: list[str]) -> None:
    assert names_in(question, names) == found


def test_few_questions_are_looked_up() -> None:
    others = [question for kind, question, *_names in SENTENCES if kind == "none"]
    assert sum(map(may_want_whole, others)) < 0.2 * len(others)


@pytest.mark.parametrize(
    "text",
    [
        "please " * 57,
        "请我你" * 130,
        "list all " + "a " * 195,
        "the " * 99,
        "总结" * 199,
        "summary of " + "a and " * 60,
        "比较" + "a和" * 150,
        "what changed between " + "a and " * 60,
    ],
)
def test_long_questions_are_matched_quickly(text: str) -> None:
    """A pattern that backtracks over such a text would take minutes, and the run would time out."""
    may_want_whole(text)
    whole_request(text)

"""Question files: accepted formats, and errors for other lines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.loading.references import Reference
from retrieval.evaluation.questions import MOST_QUESTIONS, QuestionDraft, read_questions, write_questions


def read(*records: Any) -> QuestionDraft:
    drafts, errors = read_questions([json.dumps(record).encode() for record in records])
    assert not errors
    return drafts[0]


def test_names_are_ids_of_passages_or_files_and_numbers_are_chunks() -> None:
    draft = read({"question": " How long? ", "relevant": ["4983", "Handbook.pdf", 17]})
    assert draft.text == "How long?"
    assert draft.relevant == (Reference(name="4983"), Reference(name="Handbook.pdf"), Reference(chunk_id=17))
    assert (draft.key, draft.line) == ("", 1)


def test_grades_in_an_object() -> None:
    draft = read({"_id": 7, "question": "How long?", "relevant": {"4983": 2, "77": 1, "78": 0, "79": -1}})
    assert draft.key == "7"
    assert draft.relevant == (Reference(2, name="4983"), Reference(1, name="77"))


def test_relevant_objects() -> None:
    given = [{"passage": "a"}, {"document": "b.pdf", "grade": 3}, {"document": "b.pdf", "text": "Words."}, {"chunk": 5}]
    assert read({"question": "q", "relevant": given}).relevant == (
        Reference(passage="a"),
        Reference(3, document="b.pdf"),
        Reference(document="b.pdf", text="Words."),
        Reference(chunk_id=5),
    )


@pytest.mark.parametrize("field", ["question", "query", "text"])
@pytest.mark.parametrize("answers", ["relevant", "documents", "passages", "relevant_documents", "relevant_passages"])
def test_alternative_field_names(field: str, answers: str) -> None:
    draft = read({field: "q", answers: ["a"]})
    assert (draft.text, draft.relevant) == ("q", (Reference(name="a"),))


def test_a_single_answer_and_duplicates() -> None:
    assert read({"question": "q", "relevant": "a.pdf"}).relevant == (Reference(name="a.pdf"),)
    assert len(read({"question": "q", "relevant": ["a", "a", " a "]}).relevant) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("{}", "“question” is missing"),
        ('{"question": " ", "relevant": ["a"]}', "“question” must be a non-empty string"),
        ('{"question": 7, "relevant": ["a"]}', "“question” must be a non-empty string"),
        ('{"question": "q"}', "“relevant” names no document or passage"),
        ('{"question": "q", "relevant": []}', "“relevant” names no document or passage"),
        ('{"question": "q", "relevant": {"a": 0}}', "“relevant” names no document or passage"),
        ('{"question": "q", "relevant": [null]}', "not null"),
        ('{"question": "q", "relevant": [true]}', "not true"),
        ('{"question": "q", "relevant": {"a": "1"}}', 'a grade must be a whole number, not "1"'),
        ('{"question": "q", "relevant": {"a": 1.5}}', "a grade must be a whole number, not 1.5"),
        ('{"question": "q", "relevant": [{"file": "a"}]}', "must have “passage”"),
        ('{"question": "q", "relevant": [{"chunk": "5"}]}', "must have “passage”"),
        ('{"question": "q", "relevant": [{"document": "a", "text": 5}]}', "“text” must be a string"),
        ('{"_id": {}, "question": "q", "relevant": ["a"]}', "“_id” must be a non-empty string"),
    ],
)  # fmt: skip
def test_an_invalid_line_is_reported_with_its_number(line: str, words: str) -> None:
    good = b'{"question": "q", "relevant": ["a"]}'
    drafts, errors = read_questions([good, b"", line.encode(), good])
    assert [draft.line for draft in drafts] == [1, 4]
    (error,) = errors
    assert error.line == 3 and words in str(error) and str(error).startswith("line 3: ")


def test_a_duplicate_id_is_reported_with_the_first_line() -> None:
    line = b'{"_id": "a", "question": "q", "relevant": ["a"]}'
    _drafts, errors = read_questions([line, line])
    assert [str(error) for error in errors] == ["line 2: “_id” a is already used on line 1"]


def test_a_too_long_question_is_refused(settings: Any) -> None:
    settings.MAX_QUESTION_CHARACTERS = 5
    _drafts, errors = read_questions([b'{"question": "123456", "relevant": ["a"]}'])
    assert "longer than 5 characters" in str(errors[0])


def test_reading_stops_after_too_many_questions_or_errors() -> None:
    drafts, errors = read_questions(b"nonsense" for _ in range(100_000))
    assert (len(drafts), len(errors)) == (0, 100)
    good = b'{"question": "q", "relevant": ["a"]}'
    drafts, errors = read_questions(good for _ in range(100_000))
    assert (len(drafts), len(errors)) == (MOST_QUESTIONS + 1, 0)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=20).filter(
    lambda text: text == text.strip() and text != ""
)
references = st.one_of(
    st.builds(Reference, st.integers(1, 5), passage=texts),
    st.builds(Reference, st.integers(1, 5), document=texts),
    st.builds(Reference, st.integers(1, 5), document=texts, text=texts),
)


answers = st.lists(references, min_size=1, max_size=4, unique=True).map(tuple)
questions = st.builds(QuestionDraft, texts, texts, answers)


@given(st.lists(questions, max_size=4, unique_by=lambda draft: draft.key))
def test_written_questions_can_be_read_again(drafts: list[QuestionDraft]) -> None:
    read_back, errors = read_questions([line.encode() for line in write_questions(drafts)])
    assert not errors
    assert [(draft.key, draft.text, draft.relevant) for draft in read_back] == [
        (draft.key, draft.text, draft.relevant) for draft in drafts
    ]

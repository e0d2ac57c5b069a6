"""Editing questions."""

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from knowledge.ingestion import corpora
from knowledge.models import KnowledgeBase
from retrieval.evaluation import editing, sets
from retrieval.evaluation.models import EvaluationQuestion, EvaluationSet
from retrieval.evaluation.sets import SetRefused
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def question(base: KnowledgeBase, owner: User) -> EvaluationQuestion:
    document = factories.make_document(base, "Handbook.pdf")
    chunks = [factories.make_chunk(document, text) for text in ("The warranty lasts two years.", "Keep the bill.")]
    golden = sets.create_set(owner, base, "Golden")
    return sets.add_question(golden, "How long?", [chunk.pk for chunk in chunks])


def snippets(question: EvaluationQuestion) -> list[str]:
    (shown,) = editing.with_passages(question.evaluation_set.knowledge_base_id, [question])
    return [right.passage.snippet for right in shown.passages]


def test_editing_a_question(question: EvaluationQuestion) -> None:
    editing.set_text(question, " How long is\x00 it? ")
    question.refresh_from_db()
    assert question.text == "How long is it?"
    for text, code in (("", "no_questions"), ("x" * 9000, "too_long")):
        with pytest.raises(SetRefused) as refused:
            editing.set_text(question, text)
        assert refused.value.code == code


def test_removing_a_passage_by_id(question: EvaluationQuestion) -> None:
    (shown,) = editing.with_passages(question.evaluation_set.knowledge_base_id, [question])
    first, _second = shown.passages
    assert editing.remove_passage(question.pk, first.id)
    assert not editing.remove_passage(question.pk, first.id)
    question.refresh_from_db()
    assert snippets(question) == ["Keep the bill."]
    gone = question.pk
    question.delete()
    assert not editing.remove_passage(gone, first.id)


def test_a_question_without_passages_is_not_exported(question: EvaluationQuestion) -> None:
    question.relevant = []
    question.save(update_fields=["relevant"])
    assert list(sets.export(question.evaluation_set)) == []


def test_passages_of_many_questions_take_few_queries(
    base: KnowledgeBase, question: EvaluationQuestion, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    golden: EvaluationSet = question.evaluation_set
    corpora.add(base, base.owner, [corpora.passage(str(number), "", f"Passage {number}.") for number in range(20)])
    sets.add_questions(
        golden,
        sets.parse_questions([b'{"question": "Passage %d?", "relevant": ["%d"]}' % (n, n) for n in range(20)]),
    )
    questions = list(golden.questions.order_by("pk"))
    with django_assert_max_num_queries(5):
        shown = editing.with_passages(base.pk, questions)
    assert [each.passages[0].passage.snippet for each in shown[1:]] == [f"Passage {number}." for number in range(20)]

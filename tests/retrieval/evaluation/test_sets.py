"""Question sets: creating, concurrent additions and exporting."""

import json
import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection

from knowledge.models import Chunk, Document, KnowledgeBase
from retrieval.evaluation import sets
from retrieval.evaluation.editing import Passage, with_passages
from retrieval.evaluation.models import EvaluationQuestion, EvaluationSet
from retrieval.evaluation.sets import SetRefused
from tests import factories


@pytest.fixture
def document(base: KnowledgeBase) -> Document:
    made = factories.make_document(base, "Handbook.pdf")
    factories.make_chunks(made, ["The warranty lasts two years.", "Goods may be returned within thirty days."])
    return made


@pytest.fixture
def golden(base: KnowledgeBase, owner: User, document: Document) -> EvaluationSet:
    return sets.create_set(owner, base, "Golden")


def chunk_ids(document: Document) -> list[int]:
    return list(document.chunks.order_by("ordinal").values_list("pk", flat=True))


def passages_of(question: EvaluationQuestion) -> list[Passage]:
    (shown,) = with_passages(question.evaluation_set.knowledge_base_id, [question])
    return [right.passage for right in shown.passages]


def lines(*questions: str) -> list[bytes]:
    return [question.encode() for question in questions]


@pytest.mark.django_db
def test_creating_a_set_from_a_file(base: KnowledgeBase, owner: User, document: Document) -> None:
    drafts = sets.parse_questions(lines('{"_id": "w", "question": "How long?", "relevant": ["Handbook.pdf"]}', ""))
    made = sets.create_set(owner, base, "  From\n a file ", drafts)
    assert made.name == "From a file"
    assert list(made.questions.values_list("key", "text")) == [("w", "How long?")]


@pytest.mark.django_db
def test_a_file_with_an_error_is_refused_as_a_whole(base: KnowledgeBase, owner: User) -> None:
    good = '{"question": "How long?", "relevant": ["Handbook.pdf"]}'
    with pytest.raises(SetRefused) as refused:
        sets.parse_questions(lines(good, *["nonsense"] * 8))
    assert refused.value.code == "bad_line"
    assert "line 2: " in refused.value.message and "line 6: " in refused.value.message
    assert refused.value.message.endswith("and 3 more lines")
    with pytest.raises(SetRefused, match="no question"):
        sets.parse_questions(lines("", " "))


@pytest.mark.django_db
def test_a_file_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    file = ContentFile(b'{"question": "q", "relevant": ["a"]}\n')
    assert len(sets.parse_upload(file)) == 1
    monkeypatch.setattr(sets, "MOST_UPLOAD_MB", 0)
    with pytest.raises(SetRefused, match="larger than"):
        sets.parse_upload(file)


@pytest.mark.django_db
def test_unknown_passages_are_reported_with_their_lines(base: KnowledgeBase, owner: User, document: Document) -> None:
    drafts = sets.parse_questions(
        lines(
            '{"question": "a", "relevant": ["Handbook.pdf", "Other.pdf"]}',
            '{"question": "b", "relevant": [{"document": "None.pdf", "text": "x"}, 999999]}',
        )
    )
    with pytest.raises(SetRefused) as refused:
        sets.create_set(owner, base, "Golden", drafts)
    assert refused.value.code == "unknown_passages"
    assert "3 passages or documents" in refused.value.message
    assert "Other.pdf (line 1), None.pdf (line 2), 999999 (line 2)" in refused.value.message
    assert not EvaluationSet.objects.exists()


@pytest.mark.django_db
def test_names_are_unique_per_owner_and_base(
    base: KnowledgeBase, golden: EvaluationSet, owner: User, colleague: User
) -> None:
    with pytest.raises(SetRefused) as refused:
        sets.create_set(owner, base, " Golden ")
    assert refused.value.code == "name_taken"
    sets.create_set(colleague, base, "Golden")
    sets.create_set(owner, factories.make_knowledge_base(owner), "Golden")
    other = sets.create_set(owner, base, "Silver")
    with pytest.raises(SetRefused, match="already have a question set"):
        sets.rename_set(other, "Golden")
    for name, code in (("", "no_name"), (" \n", "no_name"), ("x" * 121, "too_long")):
        with pytest.raises(SetRefused) as refused:
            sets.create_set(owner, base, name)
        assert refused.value.code == code


@pytest.mark.django_db
def test_a_question_is_added_with_its_passages(golden: EvaluationSet, document: Document) -> None:
    first, second = chunk_ids(document)
    question = sets.add_question(golden, " How long is the warranty? ", [first], grade=2)
    assert question.text == "How long is the warranty?"
    assert passages_of(question) == [Passage("Handbook.pdf", "The warranty lasts two years.", 2, document.pk, first)]
    same = sets.add_question(golden, "How long is the warranty?", [second, first])
    assert same.pk == question.pk and golden.questions.count() == 1
    # The last grade of a repeated passage counts.
    assert [(passage.chunk_id, passage.grade) for passage in passages_of(same)] == [(first, 1), (second, 1)]


@pytest.mark.django_db
def test_deleted_passages_are_still_shown(golden: EvaluationSet, document: Document) -> None:
    question = sets.add_question(golden, "How long?", chunk_ids(document)[:1])
    document.delete()
    assert passages_of(question) == [Passage("Handbook.pdf", "The warranty lasts two years.", 1, None, None)]


@pytest.mark.django_db
def test_an_invalid_question_is_refused(
    golden: EvaluationSet, document: Document, colleague: User, settings: object
) -> None:
    elsewhere = factories.make_chunk(factories.make_document(factories.make_knowledge_base(colleague)))
    (first, _second) = chunk_ids(document)
    for text, ids, code in (
        (" ", [first], "no_questions"),
        ("q", [], "unknown_passages"),
        ("q", [first, elsewhere.pk], "unknown_passages"),
        ("q" * 9000, [first], "too_long"),
    ):
        with pytest.raises(SetRefused) as refused:
            sets.add_question(golden, text, ids)
        assert refused.value.code == code
    assert not golden.questions.exists()


@pytest.mark.django_db
def test_a_file_updates_and_adds_questions(golden: EvaluationSet, document: Document) -> None:
    first, second = chunk_ids(document)

    def add(*given: str) -> int:
        return sets.add_questions(golden, sets.parse_questions(lines(*given)))

    def question(text: str, chunk_id: int, **fields: str) -> str:
        return json.dumps({"question": text, "relevant": [chunk_id]} | fields)

    assert add(question("How long?", first, _id="a"), question("Returns?", second)) == 2
    assert add(question("How long?", first, _id="a"), question("Returns?", second)) == 0
    assert add(question("So how long?", second, _id="a"), question("Returns?", first)) == 0
    changed, joined = golden.questions.order_by("pk")
    assert (changed.key, changed.text) == ("a", "So how long?")
    assert [passage.chunk_id for passage in passages_of(changed)] == [second]
    assert [passage.chunk_id for passage in passages_of(joined)] == [second, first]


@pytest.mark.django_db
def test_replacing_the_questions_of_a_set(golden: EvaluationSet, document: Document) -> None:
    sets.add_question(golden, "Old?", chunk_ids(document))
    drafts = sets.parse_questions(
        lines(
            "",
            '{"question": "New?", "relevant": ["Handbook.pdf"]}',
            '{"_id": "k", "question": "New?", "relevant": ["Handbook.pdf"]}',
        )
    )
    sets.replace_questions(golden, drafts)
    sets.replace_questions(golden, drafts)
    assert list(golden.questions.values_list("key", "text")) == [("line 2", "New?"), ("k", "New?")]


@pytest.mark.django_db
def test_a_set_has_a_maximum_size(golden: EvaluationSet, document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "MOST_QUESTIONS", 2)
    for number in range(2):
        sets.add_question(golden, f"Question {number}?", chunk_ids(document))
    with pytest.raises(SetRefused, match="at most 2 questions"):
        sets.add_question(golden, "One more?", chunk_ids(document))
    assert golden.questions.count() == 2


@pytest.mark.django_db
def test_questions_are_removed_only_from_their_own_set(
    golden: EvaluationSet, document: Document, owner: User, base: KnowledgeBase
) -> None:
    question = sets.add_question(golden, "How long?", chunk_ids(document))
    other = sets.create_set(owner, base, "Other")
    assert not sets.remove_question(other, question.pk)
    assert sets.remove_question(golden, question.pk)
    assert not sets.remove_question(golden, question.pk)


@pytest.mark.django_db
def test_an_export_can_be_imported_into_another_base(
    golden: EvaluationSet, document: Document, colleague: User
) -> None:
    sets.add_question(golden, "How long?", chunk_ids(document)[:1], grade=2)
    exported = [line.encode() for line in sets.export(golden)]
    assert len(exported) == 1 and exported[0].endswith(b"\n")
    elsewhere = factories.make_knowledge_base(colleague)
    twin = factories.make_document(elsewhere, "Handbook.pdf")
    chunk = factories.make_chunk(twin, "Warranty. The warranty lasts two years. Keep the bill.")
    copy = sets.create_set(colleague, elsewhere, "Copy", sets.parse_questions(exported))
    (question,) = copy.questions.all()
    (passage,) = passages_of(question)
    assert (passage.chunk_id, passage.grade) == (chunk.pk, 2)


@pytest.mark.django_db(transaction=True)
def test_concurrent_additions_lose_nothing(golden: EvaluationSet, document: Document) -> None:
    ids = chunk_ids(document)
    everyone = threading.Barrier(6)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            everyone.wait()
            # Three add the same question with different passages; the others add new questions.
            if number < 3:
                sets.add_question(golden, "The same?", [ids[number % 2]])
            else:
                sets.add_question(golden, f"Question {number}?", [ids[0]])
        except BaseException as error:  # noqa: BLE001 - reported by the test
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert golden.questions.count() == 4
    same = golden.questions.get(text="The same?")
    assert {passage.chunk_id for passage in passages_of(same)} == set(ids)


@pytest.mark.django_db
def test_adding_takes_a_constant_number_of_queries(
    golden: EvaluationSet, document: Document, django_assert_max_num_queries: Callable[..., object]
) -> None:
    first = Chunk.objects.order_by("pk").values_list("pk", flat=True)[0]
    given = [b'{"_id": "%d", "question": "%d?", "relevant": [%d]}' % (n, n, first) for n in range(100)]
    with django_assert_max_num_queries(12):  # type: ignore[attr-defined]
        assert sets.add_questions(golden, sets.parse_questions(given)) == 100

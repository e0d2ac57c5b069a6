"""`/api/evaluation-sets` and `/api/evaluation-runs`."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from knowledge.models import Chunk, KnowledgeBase
from retrieval.evaluation import runs, sets
from retrieval.evaluation.models import EvaluationSet
from tests import factories

pytestmark = pytest.mark.django_db

SETS = "/api/evaluation-sets"


@pytest.fixture
def chunk(base: KnowledgeBase) -> Chunk:
    return factories.make_chunk(factories.make_document(base, "Handbook.pdf"), "The warranty lasts two years.")


@pytest.fixture
def golden(base: KnowledgeBase, owner: User, chunk: Chunk) -> EvaluationSet:
    made = sets.create_set(owner, base, "Golden")
    sets.add_question(made, "How long?", [chunk.pk])
    return made


def post(client: Client, url: str, **data: Any) -> Any:
    return client.post(url, data, content_type="application/json")


def test_creating_sets_with_questions_or_empty(as_owner: Client, base: KnowledgeBase, chunk: Chunk) -> None:
    questions = [{"question": "How long?", "relevant": {"Handbook.pdf": 2}}, {"query": "Why?", "relevant": [chunk.pk]}]
    made = post(as_owner, SETS, name="Golden", knowledge_base=base.pk, questions=questions)
    assert made.status_code == 201
    assert made.json() | {"id": 0, "created_at": ""} == {
        "id": 0, "name": "Golden", "knowledge_base": base.pk, "owner": "owner", "questions": 2, "created_at": "",
    }  # fmt: skip
    assert post(as_owner, SETS, name="Empty", knowledge_base=base.pk).json()["questions"] == 0
    listed = as_owner.get(SETS).json()
    assert [(item["name"], item["questions"]) for item in listed["results"]] == [("Empty", 0), ("Golden", 2)]
    assert as_owner.get(f"{SETS}?knowledge_base={base.pk}").json()["count"] == 2
    assert as_owner.get(f"{SETS}?knowledge_base={base.pk + 1}").json()["count"] == 0


def test_creating_a_set_from_a_file(as_owner: Client, base: KnowledgeBase, chunk: Chunk) -> None:
    file = SimpleUploadedFile("q.jsonl", b'{"question": "How long?", "relevant": ["Handbook.pdf"]}\n')
    made = as_owner.post(SETS, {"name": "Golden", "knowledge_base": base.pk, "file": file})
    assert made.status_code == 201 and made.json()["questions"] == 1


@pytest.mark.parametrize(
    ("data", "status", "code", "words"),
    [
        ({"name": "New"}, 400, "invalid", "knowledge_base"),
        ({"knowledge_base": "here"}, 400, "invalid", "name"),
        ({"name": "New", "knowledge_base": "1"}, 400, "invalid", "knowledge_base"),
        ({"name": "Golden", "knowledge_base": "here"}, 409, "name_taken", "already have a question set"),
        ({"name": "x" * 121, "knowledge_base": "here"}, 400, "invalid", "no more than 120"),
        ({"name": "New", "knowledge_base": "here", "questions": ["q"]}, 400, "invalid", "questions"),
        ({"name": "New", "knowledge_base": "here", "questions": [{}]}, 400, "bad_line", "“question” is missing"),
        (
            {"name": "New", "knowledge_base": "here", "questions": [{"question": "q", "relevant": ["none"]}]},
            404,
            "unknown_passages",
            "none (line 1)",
        ),
    ],
)
def test_errors_when_creating_a_set(
    as_owner: Client, golden: EvaluationSet, data: dict[str, Any], status: int, code: str, words: str
) -> None:
    if data.get("knowledge_base") == "here":
        data = data | {"knowledge_base": golden.knowledge_base_id}
    answer = post(as_owner, SETS, **data)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert words in json.dumps(answer.json(), ensure_ascii=False)
    assert EvaluationSet.objects.count() == 1


def test_a_set_needs_a_readable_base(
    as_colleague: Client, as_stranger: Client, base: KnowledgeBase, colleague: User
) -> None:
    assert post(as_stranger, SETS, name="Golden", knowledge_base=base.pk).status_code == 404
    factories.share(base, colleague)
    assert post(as_colleague, SETS, name="Golden", knowledge_base=base.pk).status_code == 201


def test_a_set_is_renamed_and_deleted(as_owner: Client, golden: EvaluationSet) -> None:
    url = f"{SETS}/{golden.pk}"
    renamed = as_owner.patch(url, {"name": "Silver", "knowledge_base": 999}, content_type="application/json")
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Silver")
    assert renamed.json()["knowledge_base"] == golden.knowledge_base_id
    assert as_owner.get(url).json()["questions"] == 1
    assert as_owner.delete(url).status_code == 204
    assert as_owner.get(url).status_code == 404


def test_questions_are_added_listed_exported_and_removed(as_owner: Client, golden: EvaluationSet, chunk: Chunk) -> None:
    url = f"{SETS}/{golden.pk}/questions"
    added = post(as_owner, url, text="What is covered?", chunks=[chunk.pk], grade=3)
    assert added.status_code == 201
    assert added.json()["relevant"][0]["document"] == "Handbook.pdf"
    listed = as_owner.get(url).json()["results"]
    assert [item["text"] for item in listed] == ["How long?", "What is covered?"]
    exported = as_owner.get(f"{SETS}/{golden.pk}/export")
    assert exported.headers["Content-Disposition"] == 'attachment; filename="Golden.jsonl"'
    records = [json.loads(line) for line in exported.content.decode().splitlines()]
    assert records[1]["question"] == "What is covered?" and records[1]["relevant"][0]["grade"] == 3
    assert as_owner.delete(f"{url}/{added.json()['id']}").status_code == 204
    assert as_owner.delete(f"{url}/{added.json()['id']}").status_code == 404
    for data in ({"text": "q"}, {"text": "", "chunks": [chunk.pk]}, {"text": "q", "chunks": ["1"]}):
        assert post(as_owner, url, **data).status_code == 400
    assert post(as_owner, url, text="q", chunks=[10**17]).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_starting_a_run_and_reading_its_results(as_owner: Client, golden: EvaluationSet) -> None:
    url = f"{SETS}/{golden.pk}/runs"
    started = post(as_owner, url, mode="fulltext", reorder=False)
    assert started.status_code == 202
    run = started.json()
    assert (run["status"], run["progress"], run["figures"]) == ("queued", 0, {})
    assert (run["summary"], run["started_by"]) == ("by words · not reordered", "owner")
    assert post(as_owner, url, mode="fulltext", reorder=False).json()["id"] == run["id"]
    assert runs.execute(run["id"])
    done = as_owner.get(f"/api/evaluation-runs/{run['id']}").json()
    assert (done["status"], done["progress"], done["question_count"]) == ("done", 100, 1)
    assert set(done["figures"]) == {"nDCG@10", "recall@5", "recall@10", "MRR@10"}
    assert [item["id"] for item in as_owner.get(url).json()["results"]] == [run["id"]]
    (result,) = as_owner.get(f"/api/evaluation-runs/{run['id']}/results").json()["results"]
    assert result["text"] == "How long?" and set(result["figures"]) == set(done["figures"])
    assert (run["answer_states"], done["answer_states"]) == ({}, {result["answer_state"]: 1})
    assert as_owner.delete(f"/api/evaluation-runs/{run['id']}").status_code == 204
    assert as_owner.get(f"/api/evaluation-runs/{run['id']}").status_code == 404


def test_invalid_options_are_400(as_owner: Client, golden: EvaluationSet) -> None:
    for data in (
        {"mode": "magic"},
        {"rerank": "magic"},
        {"rrf_constant": 0},
        {"rrf_constant": "1"},
        {"vector_weight": "heavy"},
    ):
        answer = post(as_owner, f"{SETS}/{golden.pk}/runs", **data)
        assert answer.status_code == 400 and {"detail", "code"} <= set(answer.json())
    empty = sets.create_set(golden.owner, golden.knowledge_base, "Empty")
    none = post(as_owner, f"{SETS}/{empty.pk}/runs")
    assert (none.status_code, none.json()["code"]) == (409, "no_questions")


def test_an_editor_may_view_and_run_but_not_change(
    as_colleague: Client, colleague: User, golden: EvaluationSet, chunk: Chunk
) -> None:
    factories.share(golden.knowledge_base, colleague, "editor")
    url = f"{SETS}/{golden.pk}"
    assert as_colleague.get(url).status_code == 200
    run = post(as_colleague, f"{url}/runs").json()
    assert run["started_by"] == "colleague"
    assert as_colleague.get(f"/api/evaluation-runs/{run['id']}").status_code == 200
    changes = [
        as_colleague.delete(url),
        as_colleague.patch(url, {"name": "Mine"}, content_type="application/json"),
        post(as_colleague, f"{url}/questions", text="q", chunks=[chunk.pk]),
        as_colleague.delete(f"{url}/questions/{golden.questions.get().pk}"),
        as_colleague.delete(f"/api/evaluation-runs/{run['id']}"),
    ]
    assert {answer.status_code for answer in changes} == {403}


def test_lists_take_a_constant_number_of_queries(
    as_owner: Client, golden: EvaluationSet, owner: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        sets.create_set(owner, golden.knowledge_base, f"Set {number}")
        runs.EvaluationRun.objects.create(evaluation_set=golden, started_by=owner)
    for url in (SETS, f"{SETS}/{golden.pk}/runs"):
        with django_assert_max_num_queries(8):
            assert as_owner.get(url).status_code == 200

"""Pages of question sets, their questions and runs."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django_q.models import OrmQ
from pytest_django import DjangoAssertNumQueries, Settings

from knowledge.models import KnowledgeBase
from retrieval.evaluation import runs, sets
from retrieval.evaluation.models import EvaluationQuestion, EvaluationRun, EvaluationSet
from tests import factories
from tests.retrieval.pages import HTMX, chunk_of, make_base, make_run, make_set

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def base(owner: User, colleague: User) -> KnowledgeBase:
    base = make_base(owner)
    factories.share(base, colleague)
    return base


@pytest.fixture
def golden(base: KnowledgeBase) -> EvaluationSet:
    return make_set(base)


def url(name: str, *args: Any) -> str:
    return reverse(name, args=args)


def text_of(response: Any) -> str:
    return str(response.content.decode())


def questions_file(*records: object) -> SimpleUploadedFile:
    lines = "".join(json.dumps(record) + "\n" if not isinstance(record, str) else record + "\n" for record in records)
    return SimpleUploadedFile("questions.jsonl", lines.encode())


QUESTION = {"_id": "q1", "question": "What purrs?", "relevant": ["facts.txt"]}


def test_the_empty_list_explains_itself(as_owner: Client, as_stranger: Client, base: KnowledgeBase) -> None:
    assert "See whether search has improved" in text_of(as_owner.get(url("evaluation")))
    assert "Create a knowledge base first" in text_of(as_stranger.get(url("evaluation")))


def test_the_list_shows_sets_with_their_last_figures(
    as_owner: Client, as_colleague: Client, golden: EvaluationSet
) -> None:
    make_run(golden, 0.25)
    make_run(golden, 0.875)
    EvaluationRun.objects.create(evaluation_set=golden, status="failed", error="No.")
    page = text_of(as_owner.get(url("evaluation")))
    assert "Golden" in page and "0.875" in page
    assert "0.250" not in page
    assert "Golden" not in text_of(as_colleague.get(url("evaluation")))  # a reader of the base doesn't see its sets


def test_the_list_takes_a_constant_number_of_queries(
    as_owner: Client, golden: EvaluationSet, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        make_run(make_set(golden.knowledge_base, f"Set {number}"))
    with django_assert_num_queries(6):  # session, user, bases, number of sets, sets, their runs
        as_owner.get(url("evaluation"))


def test_a_set_is_made_from_a_file(as_owner: Client, base: KnowledgeBase) -> None:
    data = {"name": "From a file", "knowledge_base": base.pk, "file": questions_file(QUESTION)}
    response = as_owner.post(url("evaluation"), data)
    made = EvaluationSet.objects.get()
    assert response.headers["Location"] == url("evaluation-set", made.pk)
    assert made.questions.get().text == "What purrs?"


def test_a_set_is_made_empty(as_owner: Client, base: KnowledgeBase) -> None:
    page = text_of(as_owner.post(url("evaluation"), {"name": "By hand", "knowledge_base": base.pk}, follow=True))
    assert "No questions yet" in page


def test_an_invalid_line_is_reported_and_nothing_created(as_owner: Client, base: KnowledgeBase) -> None:
    data = {"name": "Bad", "knowledge_base": base.pk, "file": questions_file(QUESTION, '{"question": ')}
    response = as_owner.post(url("evaluation"), data)
    assert response.status_code == 422
    assert "2" in text_of(response).split('class="errors" role="alert">')[1].split("</p>")[0]
    assert "data-open" in text_of(response)
    assert not EvaluationSet.objects.exists()


def test_a_file_that_is_too_large_is_not_read(as_owner: Client, base: KnowledgeBase, settings: Settings) -> None:
    settings.MAX_UPLOAD_MB = 1
    large = SimpleUploadedFile("questions.jsonl", b" " * (1024 * 1024 + 1))
    response = as_owner.post(url("evaluation"), {"name": "Large", "knowledge_base": base.pk, "file": large})
    assert response.status_code == 422 and "larger than 1 MB" in text_of(response)


def test_a_set_is_made_on_readable_bases_only(as_owner: Client, owner: User) -> None:
    other = make_base(factories.make_user("other"))
    assert as_owner.post(url("evaluation"), {"name": "Theirs", "knowledge_base": other.pk}).status_code == 422
    assert not EvaluationSet.objects.exists()


def test_set_names_are_unique(as_owner: Client, golden: EvaluationSet) -> None:
    response = as_owner.post(url("evaluation"), {"name": "Golden", "knowledge_base": golden.knowledge_base_id})
    assert response.status_code == 422
    assert "You already have a question set named" in text_of(response)


def test_a_set_shows_questions_with_their_passages(as_owner: Client, golden: EvaluationSet) -> None:
    chunk = chunk_of(golden.knowledge_base, "ports")
    page = text_of(as_owner.get(url("evaluation-set", golden.pk)))
    assert "How many ports?" in page
    assert f'href="/knowledge/documents/{chunk.document_id}/?chunk={chunk.pk}"' in page
    assert "eight gigabit ports" in page
    assert 'hx-trigger="every' not in page  # nothing is running
    chunk.document.delete()
    page = text_of(as_owner.get(url("evaluation-set", golden.pk)))
    assert "no longer there" in page and "eight gigabit ports" in page


def test_a_set_takes_a_constant_number_of_queries(
    as_owner: Client, golden: EvaluationSet, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        sets.add_question(golden, f"Question {number}", [chunk_of(golden.knowledge_base, "cat").pk])
        make_run(golden)
    # session, user, set, stalled runs, permission, number of questions (twice: all, and those found), runs,
    # questions, three for their passages, and three for the assistants that the user may use
    with django_assert_num_queries(16):
        as_owner.get(url("evaluation-set", golden.pk))


def test_questions_are_found_by_their_words(as_owner: Client, golden: EvaluationSet) -> None:
    sets.add_question(golden, "What purrs?", [chunk_of(golden.knowledge_base, "cat").pk])
    address = url("evaluation-set", golden.pk)
    part = text_of(as_owner.get(address, {"q": "PURR"}, headers=HTMX | {"HX-Target": "questions"}))
    assert "What purrs?" in part and "How many ports?" not in part and "<html" not in part
    assert "No question here contains" in text_of(as_owner.get(address, {"q": "nothing"}))


def test_a_run_is_queued_watched_and_shown(as_owner: Client, golden: EvaluationSet) -> None:
    started = as_owner.post(url("evaluation-set-run", golden.pk), {"mode": "fulltext", "reorder": "off"}, headers=HTMX)
    assert "every 1s" in text_of(started) and "Waiting for a worker" in text_of(started)
    run = golden.runs.get()
    assert run.settings == {"mode": "fulltext", "reorder": False}
    assert OrmQ.objects.count() == 1
    EvaluationRun.objects.filter(pk=run.pk).update(status="running", progress=40)
    watched = as_owner.get(url("evaluation-set", golden.pk), headers=HTMX | {"HX-Target": "runs"})
    assert "40%" in text_of(watched) and "every 1s" in text_of(watched)
    EvaluationRun.objects.filter(pk=run.pk).update(status="queued")
    assert runs.execute(run.pk)
    done = text_of(as_owner.get(url("evaluation-set", golden.pk), headers=HTMX | {"HX-Target": "runs"}))
    assert "1.000" in done and "every 1s" not in done
    page = text_of(as_owner.get(url("evaluation-run", run.pk)))
    assert "relevant at rank 1" in page and "eight gigabit ports" in page and "not reordered" in page
    assert '<li class="result-hit relevant">' in page and '<rect class="mark-relevant"' in page


def test_errors_when_starting_a_run(as_owner: Client, base: KnowledgeBase, golden: EvaluationSet) -> None:
    address = url("evaluation-set-run", golden.pk)
    wrong = as_owner.post(address, {"rrf_constant": "many"}, headers=HTMX)
    assert wrong.status_code == 409 and "Enter a whole number." in text_of(wrong)
    empty = sets.create_set(base.owner, base, "Empty")
    page = as_owner.post(url("evaluation-set-run", empty.pk), {"mode": "hybrid"}, follow=True)
    assert "This set has no questions yet." in text_of(page)
    assert not EvaluationRun.objects.exists()


def test_runs_are_plotted_and_compared(as_owner: Client, golden: EvaluationSet) -> None:
    make_run(golden, 0.8)
    page = text_of(as_owner.get(url("evaluation-set", golden.pk)))
    assert "chart-drawing" not in page  # a single run has no chart
    make_run(golden, 0.5)
    page = text_of(as_owner.get(url("evaluation-set", golden.pk)))
    assert '<title id="chart-title">Metrics over time</title>' in page
    assert "nDCG@10 0.800" in page
    assert 'class="change down"' in page and "0.300" in page
    assert "style=" not in page.split('id="main"')[1]


def test_a_run_shows_outcomes(as_owner: Client, golden: EvaluationSet) -> None:
    old = make_run(golden)
    assert "answer-states" not in text_of(as_owner.get(url("evaluation-run", old.pk)))
    run = make_run(golden, answer_states={"answered": 1204, "nothing": 7})
    run.results.update(answer_state="nearest")
    for page in (url("evaluation-run", run.pk), url("evaluation-set", golden.pk)):
        shown = BeautifulSoup(text_of(as_owner.get(page)), "html.parser").select(".answer-states li")
        words = [" ".join(item.get_text(" ").split()) for item in shown]
        assert words == ["Answered 1,204", "Closest passages only 0", "Nothing found 7"]
    assert "Closest passages only</dd>" in text_of(as_owner.get(url("evaluation-run", run.pk)))


def test_a_run_is_compared_with_another(as_owner: Client, golden: EvaluationSet) -> None:
    first, second, third = make_run(golden, 0.2), make_run(golden, 0.9), make_run(golden, 0.5)
    page = text_of(as_owner.get(url("evaluation-run", third.pk)))
    assert 'Worse <span class="number">1</span>' in page and 'Better <span class="number">0</span>' in page
    page = text_of(as_owner.get(url("evaluation-run", third.pk), {"with": first.pk, "show": "better"}))
    assert 'Better <span class="number">1</span>' in page and "How many ports?" in page
    assert "None." in text_of(as_owner.get(url("evaluation-run", third.pk), {"with": first.pk, "show": "worse"}))
    alone = make_run(make_set(golden.knowledge_base, "Alone"))
    assert "There is no other run" in text_of(as_owner.get(url("evaluation-run", alone.pk)))
    assert str(second.pk) in page


def test_a_run_shows_the_worst_first(
    as_owner: Client, golden: EvaluationSet, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        sets.add_question(golden, f"Question {number}", [chunk_of(golden.knowledge_base, "cat").pk])
    make_run(golden)
    run = make_run(golden)
    run.results.filter(text="Question 5").update(ndcg_10=0.0)
    # session, user, run, other runs, the run before, its results, results, full results, passages, permission to delete
    with django_assert_num_queries(10):
        page = text_of(as_owner.get(url("evaluation-run", run.pk)))
    assert page.index("Question 5") < page.index("Question 0")


def test_an_unfinished_run_polls_and_a_failed_one_shows_the_reason(as_owner: Client, golden: EvaluationSet) -> None:
    running = EvaluationRun.objects.create(evaluation_set=golden, status="queued")
    assert 'hx-trigger="every 2s"' in text_of(as_owner.get(url("evaluation-run", running.pk)))
    failed = EvaluationRun.objects.create(evaluation_set=golden, status="failed", error="The disk is full.")
    page = text_of(as_owner.get(url("evaluation-run", failed.pk)))
    assert "The disk is full." in page and 'hx-trigger="every' not in page


def test_runs_and_sets_are_deleted(as_owner: Client, golden: EvaluationSet) -> None:
    run = make_run(golden)
    assert as_owner.post(url("evaluation-run-delete", run.pk)).headers["Location"] == url("evaluation-set", golden.pk)
    assert not EvaluationRun.objects.exists()
    assert "can't be undone" in text_of(as_owner.get(url("evaluation-set-delete", golden.pk))).replace("&#x27;", "'")
    assert as_owner.post(url("evaluation-set-delete", golden.pk)).headers["Location"] == url("evaluation")
    assert not EvaluationSet.objects.exists()


def test_renaming_uploading_and_exporting(as_owner: Client, golden: EvaluationSet) -> None:
    as_owner.post(url("evaluation-set-rename", golden.pk), {"name": "Better name"})
    golden.refresh_from_db()
    assert golden.name == "Better name"
    upload = url("evaluation-set-upload", golden.pk)
    assert "1 question was added." in text_of(as_owner.post(upload, {"file": questions_file(QUESTION)}, follow=True))
    assert "Choose a file" in text_of(as_owner.post(upload, follow=True))
    bad = as_owner.post(upload, {"file": questions_file({"question": "No passages"})}, follow=True)
    assert "names no document or passage" in text_of(bad)
    exported = as_owner.get(url("evaluation-set-export", golden.pk))
    assert "Better%20name.jsonl" in exported.headers["Content-Disposition"]
    records = [json.loads(line) for line in text_of(exported).splitlines()]
    assert [record["question"] for record in records] == ["How many ports?", "What purrs?"]


def test_editing_and_removing_a_question(as_owner: Client, golden: EvaluationSet) -> None:
    question = golden.questions.get()
    address = url("evaluation-question", question.pk)
    row = text_of(as_owner.post(address, {"text": "Ports, how many?"}, headers=HTMX))
    assert "Ports, how many?" in row and "<html" not in row
    refused = as_owner.post(address, {"text": " "}, headers=HTMX)
    assert refused.status_code == 409 and refused.headers["X-Message"]
    passage = row.split('name="remove" value="')[1].split('"')[0]
    assert "eight gigabit ports" in text_of(as_owner.post(address, {"remove": "another"}, headers=HTMX))
    assert "Runs skip this question" in text_of(as_owner.post(address, {"remove": passage}, headers=HTMX))
    assert as_owner.post(address, {"text": "Without htmx"}).status_code == 302
    assert as_owner.post(url("evaluation-question-remove", question.pk), headers=HTMX).status_code == 200
    assert not EvaluationQuestion.objects.exists()


def test_null_characters_are_left_out(as_owner: Client, golden: EvaluationSet) -> None:
    address = url("evaluation-question", golden.questions.get().pk)
    assert "Ports?" in text_of(as_owner.post(address, {"text": "Po\0rts?"}, headers=HTMX))
    assert "Ports?" in text_of(as_owner.get(url("evaluation-set", golden.pk), {"q": "Ports\0"}))
    chunk = chunk_of(golden.knowledge_base, "cat")
    as_owner.post(url("evaluation-add"), {"q": "Null\0?", "chunk": chunk.pk, "set": "new", "name": "Nu\0ll"})
    assert EvaluationSet.objects.get(name="Null").questions.get().text == "Null?"


# --- Adding in two clicks ---------------------------------------------------------------------------


def offered(client: Client, **data: Any) -> str:
    return text_of(client.get(url("evaluation-add"), data, headers=HTMX))


def test_sets_of_the_passages_base_are_offered(
    as_owner: Client, as_colleague: Client, as_stranger: Client, golden: EvaluationSet, owner: User
) -> None:
    make_set(make_base(owner, "Elsewhere"), "Of another base")
    chunk = chunk_of(golden.knowledge_base, "cat")
    popover = offered(as_owner, q="What purrs?", chunk=[chunk.pk])
    assert "popover" in popover and "Golden" in popover and "Of another base" not in popover
    assert "What purrs?" in popover and "A cat <mark>purrs</mark>" in popover
    readers = offered(as_colleague, q="What purrs?", chunk=[chunk.pk])
    assert "A cat" in readers and "Golden" not in readers and "New set" in readers
    assert "A cat" not in offered(as_stranger, q="What purrs?", chunk=[chunk.pk])
    assert "Tick at least one passage" in offered(as_owner, q="What purrs?")
    assert "<html" in text_of(as_owner.get(url("evaluation-add"), {"q": "What purrs?", "chunk": chunk.pk}))


def test_the_preferred_set_comes_first(as_owner: Client, golden: EvaluationSet) -> None:
    make_set(golden.knowledge_base, "Newer")
    chunk = chunk_of(golden.knowledge_base, "cat")
    popover = offered(as_owner, q="x", chunk=[chunk.pk])
    assert popover.index("Newer") < popover.index("Golden")
    popover = offered(as_owner, q="x", chunk=[chunk.pk], set=golden.pk)
    assert popover.index("Golden") < popover.index("Newer")


def test_a_question_is_added_and_a_toast_leads_to_it(as_owner: Client, golden: EvaluationSet, owner: User) -> None:
    chunk, other = chunk_of(golden.knowledge_base, "cat"), chunk_of(make_base(owner, "Elsewhere"), "cat")
    data = {"q": "What purrs?", "chunk": [chunk.pk, other.pk], "set": golden.pk}
    toast = text_of(as_owner.post(url("evaluation-add"), data, headers=HTMX))
    added = golden.questions.get(text="What purrs?")
    assert [reference["chunk_id"] for reference in added.relevant] == [chunk.pk]
    assert f'href="/evaluation/sets/{golden.pk}/#question-{added.pk}"' in toast
    assert 'hx-swap-oob="beforeend:#toasts"' in toast and "Added to “Golden”." in toast
    assert "1 passage of another knowledge base was left out." in toast
    plain = as_owner.post(url("evaluation-add"), data, follow=True)
    assert "Added to “Golden”." in text_of(plain) and "Open question set</a>" in text_of(plain)


def test_a_new_set_is_created_only_with_its_question(as_owner: Client, golden: EvaluationSet) -> None:
    chunk = chunk_of(golden.knowledge_base, "cat")
    data = {"q": "What purrs?", "chunk": chunk.pk, "set": "new", "name": "Animals"}
    as_owner.post(url("evaluation-add"), data, headers=HTMX)
    assert EvaluationSet.objects.get(name="Animals").questions.get().text == "What purrs?"
    refused = as_owner.post(url("evaluation-add"), data | {"name": "Empty", "q": " "}, headers=HTMX)
    assert refused.status_code == 409
    again = as_owner.post(url("evaluation-add"), data)
    assert again.status_code == 422 and "You already have a question set named" in text_of(again)
    assert not EvaluationSet.objects.filter(name="Empty").exists()


def test_questions_are_added_only_to_editable_sets(
    as_owner: Client, as_colleague: Client, as_stranger: Client, golden: EvaluationSet
) -> None:
    data = {"q": "x", "chunk": chunk_of(golden.knowledge_base, "cat").pk, "set": golden.pk}
    for client in (as_colleague, as_stranger):
        assert client.post(url("evaluation-add"), data).status_code == 404
    made = as_stranger.post(url("evaluation-add"), data | {"set": "new", "name": "Mine"}, headers=HTMX)
    assert made.status_code == 409
    assert as_owner.post(url("evaluation-add"), data | {"set": "nonsense"}).status_code == 404
    assert golden.questions.count() == 1


Change = Callable[[EvaluationSet], str]
CHANGES: list[Change] = [
    lambda golden: url("evaluation-set-rename", golden.pk),
    lambda golden: url("evaluation-set-upload", golden.pk),
    lambda golden: url("evaluation-set-delete", golden.pk),
    lambda golden: url("evaluation-question", golden.questions.get().pk),
    lambda golden: url("evaluation-question-remove", golden.questions.get().pk),
    lambda golden: url("evaluation-run-delete", golden.runs.get().pk),
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_editor_of_the_base_may_view_and_run_but_not_change(
    as_colleague: Client, golden: EvaluationSet, change: Change
) -> None:
    make_run(golden)
    golden.knowledge_base.memberships.update(role="editor")
    assert as_colleague.post(change(golden), {"name": "x", "text": "x"}).status_code == 403
    page = text_of(as_colleague.get(url("evaluation-set", golden.pk)))
    assert "How many ports?" in page
    for word in ("/remove/", "/rename/", "/upload/", "Not relevant"):
        assert word not in page
    assert as_colleague.post(url("evaluation-set-run", golden.pk), {"mode": "hybrid"}).status_code == 302


def test_views_check_method_and_access(owner: User, golden: EvaluationSet) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    for address in (url("evaluation"), url("evaluation-add"), url("evaluation-set-run", golden.pk), CHANGES[0](golden)):
        assert client.post(address, {"name": "x"}).status_code == 403

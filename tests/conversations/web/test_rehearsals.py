"""Rehearsing a change of an assistant on its question set, then making it live or editing it further."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from conversations.models import Assistant, Rehearsal
from knowledge.models import Chunk, KnowledgeBase
from retrieval.evaluation import runs, sets
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from tests.conversations.assistants.conftest import Make, make_assistant  # noqa: F401
from tests.conversations.conftest import index_document
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

RESET, PORTS = "How do I restore the factory settings of the switch?", "How many ports has the TL-SE2109?"


@pytest.fixture
def curator(owner: User) -> User:
    owner.user_permissions.add(Permission.objects.get(codename="change_assistant"))
    return owner


@pytest.fixture
def client(curator: User) -> Client:
    client = Client()
    client.force_login(curator)
    return client


@pytest.fixture
def golden(curator: User, handbook: KnowledgeBase) -> EvaluationSet:
    made = sets.create_set(curator, handbook, "Golden")
    for question, words in ((RESET, "reset button"), (PORTS, "nine ports")):
        sets.add_question(made, question, [Chunk.objects.get(content__contains=words).pk])
    return made


@pytest.fixture
def desk(make_assistant: Make, golden: EvaluationSet) -> Assistant:  # noqa: F811
    return make_assistant("Help desk", enabled=False, question_set=golden)


def form(golden: EvaluationSet, **fields: Any) -> dict[str, Any]:
    return {"name": "Help desk", "everyone": "on", "question_set": golden.pk, **fields}


def rehearse(client: Client, desk: Assistant, golden: EvaluationSet, **fields: Any) -> Rehearsal:
    answer = client.post(reverse("assistant", args=[desk.pk]), form(golden, rehearse="1", **fields))
    assert answer.status_code == 302, answer.content.decode()
    made = Rehearsal.objects.latest("pk")
    assert answer["Location"] == reverse("rehearsal", args=[desk.pk, made.pk])
    return made


def work() -> int:
    queued = list(EvaluationRun.objects.filter(status="queued").order_by("pk"))
    return sum(runs.execute(run.pk) for run in queued)


def page_of(client: Client, made: Rehearsal, **query: str) -> str:
    return client.get(reverse("rehearsal", args=[made.assistant_id, made.pk]), query).content.decode()


def test_a_change_is_rehearsed_edited_further_and_made_live(
    client: Client, desk: Assistant, golden: EvaluationSet
) -> None:
    # The scope contains no answers: everything gets worse.
    elsewhere = {"knowledge_bases": [str(golden.knowledge_base_id)], "option_FUSED_K": "1", "greeting": "Hello."}
    made = rehearse(client, desk, golden, **elsewhere, option_RELEVANCE_THRESHOLD="100")
    assert desk.versions.count() == 1, "it is not live"
    assert "Waiting for a worker" in page_of(client, made) and "hx-get" in page_of(client, made)
    assert work() == 2
    page = page_of(client, made)
    assert "Better on 0 questions, worse on 2, the same on 0." in page and "this may be chance" in page
    assert RESET in page and "Nothing found" in page and "<mark>Hold the reset button" in page
    assert 'aria-current="true">Worse' in page
    for show in ("better", "answers", "states", "all", "nonsense"):
        assert client.get(reverse("rehearsal", args=[desk.pk, made.pk]), {"show": show}).status_code == 200

    edited = client.get(reverse("assistant", args=[desk.pk]), {"rehearsal": made.pk}).content.decode()
    assert 'value="100"' in edited and "Hello." in edited and "Not saved" not in edited
    again = rehearse(client, desk, golden, **elsewhere)
    assert again.beside == made.beside and work() == 1, "the live version is unchanged and isn't run again"
    page = page_of(client, again)
    assert "Every question scores the same as before." in page
    live = client.post(reverse("rehearsal", args=[desk.pk, again.pk]), follow=True).content.decode()
    assert "“Help desk” was saved. Version 2 applies from the next question." in live
    newest = desk.versions.latest("number")
    assert newest.number == 2 and newest.configuration["settings"] == {"FUSED_K": 1}
    assert again.run is not None
    again.run.refresh_from_db()
    assert again.run.settings == {"assistant": desk.pk, "assistant_version": 2, "assistant_name": "Help desk · 2"}
    assert "in use" in page_of(client, again)
    assert "Version 2 was saved in the meantime" in page_of(client, made)
    third = rehearse(client, desk, golden, **elsewhere | {"greeting": "Hi."})
    assert third.beside == again.run, "its rehearsal is the run of version 2"


def test_the_live_version_is_run_again_after_changes(client: Client, desk: Assistant, golden: EvaluationSet) -> None:
    first = rehearse(client, desk, golden)
    work()
    index_document(golden.knowledge_base, ("The garden fence is green.",), "garden.txt")
    second = rehearse(client, desk, golden)
    assert second.beside != first.beside
    work()
    golden.questions.filter(text=PORTS).update(text="How many ports are there?")
    assert rehearse(client, desk, golden).beside not in (first.beside, second.beside)


def test_a_rehearsal_needs_questions_that_the_user_can_see(
    client: Client,
    desk: Assistant,
    golden: EvaluationSet,
    make_assistant: Make,  # noqa: F811
) -> None:
    address = reverse("assistant", args=[desk.pk])
    Assistant.objects.update(question_set=None)
    refused = client.post(address, form(golden, rehearse="1", question_set=""))
    assert refused.status_code == 422 and "Choose the questions" in refused.content.decode()
    empty = sets.create_set(golden.owner, golden.knowledge_base, "Empty")
    refused = client.post(address, form(empty, rehearse="1"))
    assert refused.status_code == 422 and "This set has no questions yet." in refused.content.decode()
    assert not Rehearsal.objects.exists() and not EvaluationRun.objects.exists()

    other = User.objects.create_user("other")
    other.user_permissions.add(Permission.objects.get(codename="change_assistant"))
    Assistant.objects.filter(pk=desk.pk).update(question_set=golden)
    stranger = Client()
    stranger.force_login(other)
    page = stranger.get(address).content.decode()
    assert "Golden" not in page and "Rehearse" not in page
    assert stranger.post(address, form(golden, rehearse="1")).status_code == 422
    stranger.post(address, form(golden, name="Desk", question_set=""))
    desk.refresh_from_db()
    assert desk.name == "Desk" and desk.question_set == golden, "bases they can't see are kept"
    made = rehearse(client, desk, golden)
    work()
    shown = page_of(stranger, made)
    assert "not shared with you" in shown and RESET not in shown


def test_a_form_that_became_invalid_is_edited_again(
    client: Client,
    desk: Assistant,
    golden: EvaluationSet,
    make_assistant: Make,  # noqa: F811
) -> None:
    made = rehearse(client, desk, golden, name="Front desk")
    make_assistant("Front desk")
    said = client.post(reverse("rehearsal", args=[desk.pk, made.pk]), follow=True).content.decode()
    assert "This change can no longer be saved." in said and "already exists" in said
    assert desk.versions.count() == 1


def test_failing_models_and_deleted_runs_are_reported(
    client: Client, desk: Assistant, golden: EvaluationSet, fake_llm: FakeLLM
) -> None:
    made = rehearse(client, desk, golden)
    desk.versions.update(configuration={"pipeline": "gone"})
    fake_llm.enqueue("Nine. [1]", "Nine. [1]")
    assert work() == 1
    assert "There is no pipeline “gone”" in page_of(client, made)
    assert made.beside is not None
    made.beside.delete()
    assert "was deleted" in page_of(client, made)


def test_missing_passages_are_reported(client: Client, desk: Assistant, golden: EvaluationSet) -> None:
    made = rehearse(client, desk, golden)
    Chunk.objects.filter(content__contains="nine ports").delete()
    assert work() == 2
    page = page_of(client, made)
    assert "1 relevant passage is no longer in the knowledge base and was left out." in page
    assert "1 question was skipped: none of its relevant passages exists any more." in page


def test_a_rehearsal_asks_no_more_queries_for_more_questions(
    client: Client, desk: Assistant, golden: EvaluationSet, django_assert_max_num_queries: Any
) -> None:
    made = rehearse(client, desk, golden, option_FUSED_K="1")
    work()
    with django_assert_max_num_queries(20):
        page_of(client, made, show="all")

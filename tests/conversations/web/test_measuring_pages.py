"""Assistants in the evaluation's pages and API, and in the playground."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations.models import Assistant
from knowledge.models import Chunk, KnowledgeBase
from retrieval.evaluation import runs, sets
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from retrieval.web.answer_differences import Piece, differences
from tests.conversations.assistants.conftest import Make, make_assistant  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)

RESET, PORTS = "How do I restore the factory settings of the switch?", "How many ports has the TL-SE2109?"


@pytest.fixture
def golden(owner: User, handbook: KnowledgeBase) -> EvaluationSet:
    made = sets.create_set(owner, handbook, "Golden")
    for question, words in ((RESET, "reset button"), (PORTS, "nine ports")):
        sets.add_question(made, question, [Chunk.objects.get(content__contains=words).pk])
    return made


@pytest.fixture
def client(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def desk(make_assistant: Make) -> Assistant:  # noqa: F811
    return make_assistant("Help desk")


@pytest.fixture
def terse(make_assistant: Make) -> Assistant:  # noqa: F811
    """An assistant that never finds an answer."""
    return make_assistant("Terse", {"settings": {"RELEVANCE_THRESHOLD": 100}})


def work() -> None:
    for run in EvaluationRun.objects.filter(status="queued").order_by("pk"):
        runs.execute(run.pk)


def test_two_assistants_answer_side_by_side(
    client: Client, golden: EvaluationSet, desk: Assistant, terse: Assistant
) -> None:
    page = client.get(reverse("evaluation-set", args=[golden.pk])).content.decode()
    assert "Help desk · 1" in page and "Answers 2 questions in full" in page
    begin = reverse("evaluation-set-answers", args=[golden.pk])
    chosen = {"assistant": f"{terse.pk}.1", "beside": f"{desk.pk}.1"}
    assert client.post(begin, chosen, headers={"HX-Request": "true"}).headers["HX-Redirect"]
    begun = client.post(begin, chosen)
    first, second = EvaluationRun.objects.order_by("pk")
    address = begun.headers["Location"]
    assert address == f"{reverse('evaluation-run', args=[first.pk])}?with={second.pk}"
    runs.execute(first.pk)
    assert "finished yet" in client.get(address).content.decode()
    work()
    page = client.get(address).content.decode()
    assert "Better on 0 questions, worse on 2, the same on 0." in page
    assert "nDCG@10 changes by -1.000, p = 0.50: this may be chance." in page
    assert page.count("<mark>") >= 2 and "The median answer took" in page
    states = client.get(address + "&show=states").content.decode()
    assert "Different outcome" in states and states.count('class="result"') == 2
    assert client.get(address + "&show=better").content.decode().count('class="result"') == 0
    # Each is compared with the previous run of the same assistant.
    client.post(begin, {"assistant": f"{desk.pk}.1"})
    work()
    newest = EvaluationRun.objects.latest("pk")
    page = client.get(reverse("evaluation-run", args=[newest.pk])).content.decode()
    assert "Every question scores the same as before." in page
    assert f'value="{second.pk}" selected' in page


def test_inaccessible_assistants_are_neither_offered_nor_accepted(
    client: Client,
    golden: EvaluationSet,
    make_assistant: Make,  # noqa: F811
) -> None:
    secret = make_assistant("Secret", everyone=False)
    assert "Secret" not in client.get(reverse("evaluation-set", args=[golden.pk])).content.decode()
    begin = reverse("evaluation-set-answers", args=[golden.pk])
    said = client.post(begin, {"assistant": f"{secret.pk}.1"}, follow=True).content.decode()
    assert "Choose an assistant." in said
    answer = client.post(
        reverse("api-evaluation-runs", args=[golden.pk]), {"assistant": secret.pk}, content_type="application/json"
    )
    assert answer.status_code == 404 and answer.json()["code"] == "no_assistant"
    page = client.post(reverse("playground"), {"q": RESET, "a-assistant": f"{secret.pk}.1"}).content.decode()
    assert "is invalid. See" in page and "Hold the reset" not in page.split('data-side="b"')[0]
    assert not EvaluationRun.objects.exists()


def test_the_api_runs_an_assistant(client: Client, golden: EvaluationSet, desk: Assistant) -> None:
    def start(**body: Any) -> Any:
        address = reverse("api-evaluation-runs", args=[golden.pk])
        return client.post(address, json.dumps(body), content_type="application/json")

    made = start(assistant=desk.pk, assistant_version=1)
    assert made.status_code == 202 and made.json()["summary"] == "Help desk · 1"
    assert start(assistant=desk.pk, per_document=3).status_code == 409
    work()
    run = client.get(reverse("api-evaluation-run", args=[made.json()["id"]])).json()
    assert run["status"] == "done" and run["usage"]["median_ms"] >= 0
    results = client.get(reverse("api-evaluation-results", args=[run["id"]])).json()["results"]
    assert "Hold the reset button" in results[0]["answer"] and results[0]["citations"][0]["title"] == "handbook.txt"


def test_the_playground_runs_assistants_on_request(client: Client, handbook: KnowledgeBase, desk: Assistant) -> None:
    query = {"q": RESET, "a-assistant": f"{desk.pk}.1", "b-mode": "hybrid"}
    looked = client.get(reverse("playground"), query).content.decode()
    assert "“Help desk · 1” answers when you press Search." in looked
    assert looked.count('class="hit-list"') == 1
    asked = client.post(
        reverse("playground"), query | {"ask": "1"}, headers={"HX-Request": "true", "HX-Target": "results"}
    )
    page = asked.content.decode()
    assert "Hold the reset button for ten seconds" in page and "Answered" in page and "Searched for:" in page
    assert (page.count('class="hit-list"') == 2 and "are on both sides" in page) or "is on both sides" in page
    assert "csrf" not in asked.headers["HX-Push-Url"] and f"a-assistant={desk.pk}.1" in asked.headers["HX-Push-Url"]
    desk.delete()
    assert "a-assistant" in client.get(reverse("playground"), query).content.decode()


def test_sentences_in_only_one_answer_are_highlighted() -> None:
    one, other = differences("Hold it. [1] Then wait.\nDone.", "Hold it. [2] Then let go.\nDone.")
    assert [piece.text for piece in one if piece.only] == ["Then wait."]
    assert [piece.text.strip() for piece in other if piece.only] == ["Then let go."]
    assert "".join(piece.text + piece.space for piece in one) == "Hold it. [1] Then wait.\nDone."
    assert differences("", "New.") == ([], [Piece("New.", True)])
    assert differences("按住十秒。完成。", "完成。")[0][0].only

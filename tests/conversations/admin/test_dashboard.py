"""The admin's dashboard: its figures, its permissions and its queries."""

import gzip
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags
from pgvector import HalfVector

from conversations.admin.dashboard import charts, unanswered
from conversations.models import Feedback, Message, ModelProfile, TraceStep, Turn
from ragsite.admin_base import SECTIONS
from ragsite.llm import secrets
from retrieval.models import EmbeddingSpace
from tests import factories
from tests.benchmarks.conversations.administration import filling
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db
INDEX = reverse("admin:index")
MOST_QUERIES = 20


def shown(client: Client, **query: Any) -> Any:
    return client.get(INDEX, query).context


def ask(owner: User, question: str, state: str = "nothing", days: float = 0, **fields: Any) -> Message:
    answer = make_turn(make_session(owner), question, answer_state=state, **fields)
    if days:
        earlier = timezone.now() - timedelta(days=days)
        Turn.objects.filter(pk=answer.turn_id).update(created_at=earlier)
        Message.objects.filter(turn=answer.turn_id).update(created_at=earlier)
    return answer


def make_space(dimension: int, **fields: Any) -> EmbeddingSpace:
    address = {"base_url": "http://localhost:9/v1", "encrypted_key": secrets.encrypt("key")}
    return EmbeddingSpace.objects.create(provider="openai", model="m", dimension=dimension, **address, **fields)


def asked(number: int, text: str, vector: list[float] | None = None, user: int = 1) -> unanswered.Asked:
    direction = unanswered.direction(None if vector is None else HalfVector(vector))
    return unanswered.Asked(number, text, user, timezone.now() + timedelta(seconds=number), 1, direction)


def test_questions_are_counted_by_outcome(owner: User, colleague: User, as_staff: Client) -> None:
    ask(owner, "Which port?", "answered")
    ask(owner, "Which colour?", "nearest")
    ask(colleague, "Which wine?", "nothing")
    ask(colleague, "Hello", "", status="completed")
    ask(colleague, "Why?", "answered", status="failed")
    ask(colleague, "How?", "answered", status="stopped")
    ask(colleague, "Long ago?", "answered", days=20)
    context = shown(as_staff, days=7)
    assert {each["slug"]: each["count"] for each in context["outcomes"]} == {
        "answered": 1, "nearest": 1, "nothing": 1, "talk": 1, "failed": 1, "stopped": 1,
    }  # fmt: skip
    assert (context["question_count"], context["people"], context["days"]) == (6, 2, 7)
    assert len(context["chart"].columns) == 7 and len(context["chart"].columns[-1].segments) == 6
    assert context["table"][0][1] == 6 and sum(row[1] for row in context["table"][1:]) == 0
    assert shown(as_staff)["question_count"] == 7


@pytest.mark.parametrize("days", ["1000000", "x", "", "-7", "７"])
def test_invalid_periods_become_the_default(as_staff: Client, days: str) -> None:
    assert shown(as_staff, days=days)["days"] == 30


def test_continuing_an_answer_is_not_a_question(owner: User, as_staff: Client) -> None:
    answer = ask(owner, "Which port?", "answered")
    rest = make_turn(answer.turn.session, "Which port?", parent=answer.turn)
    Turn.objects.filter(pk=rest.turn_id).update(continues=True)
    assert shown(as_staff)["question_count"] == 1


def test_latency_shows_median_and_95th_percentile(owner: User, as_staff: Client) -> None:
    turn = ask(owner, "Which port?", duration_ms=1500).turn
    TraceStep.objects.filter(turn=turn).delete()
    TraceStep.objects.bulk_create(
        TraceStep(turn=turn, order=order, key="search", status="completed", started_at=timezone.now(), ms=ms)
        for order, ms in enumerate([100, 200, 9000])
    )
    TraceStep.objects.create(turn=turn, order=9, key="rewrite", status="skipped", started_at=timezone.now())
    search, whole = shown(as_staff)["latencies"]
    assert (search.name, search.count, search.middle, search.most) == ("Search", 3, "0.2 s", "8.1 s")
    assert (whole.name, whole.middle) == ("Whole answer", "1.5 s")
    assert '<rect class="p95" width="100"' in as_staff.get(INDEX).content.decode()


def test_cost_is_shown_if_a_profile_has_prices(owner: User, as_staff: Client, settings: Any) -> None:
    for model in ("large", "large", "free", "extractive"):
        usage = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000} if model != "extractive" else {}
        answer = ask(owner, "Which port?", usage=usage)
        Turn.objects.filter(pk=answer.turn_id).update(model=model)
    prices = {"input_price": Decimal("0.5"), "output_price": Decimal("2")}
    ModelProfile.objects.create(purpose="answer", base_url="https://example.org", model="large", **prices)
    settings.LLM_CURRENCY = "CNY"
    context = shown(as_staff)
    assert [(row.name, row.answers, row.read, row.price) for row in context["models"]] == [
        ("large", 2, 2_000_000, "3.00 CNY"),
        ("free", 1, 1_000_000, ""),
        ("Quoting, without a model", 1, 0, ""),
    ]
    assert context["total_cost"] == "3.00 CNY"


def test_negative_feedback_links_to_its_sessions(owner: User, as_staff: Client) -> None:
    answer = ask(owner, "Which port?", "answered")
    Feedback.objects.create(message=answer, user=owner, value=-1, reason="wrong", comment="It is port 8.")
    page = as_staff.get(INDEX).content.decode()
    session = reverse("admin:conversations_chatsession_change", args=[answer.turn.session_id])
    assert f"{session}?turn={answer.turn_id}" in page and "It is port 8." in page


def test_unanswered_questions_link_to_documents_and_sets(owner: User, staff: User, as_staff: Client) -> None:
    base = factories.make_knowledge_base(staff, name="Travel")
    factories.make_knowledge_base(owner, name="Drinks")
    for user in (owner, staff):
        answer = ask(user, "How do I claim travel expenses?", days=1)
        answer.turn.session.knowledge_bases.add(base)
    ask(owner, "Which wine?")
    ask(owner, "Which port?", "answered")
    page = as_staff.get(INDEX).content.decode()
    groups = shown(as_staff)["groups"]
    assert [(row["group"].text, row["group"].count, row["group"].people) for row in groups["rows"]] == [
        ("How do I claim travel expenses?", 2, 2),
        ("Which wine?", 1, 1),
    ]
    assert f'href="{reverse("knowledge-base", args=[base.pk])}"' in page
    assert f"{reverse('playground')}?q=How+do+I+claim+travel+expenses%3F" in page
    choice = as_staff.get(groups["rows"][1]["add_document"])
    assert "the document that answers “Which wine?” belongs" in choice.content.decode()
    assert [base.name for base in choice.context["mine"] + choice.context["others"]] == ["Travel", "Drinks"]


def test_a_document_for_a_question_to_all_bases_is_added_to_the_only_base(
    owner: User, staff: User, as_staff: Client
) -> None:
    ask(owner, "Which wine?")
    (row,) = shown(as_staff)["groups"]["rows"]
    assert row["add_document"] == f"{reverse('knowledge')}?answers=Which+wine%3F"
    base = factories.make_knowledge_base(staff, name="Travel")
    (row,) = shown(as_staff)["groups"]["rows"]
    assert (row["add_document"], row["base"]) == (reverse("knowledge-base", args=[base.pk]), "Travel")


def test_questions_in_other_words_are_grouped_by_vectors(owner: User, as_staff: Client) -> None:
    space = make_space(3)
    for text, vector in (("Parental leave?", [1, 0.1, 0]), ("Time off for fathers", [1, 0, 0.1]), ("Wine?", [0, 1, 0])):
        turn = ask(owner, text).turn
        Turn.objects.filter(pk=turn.pk).update(embedding=HalfVector(vector), embedding_space=space)
    assert [row["group"].count for row in shown(as_staff)["groups"]["rows"]] == [2, 1]


def test_vectors_in_unsupported_languages_are_not_used_for_grouping(owner: User, as_staff: Client) -> None:
    space = make_space(2, languages=["en"])
    for text in ("路灯坏了怎么报修？", "演唱会几点开始？", "Parental leave?", "Time off for fathers"):
        turn = ask(owner, text).turn
        Turn.objects.filter(pk=turn.pk).update(embedding=HalfVector([1, 0]), embedding_space=space)
    assert [row["group"].count for row in shown(as_staff)["groups"]["rows"]] == [2, 1, 1]


def test_groups_are_made_by_vectors_words_and_codes() -> None:
    questions = [
        asked(1, "How do I claim travel expenses?", [1, 0]),
        asked(2, "Where can I get the costs of a trip back?", [0.9, 0.2]),
        asked(3, "how do i claim travel expenses", None),
        asked(4, "How many ports has the LS-2400?", [0, 1]),
        asked(5, "How many ports has the LS-4800?", [0, 1]),
    ]
    made = unanswered.groups(questions)
    assert [[each.turn_id for each in group.questions] for group in made] == [[1, 2, 3], [5], [4]]
    assert made[0].text == "how do i claim travel expenses"
    assert made[0].wordings == ["Where can I get the costs of a trip back?"]
    assert unanswered.groups(questions) == made
    assert unanswered.groups([]) == []


def test_vectors_of_different_models_are_not_compared() -> None:
    one, other = asked(1, "Parental leave?", [1, 0]), asked(2, "Fathers?", [1, 0])
    assert len(unanswered.groups([one, other])) == 1
    assert len(unanswered.groups([one, unanswered.Asked(2, "Fathers?", 1, other.at, 2, other.vector)])) == 2


def test_only_the_newest_are_grouped(owner: User, as_staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unanswered, "LOOKED_AT", 2)
    for text, days in (("Old wine?", 3), ("Newer cheese?", 2), ("Newest bread?", 1)):
        ask(owner, text, days=days)
    groups = shown(as_staff)["groups"]
    assert [row["group"].text for row in groups["rows"]] == ["Newest bread?", "Newer cheese?"] and groups["is_capped"]


@pytest.mark.parametrize(("most", "top"), [(0, 2), (1, 2), (3, 4), (9, 10), (10, 10), (11, 20), (61, 80), (1234, 2000)])
def test_axes_end_at_round_numbers(most: int, top: int) -> None:
    assert charts.round_up(most) == top


def test_columns_fill_their_height() -> None:
    chart = charts.stacked([[2, 2], [0, 0]], ["a", "b"], ["Monday", "Tuesday"])
    first, second = chart.columns
    assert [(part.slug, part.y, part.height) for part in first.segments] == [("a", 50.0, 50.0), ("b", 0.0, 50.0)]
    assert second.segments == [] and chart.values == ["4", "2", "0"]


def test_documents_and_disk_space_are_shown(owner: User, as_staff: Client) -> None:
    base = factories.make_knowledge_base(owner)
    factories.make_document(base, "broken.pdf", status="failed")
    factories.make_document(base, "waiting.pdf", status="queued")
    context = shown(as_staff)
    assert context["ingestion"].waiting == 1 and context["ingestion"].failed[0].original_filename == "broken.pdf"
    assert context["sizes"].database > context["sizes"].index > 0


def test_the_page_needs_a_fixed_number_of_queries(owner: User, as_staff: Client) -> None:
    counts = []
    for _round in range(2):
        filling.fill(120)
        ask(owner, "Which wine?")
        as_staff.get(INDEX)  # the user is cached and not queried again
        with CaptureQueriesContext(connection) as queries:
            assert as_staff.get(INDEX, {"days": 90}).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= MOST_QUERIES


@pytest.mark.parametrize(
    ("permissions", "there", "missing"),
    [
        ([], (), ("days", "ingestion")),
        (["view_document"], ("ingestion",), ("days", "groups", "models")),
        (["view_message", "view_turn"], ("days", "groups"), ("ingestion", "models", "thumbs_down")),
        (
            ["view_message", "view_turn", "view_feedback", "view_modelprofile"],
            ("thumbs_down", "models"),
            ("ingestion",),
        ),
    ],
)
def test_users_see_what_their_permissions_allow(
    owner: User, permissions: list[str], there: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    ask(owner, "A question about zanzibar?")
    user = factories.make_user("helper", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    response = client.get(INDEX)
    assert all(name in response.context for name in there) and all(name not in response.context for name in missing)
    assert ("zanzibar" in response.content.decode()) == ("view_message" in permissions)


def test_users_who_can_connect_a_model_get_a_link(as_staff: Client) -> None:
    link = reverse("admin:conversations_modelprofile_set_up")
    assert link in as_staff.get(INDEX).content.decode()
    ModelProfile.objects.create(purpose="answer", base_url="https://example.org", model="m")
    assert link not in as_staff.get(INDEX).content.decode()


def test_few_resources_block_the_first_paint(as_staff: Client) -> None:
    response = as_staff.get(INDEX, headers={"accept-encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    head = gzip.decompress(response.content).decode().partition("</head>")[0]
    assert len(re.findall(r'<link rel="stylesheet"', head)) == 2
    assert len([tag for tag in re.findall(r"<script[^>]*>", head) if "defer" not in tag]) == 1


def test_every_list_is_in_one_section(as_staff: Client) -> None:
    apps = as_staff.get(INDEX).context["app_list"]
    assert [app["app_label"] for app in apps] == [*(key for key, *_rest in SECTIONS), "works"]
    labels = [row["model"]._meta.label for app in apps for row in app["models"] if "model" in row]
    assert len(labels) == len(set(labels))
    from django.contrib import admin

    assert set(labels) == {model._meta.label for model in admin.site._registry}
    assert {label for *_rest, named in SECTIONS for label in named} <= set(
        labels
    )  # no section names a model that doesn't exist


def test_a_session_is_shown_as_a_transcript(owner: User, as_staff: Client) -> None:
    check = {
        "text": "Hold the button.", "sources": [1], "status": "partly", "coverage": 0.5,
        "problems": [{"kind": "number", "what": "8"}],
    }  # fmt: skip
    first = ask(owner, "How do I <b>reset</b> it?", "answered", checks=[check])
    session = first.turn.session
    make_turn(session, "Another version?", parent=first.turn)
    newest = make_turn(session, "And then?", parent=first.turn)
    Feedback.objects.create(message=newest, user=owner, value=-1, comment="No use.")
    url = reverse("admin:conversations_chatsession_change", args=[session.pk])
    page = as_staff.get(url).content.decode()
    assert "How do I &lt;b&gt;reset&lt;/b&gt; it?" in page and "And then?" in page and "No use." in page
    assert "Another version?" not in page and "version 2 of 2" in page
    assert "Partly supported" in page and "is not in the source in this context" in page
    assert "Understand the question" in page and "Hold the reset button." in strip_tags(page)
    assert str(first.turn.request_id) not in page and f"#answer-{first.pk}-source-1" in page
    other = Turn.objects.exclude(pk__in=[first.turn_id, newest.turn_id]).get()
    assert "Another version?" in as_staff.get(url, {"turn": other.pk}).content.decode()
    assert as_staff.get(url, {"turn": "x", "until": "9" * 30}).status_code == 200


def test_users_who_can_only_see_sessions_see_no_messages(owner: User) -> None:
    session = ask(owner, "A question about zanzibar?").turn.session
    looker = factories.make_user("looker", is_staff=True)
    looker.user_permissions.set(Permission.objects.filter(codename="view_chatsession"))
    client = Client()
    client.force_login(looker)
    response = client.get(reverse("admin:conversations_chatsession_change", args=[session.pk]))
    assert response.status_code == 200 and "zanzibar" not in response.content.decode().replace(session.title, "")


def test_lists_and_headings_show_questions(owner: User, as_staff: Client) -> None:
    answer = ask(owner, "How do I reset it?")
    for model, item in (("turn", answer.turn), ("tracestep", answer.turn.trace.get()), ("message", answer)):
        listed = as_staff.get(reverse(f"admin:conversations_{model}_changelist")).content.decode()
        assert str(answer.turn.request_id) not in listed, model
        page = as_staff.get(reverse(f"admin:conversations_{model}_change", args=[item.pk])).content.decode()
        assert "How do I reset it?" in page, model

"""Tests of evaluations of assistants: stored answers, access, and failures."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from conversations.assistants.choice import save_version
from conversations.assistants.configuration import Configuration
from conversations.memory import facts
from conversations.models import Assistant, ChatSession, MemoryFact, Rehearsal, Turn
from conversations.turns.evaluated import AssistantAnswerer
from knowledge.models import Chunk, KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import ProviderError
from ragsite.llm.types import TextPiece, UsagePiece
from retrieval.evaluation import runs, sets
from retrieval.evaluation.answering import AnswererRefused
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.runs import RunFailed
from retrieval.evaluation.sets import SetRefused
from tests.conversations.assistants.conftest import Make, make_assistant  # noqa: F401
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

RESET, PORTS = "How do I restore the factory settings of the switch?", "How many ports has the TL-SE2109?"


@pytest.fixture
def golden(owner: User, handbook: KnowledgeBase) -> EvaluationSet:
    made = sets.create_set(owner, handbook, "Golden")
    for question, words in ((RESET, "reset button"), (PORTS, "nine ports")):
        sets.add_question(made, question, [Chunk.objects.get(content__contains=words).pk])
    return made


@pytest.fixture
def desk(make_assistant: Make) -> Assistant:  # noqa: F811
    return make_assistant("Help desk")


def by(assistant: Assistant, **more: Any) -> RunOptions:
    return RunOptions.from_dict({"assistant": assistant.pk, **more})


def test_run_stores_the_answers_of_an_assistant(owner: User, golden: EvaluationSet, desk: Assistant) -> None:
    run = runs.run(golden, by(desk), owner)
    assert run.settings == {"assistant": desk.pk, "assistant_version": 1, "assistant_name": "Help desk · 1"}
    assert RunOptions.from_stored(run.settings).label == "Help desk · 1"
    reset, ports = run.results.order_by("pk")
    assert "Hold the reset button for ten seconds" in reset.answer and "[1]" in reset.answer
    assert [cited["title"] for cited in reset.citations] == ["handbook.txt"]
    assert (reset.answer_state, reset.error, ports.answer_state) == ("answered", "", "answered")
    assert "nine ports" in ports.answer
    assert run.figures["recall@10"] == 1.0 and run.answer_states == {"answered": 2}
    assert run.usage["median_ms"] > 0 and "completion_tokens" not in run.usage
    assert not ChatSession.objects.exists() and not Turn.objects.exists()


def test_settings_bases_and_versions_of_the_assistant_apply(
    owner: User, golden: EvaluationSet, desk: Assistant
) -> None:
    other = sets.create_set(owner, golden.knowledge_base, "Other").knowledge_base
    save_version(desk, Configuration(settings={"MERGE_NEIGHBOURS": False}), None)
    save_version(desk, Configuration(settings={"FUSED_K": 1, "MERGE_NEIGHBOURS": False}), None)
    newest = runs.run(golden, by(desk), owner)
    assert [len(result.hits) for result in newest.results.all()] == [1, 1], "no more than it keeps"
    second = runs.run(golden, by(desk, assistant_version=2), owner)
    assert second.settings["assistant_version"] == 2 and all(len(result.hits) > 1 for result in second.results.all())
    save_version(desk, Configuration(knowledge_bases=(other.pk + 1000,)), None)
    elsewhere = runs.run(golden, by(desk), owner)
    assert elsewhere.figures["recall@10"] == 0.0


def test_model_writes_answers_and_tokens_are_counted(
    owner: User, golden: EvaluationSet, desk: Assistant, fake_llm: FakeLLM
) -> None:
    for _question in range(2):
        fake_llm.enqueue([TextPiece("Hold it. [1]"), UsagePiece(prompt_tokens=100, completion_tokens=5)])
    run = runs.run(golden, by(desk), owner)
    assert {result.answer for result in run.results.all()} == {"Hold it. [1]"}
    assert run.usage["prompt_tokens"] == 200 and run.usage["completion_tokens"] == 10
    assert run.results.first().usage == {"prompt_tokens": 100, "completion_tokens": 5}  # type: ignore[union-attr]


def test_failures_are_stored_and_end_the_run_only_if_all_fail(
    owner: User, golden: EvaluationSet, desk: Assistant, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue(ProviderError(), "Nine. [1]")
    run = runs.run(golden, by(desk), owner)
    failed = run.results.exclude(error="").get()
    assert "did not answer" in failed.answer and failed.hits, "its search counts, and quotes stand in for the model"
    assert run.status == "done" and run.notes_said == [f"{failed.error} (1 question)"]
    fake_llm.enqueue(ProviderError(), ProviderError())
    with pytest.raises(RunFailed):
        runs.run(golden, by(desk), owner)
    assert EvaluationRun.objects.latest("pk").error == failed.error


def test_only_users_of_an_assistant_can_measure_it(
    owner: User,
    golden: EvaluationSet,
    make_assistant: Make,  # noqa: F811
) -> None:
    secret = make_assistant("Secret", everyone=False)
    for wanted in (by(secret), by(secret, assistant_version=7), RunOptions(assistant=4711)):
        with pytest.raises(SetRefused, match="or version doesn't exist") as refused:
            runs.start(golden, wanted, owner)
        assert refused.value.code == "no_assistant"
    assert not EvaluationRun.objects.exists()
    assert "Secret · 1" not in [each.name for each in AssistantAnswerer().offered(owner)]
    secret.people.add(owner)
    assert "Secret · 1" in [each.name for each in AssistantAnswerer().offered(owner)]
    with pytest.raises(SetRefused):
        runs.start(golden, by(secret, assistant_version=7), owner)
    assert runs.start(golden, by(secret), owner) == runs.start(golden, by(secret), owner), "asked twice"


@pytest.mark.parametrize("what", ["disabled", "deleted", "withdrawn", "unusable", "user"])
def test_unavailable_assistant_ends_the_run_with_an_error(
    owner: User, golden: EvaluationSet, desk: Assistant, what: str
) -> None:
    run = runs.start(golden, by(desk), owner)
    if what == "disabled":
        Assistant.objects.filter(pk=desk.pk).update(enabled=False)
    elif what == "deleted":
        desk.delete()
    elif what == "withdrawn":
        Assistant.objects.filter(pk=desk.pk).update(everyone=False)
    elif what == "unusable":
        desk.versions.update(configuration={"pipeline": "gone"})
    else:
        User.objects.filter(pk=owner.pk).update(is_active=False)
    assert not runs.execute(run.pk)
    run.refresh_from_db()
    expected = {"unusable": "There is no pipeline “gone”", "user": "no longer active"}.get(
        what, "or version doesn't exist"
    )
    assert run.status == "failed" and expected in run.error


def test_assistant_excludes_other_options() -> None:
    assert RunOptions.from_dict({"assistant": 3, "mode": "hybrid"}).to_dict() == {"assistant": 3}
    for given, message in (
        ({"assistant": 3, "reorder": True, "rrf_constant": 5}, "Leave out: reorder, rrf_constant"),
        ({"assistant": "Help desk"}, "“assistant” must be a whole number"),
        ({"assistant": 3, "assistant_version": 0}, "“assistant_version” must be"),
        ({"assistant_version": 3}, "requires “assistant”"),
        ({"assistant": 3, "assistant_name": "x"}, "Unknown setting"),
        ({"assistant": 3, "rehearsal": 3}, "Unknown setting"),
    ):
        with pytest.raises(ValueError, match=message):
            RunOptions.from_dict(given)


def test_rehearsal_uses_the_changed_configuration(owner: User, golden: EvaluationSet, desk: Assistant) -> None:
    rehearsal = Rehearsal.objects.create(
        assistant=desk, user=owner, version=1, form="", configuration={"settings": {"FUSED_K": 1}}
    )
    options = RunOptions(assistant=desk.pk, assistant_version=1, rehearsal=rehearsal.pk)
    run = runs.run(golden, options, owner)
    assert [len(result.hits) for result in run.results.all()] == [1, 1]
    assert RunOptions.from_stored(run.settings).label == "Help desk · 1, changed"
    queued = runs.start(golden, options, owner)
    rehearsal.delete()
    assert not runs.execute(queued.pk)
    queued.refresh_from_db()
    assert "no longer exists" in queued.error


def test_memory_is_not_used_in_evaluations(
    owner: User, golden: EvaluationSet, desk: Assistant, fake_llm: FakeLLM
) -> None:
    facts.switch(owner.pk, True)
    facts.remember(owner.pk, "My switch is in room 4711.")
    sets.replace_questions(golden, sets.parse_questions([
        b'{"question": "Remember that I like tea. How many ports has the TL-SE2109?", "relevant": ["handbook.txt"]}'
    ]))  # fmt: skip
    fake_llm.enqueue("Nine. [1]")
    runs.run(golden, by(desk), owner)
    assert "4711" not in str(fake_llm.calls)
    assert MemoryFact.objects.count() == 1, "and nothing more is kept"


async def test_questions_are_asked_with_the_users_permissions(
    owner: User, stranger: User, handbook: KnowledgeBase
) -> None:
    default = await Assistant.objects.aget(is_default=True)
    asked = AssistantAnswerer()
    found = await in_database(asked.find, stranger, default.pk)
    assert not (await asked.answer(stranger, RESET, [handbook.pk], found)).hits
    answered = await asked.answer(owner, RESET, [handbook.pk], found)
    assert answered.queries and "search" in [step.key for step in answered.steps]
    assert (await asked.answer(owner, " ", [handbook.pk], found)).error == "Enter a question."
    with pytest.raises(AnswererRefused):
        await in_database(asked.find, owner, "Nobody")


def test_command_evaluates_an_assistant(owner: User, golden: EvaluationSet, desk: Assistant) -> None:
    def evaluate(**options: Any) -> str:
        out = StringIO()
        call_command("evaluate", "Golden", knowledge_base="Handbook", stdout=out, stderr=StringIO(), **options)
        return out.getvalue()

    out = evaluate(assistant="Help desk")
    assert out.splitlines()[0] == "Golden on Handbook, Help desk · 1; questions: 2"
    assert "recall@10  1.000" in out and "median_ms" in out
    assert EvaluationRun.objects.get().started_by == owner
    for options, message in (
        ({"assistant": "Nobody"}, "or version doesn't exist"),
        ({"assistant": "Help desk", "assistant_version": 9}, "doesn.t exist"),
        ({"assistant": "Help desk", "mode": "vector", "per_document": 2}, "Leave out: per_document"),
    ):
        with pytest.raises(CommandError, match=message):
            evaluate(**options)

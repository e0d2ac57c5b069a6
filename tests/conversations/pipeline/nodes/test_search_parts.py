"""Questions for several things, searched part by part, by rules and by a model, and their answers."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.assistants.choice import Choices, save_version
from conversations.assistants.configuration import Configuration
from conversations.events import plain_text
from conversations.models import Assistant
from conversations.pipeline.state import State
from conversations.prompts import side_calls
from conversations.turns import unstored
from conversations.turns.redaction import TraceVisibility
from knowledge.models import KnowledgeBase
from retrieval.search import SearchFailed, SearchRequest, SearchResult, search
from tests import factories
from tests.conversations.conftest import index_document
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

ASIDE = tuple(f"Chapter {number} is about gardens, kettles and the history of the house number {number}."
              for number in range(30))  # fmt: skip
SWITCHES = (
    "The TL-SE2109 has nine ports and is cooled by its case.",
    "The TL-SE2117 has seventeen ports and a quiet fan.",
    "The setting idle_limit tells how long a silent session may stay signed in.",
    "idle_limit is 45 minutes unless it is set.",
    "TL-SE2109 的保修期为三年。",
    "TL-SE2117 的保修期为五年。",
)


@pytest.fixture
def manual(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Manual")
    index_document(base, (*SWITCHES, *ASIDE), "manual.txt")
    return base


@pytest.fixture
def thorough(db: None) -> Choices:
    assistant = Assistant.objects.create(name="Thorough")
    save_version(assistant, Configuration(pipeline="thorough"), None)
    return Choices(assistant_id=assistant.pk)


def detail(state: State, key: str) -> dict[str, Any]:
    return next(entry.detail for entry in state.trace if entry.key == key)


async def test_each_of_two_things_is_found_and_answered_under_its_name(
    owner: User, manual: KnowledgeBase, thorough: Choices
) -> None:
    state = await unstored.answer(
        owner, "How many ports has the TL-SE2109? And how many has the TL-SE2117?", choices=thorough
    )
    text = plain_text(state.answer.blocks)
    assert state.plan.parts == ("How many ports has the TL-SE2109", "how many has the TL-SE2117")
    assert "nine ports" in text and "seventeen ports" in text
    assert text.index("How many ports has") < text.index("nine ports") < text.index("seventeen ports")
    assert [part.answer_state for part in state.found.parts] == ["answered", "answered"]
    assert state.found.answer_state == "answered" and "hold nothing" not in text


async def test_in_chinese_too(owner: User, manual: KnowledgeBase, thorough: Choices) -> None:
    state = await unstored.answer(owner, "TL-SE2109 的保修期是多久？TL-SE2117 的保修期又是多久？", choices=thorough)
    text = plain_text(state.answer.blocks)
    assert len(state.plan.parts) == 2 and "三年" in text and "五年" in text


async def test_a_part_without_results_is_named(owner: User, manual: KnowledgeBase, thorough: Choices) -> None:
    question = "How many ports has the TL-SE2109, and who invented the zeppelin airship?"
    state = await unstored.answer(owner, question, choices=thorough)
    text = plain_text(state.answer.blocks)
    assert "nine ports" in text and state.found.answer_state == "answered"
    assert "contain nothing on:" in text and text.index("contain nothing") < text.index("Who invented the zeppelin")
    trace = detail(state, "search_parts")
    assert [part["state"] for part in trace["rankings"]] == ["answered", "nothing"] and trace["rounds"] <= 2


async def test_the_second_round_searches_with_the_answer_to_the_first_part(
    owner: User, manual: KnowledgeBase, thorough: Choices
) -> None:
    question = "Which setting tells how long a silent session may stay? What is its default?"
    state = await unstored.answer(owner, question, choices=thorough)
    last = state.found.parts[-1]
    assert state.plan.dependent_parts == (1,) and len(last.queries) == 2 and "idle_limit" in last.queries[1]
    assert any("45 minutes" in hit.content for hit in state.found.hits[:3])


async def test_learned_words_are_hidden_from_users_who_may_not_read_the_passages(
    owner: User, manual: KnowledgeBase, thorough: Choices
) -> None:
    question = "Which setting tells how long a silent session may stay? What is its default?"
    state = await unstored.answer(owner, question, choices=thorough)
    trace = detail(state, "search_parts")
    ids = frozenset(hit["chunk_id"] for ranking in trace["rankings"] for hit in ranking["hits"])
    assert TraceVisibility(ids, frozenset()).detail(trace) == trace and trace["rankings"][1]["learned"]
    assert "idle_limit" not in str(TraceVisibility(frozenset(), frozenset()).detail(trace))


async def test_a_single_round_does_not_search_again(
    owner: User, manual: KnowledgeBase, thorough: Choices, settings: Any
) -> None:
    settings.THOROUGH_ROUNDS = 1
    question = "Which setting tells how long a silent session may stay? What is its default?"
    state = await unstored.answer(owner, question, choices=thorough)
    assert [len(part.queries) for part in state.found.parts] == [1, 1]


async def test_a_question_for_one_thing_is_answered_as_by_default(
    owner: User, manual: KnowledgeBase, thorough: Choices
) -> None:
    question = "How many ports has the TL-SE2109?"
    whole, default = [await unstored.answer(owner, question, choices=choices) for choices in (thorough, Choices())]
    assert whole.plan.parts == () and not whole.found.parts
    assert whole.answer.blocks == default.answer.blocks and whole.found.hits == default.found.hits
    assert not [entry for entry in default.trace if entry.key in ("split", "search_parts")]


async def test_a_model_splits_the_question_and_names_missing_parts(
    owner: User, manual: KnowledgeBase, thorough: Choices, fake_llm: FakeLLM
) -> None:
    fake_llm.serves |= {"split", "missing"}
    fake_llm.enqueue(
        '{"parts": ["ports of the TL-SE2109", "how long may nobody do anything?", "who built the zeppelin airship?"]}',
        '{"missing": [{"part": 2, "query": "idle_limit minutes"}, {"part": 9, "query": "none"}, {"part": 3}]}',
        "Nine ports [1]; 45 minutes [2].",
    )
    state = await unstored.answer(owner, "Ports, idleness and zeppelins, please?", choices=thorough)
    assert [part.queries[1:] for part in state.found.parts] == [[], ["idle_limit minutes"], []]
    assert any("45 minutes" in hit.content for hit in state.found.hits)
    splitting, missing, writing = (call.messages[-1].content for call in fake_llm.calls)
    assert "zeppelins" in splitting
    assert "2. how long may nobody do anything?" in missing and "nine ports" in missing
    assert "built the zeppelin airship? — nothing was found" in writing and "45 minutes" in writing
    assert plain_text(state.answer.blocks).endswith("- Who built the zeppelin airship?")


async def test_the_rules_take_over_if_the_model_fails(
    owner: User, manual: KnowledgeBase, thorough: Choices, fake_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_llm.serves |= {"split", "missing"}
    fake_llm.enqueue("I can't do that.", "Neither that.", "Nine and seventeen. [1]")
    question = "How many ports has the TL-SE2109? And how many has the TL-SE2117?"
    state = await unstored.answer(owner, question, choices=thorough)
    assert len(state.plan.parts) == 2 and detail(state, "split")["by"] == "rules"
    assert detail(state, "split")["fallback"] == "no plan"


async def test_a_failed_search_keeps_the_hits_of_the_whole_question(
    owner: User, manual: KnowledgeBase, thorough: Choices, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(request: object) -> None:
        raise SearchFailed("The index is away.")

    monkeypatch.setattr("conversations.pipeline.nodes.search_parts.search", fails)
    question = "How many ports has the TL-SE2109? And how many has the TL-SE2117?"
    state = await unstored.answer(owner, question, choices=thorough)
    assert "ports" in plain_text(state.answer.blocks) and not state.found.parts
    assert detail(state, "search_parts")["error"] == "The index is away."


async def test_the_timeout_ends_the_rounds_and_keeps_the_hits(
    owner: User, manual: KnowledgeBase, thorough: Choices, fake_llm: FakeLLM, settings: Any
) -> None:
    settings.THOROUGH_TIMEOUT = 1.5
    fake_llm.serves |= {"missing"}
    fake_llm.enqueue([60.0], "Nine and seventeen. [1]")
    question = "How many ports has the TL-SE2109? And how many has the TL-SE2117?"
    state = await unstored.answer(owner, question, choices=thorough)
    assert detail(state, "search_parts")["note"] == "timed out"
    assert [part.answer_state for part in state.found.parts] == ["answered", "answered"]
    side_calls.forget_slow_models()


async def test_a_part_that_there_was_no_time_for_is_not_reported_missing(
    owner: User, manual: KnowledgeBase, thorough: Choices, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow_for_one(request: SearchRequest) -> SearchResult:
        if "TL-SE2117" in request.judged_by:
            await asyncio.sleep(60)
        return await search(request)

    settings.THOROUGH_TIMEOUT = 1.0
    monkeypatch.setattr("conversations.pipeline.nodes.search_parts.search", slow_for_one)
    question = "How many ports has the TL-SE2109? And how many has the TL-SE2117?"
    state = await unstored.answer(owner, question, choices=thorough)
    assert [part.question for part in state.found.parts] == ["How many ports has the TL-SE2109"]
    text = plain_text(state.answer.blocks)
    assert "nine ports" in text and "hold nothing" not in text

"""Reading the best passages in a turn: the steps, the trace and its page."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from conversations.assistants.choice import Choices, save_version
from conversations.assistants.configuration import Configuration
from conversations.events import StepEvent
from conversations.models import Assistant, ChatSession, TraceStep
from conversations.pipeline.graph import Graph
from conversations.pipeline.nodes.reader import Reader
from conversations.turns import unstored
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import Busy
from ragsite.llm.reranking import reader as runtime
from retrieval.answerability import reading
from retrieval.search import Hit
from tests.conversations.conftest import HANDBOOK, run_turn
from tests.ragsite.llm import reading_model

pytestmark = pytest.mark.django_db(transaction=True)

PORTS = "How many ports has the TL-SE2109 switch?"


@pytest.fixture
def tiny(tmp_path: Path, settings: Settings) -> Path:
    """A reader that is switched on and takes passages about the button for answers."""
    folder = reading_model.write(tmp_path, {"button": 8.0}, calibration={"blend": 9})
    settings.READER_MODEL, settings.ENABLE_READER, settings.READER_TIMEOUT = str(folder), True, 60
    return folder


async def step() -> dict[str, Any]:
    found = await TraceStep.objects.aget(key="reader")
    return {**found.detail, "status": found.status, "turn": found.turn_id}


def words(events: list[Any]) -> list[str]:
    return [event.message for event in events if isinstance(event, StepEvent) and event.key == "reader"]


async def test_the_bundled_reader_finds_the_sentence_and_the_trace_shows_it(
    owner: User, handbook: KnowledgeBase, session: ChatSession, settings: Settings, as_owner: Client
) -> None:
    settings.ENABLE_READER, settings.READER_TIMEOUT = True, 60
    events = await run_turn(owner, session, PORTS)
    assert words(events) == ["", "4 passages read"]
    seen = await step()
    first = seen["judged"][0]
    assert (seen["status"], seen["note"], first["key_passage"]) == ("completed", "", HANDBOOK[0])
    assert len(seen["judged"]) == 4 and first["answers"] > max(hit["answers"] for hit in seen["judged"][1:])
    page = await in_database(lambda: as_owner.get(reverse("trace", args=[seen["turn"]])).content.decode())
    assert "Read the best passages" in page and f"answer score: {first['answers']:+.1f}" in page


async def test_the_order_changes_and_the_answering_passage_is_quoted(
    owner: User, handbook: KnowledgeBase, tiny: Path, session: ChatSession
) -> None:
    await run_turn(owner, session, PORTS)
    first = (await step())["judged"][0]
    assert first["key_passage"] == HANDBOOK[1] and first["score"] == 8.0 and first["before"] > 1


@pytest.mark.parametrize(
    ("question", "model", "count"),
    [
        (PORTS, "", 1),
        (PORTS, "http://127.0.0.1:9/v1", 4),
        ("Which models are there? Summarize all the switches.", "", 4),
    ],
)
async def test_reading_stops_at_an_answer_to_quote_but_not_for_a_model(
    owner: User, handbook: KnowledgeBase, tiny: Path, session: ChatSession, settings: Settings,
    monkeypatch: pytest.MonkeyPatch, question: str, model: str, count: int,
) -> None:  # fmt: skip
    settings.LLM_BASE_URL = model
    monkeypatch.setattr(reading, "FIRST", 1)
    monkeypatch.setattr(reading, "CLEARLY", -100.0)
    await run_turn(owner, session, question)
    assert len((await step())["judged"]) == count


@pytest.mark.parametrize("asked", ["How many ports?", "The switch has had nine ports since the first year."])
async def test_it_is_skipped_without_a_search_and_when_switched_off(
    owner: User, handbook: KnowledgeBase, tiny: Path, session: ChatSession, settings: Settings, asked: str
) -> None:
    settings.ENABLE_READER = not asked.endswith("?")
    assert words(await run_turn(owner, session, asked)) == []
    assert (await step())["status"] == "skipped"


async def test_a_busy_reader_says_so_and_the_answer_is_written(
    owner: User, handbook: KnowledgeBase, tiny: Path, session: ChatSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*args: Any, **kwargs: Any) -> list[Any]:
        assert not kwargs["patient"]
        raise Busy

    monkeypatch.setattr(runtime.Reader, "read", refuse)
    note = "The passages were not read: the reader is busy with other questions."
    assert words(await run_turn(owner, session, PORTS)) == ["", note]
    seen = await step()
    assert (seen["note"], seen["judged"]) == (note, [])
    assert [fact[1] for fact in Reader().describe(seen).facts] == [note]


async def test_the_parts_of_a_question_are_read_too(
    owner: User, handbook: KnowledgeBase, tiny: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.EMBEDDING_THREADS = 8
    asked: list[str] = []
    read = runtime.Reader.read

    async def note(self: runtime.Reader, question: str, *args: Any, **kwargs: Any) -> list[runtime.Reading | None]:
        asked.append(question)
        return await read(self, question, *args, **kwargs)

    monkeypatch.setattr(runtime.Reader, "read", note)
    settings.READER_TIMEOUT = 0  # no user waits without a chat
    assistant = await Assistant.objects.acreate(name="Thorough")
    await in_database(save_version, assistant, Configuration(pipeline="thorough"), None)
    question = "How many ports has the TL-SE2109, and how long does the warranty of the kit last?"
    state = await unstored.answer(owner, question, choices=Choices(assistant_id=assistant.pk))
    assert len(state.plan.parts) == 2
    assert asked[0] == (state.plan.ranking_query or question) and set(state.plan.parts) <= set(asked)
    read_hits: list[Hit] = [hit for hit in state.found.hits if hit.reading is not None]
    assert read_hits


def test_it_runs_between_reorder_and_rerank_except_in_the_quick_pipeline(settings: Settings) -> None:
    for name in ("default", "thorough"):
        keys = list(Graph.from_settings(name).nodes)
        place = keys.index("reader")
        assert (keys[place - 1], keys[place + 1]) == ("reorder", "rerank")
    assert "reader" not in Graph.from_settings("quick").nodes

"""Tests of the log line of each turn: times, counts and usage, but no texts."""

import json
import logging
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.models import ChatSession, Turn
from conversations.pipeline.graph import Node
from conversations.pipeline.hooks import Proceed
from conversations.pipeline.state import State
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import Unreachable
from ragsite.llm.types import TextPiece, UsagePiece
from ragsite.runtime.logs import JsonFormatter, RequestId
from tests.conversations.conftest import run_turn
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How do I restore the factory settings of the switch?"
named: dict[str, str] = {}


async def name_requests(node: Node, state: State, proceed: Proceed) -> None:
    """A hook that notes the request id of log records at this node, in the event loop and on a database thread."""
    named[node.key] = _request_of_a_record()
    named[f"{node.key} in the database"] = await in_database(_request_of_a_record)
    await proceed()


def _request_of_a_record() -> str:
    record = logging.makeLogRecord({})
    RequestId().filter(record)
    return str(record.request_id)  # type: ignore[attr-defined]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    """Return a function that returns the lines logged so far as parsed data."""
    qa = logging.getLogger("ragsite.qa")
    qa.addHandler(caplog.handler)
    yield lambda: [
        json.loads(JsonFormatter().format(record)) for record in caplog.records if record.name == "ragsite.qa"
    ]
    qa.removeHandler(caplog.handler)


async def test_turn_logs_one_line(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, lines: Any
) -> None:
    fake_llm.enqueue([TextPiece("Hold the reset button for ten seconds [1]."), UsagePiece(30, 7)])
    await run_turn(owner, session, QUESTION)
    [line] = lines()
    turn = await Turn.objects.aget()
    assert (line["request_id"], line["user_id"], line["session_id"], line["turn_id"]) == (
        str(turn.request_id), owner.pk, session.pk, turn.pk
    )  # fmt: skip
    assert (line["status"], line["error"], line["action"], line["model"]) == (
        "completed", None, "retrieve_vector", fake_llm.endpoint.model
    )  # fmt: skip
    assert line["tokens"] == {"prompt_tokens": 30, "completion_tokens": 7, "by_kind": {"text": 9}}
    assert {"save_question", "understand", "search", "generate", "save"} <= set(line["nodes"])
    assert all(ms >= 0 for ms in line["nodes"].values()) and line["ms"] > 0
    assert line["hits"]["given"] == line["citations"] >= 1 and line["cited"] == 1
    assert {"vector", "bm25", "fused", "kept"} <= set(line["hits"])


async def test_log_contains_no_texts_by_default(
    owner: User, handbook: KnowledgeBase, session: ChatSession, lines: Any, settings: Any
) -> None:
    await run_turn(owner, session, QUESTION)
    settings.LOG_TEXTS = True
    await run_turn(owner, session, QUESTION)
    quiet, open_ = (json.dumps(line) for line in lines())
    for words in ("factory", "reset", "handbook", "switch"):
        assert words not in quiet
    assert QUESTION in open_ and "reset button" in open_


async def test_failed_turn_logs_the_error(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, lines: Any
) -> None:
    fake_llm.enqueue(Unreachable("secret-key-1234"))
    await run_turn(owner, session, QUESTION)
    [line] = lines()
    assert (line["status"], line["error"], line["failed_nodes"]) == ("failed", "unreachable", ["generate"])
    assert "secret-key" not in json.dumps(line)


async def test_other_log_records_name_the_request(
    owner: User, handbook: KnowledgeBase, session: ChatSession, settings: Any
) -> None:
    settings.PIPELINE_HOOKS = [f"{__name__}.name_requests"]
    lifecycle.pipeline.cache_clear()
    named.clear()
    try:
        await run_turn(owner, session, QUESTION)
    finally:
        lifecycle.pipeline.cache_clear()
    turn = await Turn.objects.aget()
    assert {"search", "save", "save in the database"} <= set(named)
    assert set(named.values()) == {str(turn.request_id)}

"""Tests of the node that checks citations."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from conversations.citations.verdict import Verdict
from conversations.citations.verifiers import rules
from conversations.pipeline.nodes import check_citations
from conversations.pipeline.writing import extractive_answer
from retrieval.search import Hit
from tests.conversations.conftest import run_node
from tests.conversations.nodes import make_state


async def test_judging_ends_when_the_turn_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = 0
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def slowly(text: str, passages: dict[int, str], known: list[str]) -> Iterator[Verdict]:
        nonlocal judged
        try:
            while judged < 99:
                judged += 1
                begun.set()
                go_on.wait(60)
                yield Verdict(text, (1,), "supported", 1.0)
        finally:
            ended.set()

    monkeypatch.setattr(rules, "check", slowly)
    state: Any = make_state()
    state.answer.blocks = [{"kind": "text", "text": "Nine ports [1]."}]
    running = asyncio.create_task(run_node(check_citations.CheckCitations(), state))
    assert await asyncio.to_thread(begun.wait, 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 60)
    assert judged == 1 and state.answer.checks == []


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_note_on_documents_in_another_language_needs_no_source(language: str) -> None:
    state: Any = make_state("加班费怎么算？" if language == "zh" else "How is overtime paid?")
    state.prompt.evidence = [Hit(1, 1, 1, "The switch has nine ports.", "text", "a.txt", "", None, 1.0, [])]
    state.found.unsearched = {"en" if language == "zh" else "zh": 3}
    note = extractive_answer.unsearched_note(state)
    assert "3" in note
    state.answer.blocks = [{"kind": "text", "text": note}]
    await run_node(check_citations.CheckCitations(), state)
    assert state.answer.checks == []
    if language == "zh":  # any other number that a model writes has no source
        state.prompt.model = "model"
        state.answer.blocks = [{"kind": "text", "text": note.replace("3", "7")}]
        await run_node(check_citations.CheckCitations(), state)
        assert [check["status"] for check in state.answer.checks] == ["uncited"]

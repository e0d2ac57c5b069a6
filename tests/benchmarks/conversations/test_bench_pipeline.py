"""`manage.py bench_pipeline`: whole turns run, every node is in the tables, and no sessions are left."""

import logging
from contextlib import nullcontext
from io import StringIO

import httpx
import pytest
from django.core.management import CommandError, call_command

from tests.benchmarks.conversations.instant_model import instant_model
from tests.benchmarks.retrieval import scratch
from tests.benchmarks.retrieval.scratch import NoDatabase
from tests.conversations.turns.test_turn_queries import MOST


@pytest.mark.django_db(transaction=True)
def test_tables_with_a_model_and_without(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    # In the tests' own database, since creating another takes longer than the rest of the test.
    monkeypatch.setattr(scratch, "database", lambda name, keep: nullcontext())
    monkeypatch.setattr(scratch, "empty", lambda: None)
    out = StringIO()
    with caplog.at_level(logging.WARNING):
        call_command("bench_pipeline", sessions=1, turns=2, stdout=out)
    with_model, without = out.getvalue().split("## 2 turns in conversations of 2, with ")[1:]
    assert with_model.startswith("a model that answers at once") and without.startswith("no model")
    for printed in (with_model, without):
        cells = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in printed.splitlines() if "|" in line}
        whole, own, apart = (
            float(cells[row][0]) for row in ("whole turn", "without the search node", "without all steps of the search")
        )
        assert whole > own > apart > 0
        # Two turns are both recent, and only the second has a history.
        nodes = set(MOST) - {"relevant_history"}
        assert {node: cells[node][0].strip() for node in nodes} == {
            **dict.fromkeys(nodes, "2"),
            "system_context": "1",
            "load_history": "1",
        }
    assert not [record for record in caplog.records if record.name == "asyncio"], caplog.text


async def test_the_instant_model_closes_kept_connections(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with httpx.AsyncClient() as client:
        async with instant_model() as base_url:
            reply = await client.post(f"{base_url}/chat/completions", json={"messages": []})
            assert "Hold the reset button" in reply.text
        with pytest.raises(httpx.TransportError):
            await client.post(f"{base_url}/chat/completions", json={"messages": []})
    assert not caplog.records


def test_errors_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="must be at least 1"):
        call_command("bench_pipeline", turns=0)

    def fail(name: str, keep: bool) -> None:
        raise NoDatabase("A database to measure in can't be made: permission denied")

    monkeypatch.setattr(scratch, "database", fail)
    with pytest.raises(CommandError, match="permission denied"):
        call_command("bench_pipeline")


async def test_the_instant_model_returns_a_plan_if_asked() -> None:
    prompt = 'Answer with JSON like {"plan": {"action": "answer_chat"}}.'
    async with instant_model() as base_url, httpx.AsyncClient() as client:
        reply = await client.post(f"{base_url}/chat/completions", json={"messages": [{"content": prompt}]})
        assert "retrieve_vector" in reply.text and "Hold the reset button" not in reply.text

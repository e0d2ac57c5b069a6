"""The node that checks citations: what it takes in, and when it gives up."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from conversations.checking import Verdict
from conversations.pipeline.nodes import check
from tests.conversations.conftest import ignore
from tests.conversations.nodes import make_state


async def test_no_sentence_is_judged_for_a_turn_that_waits_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = 0

    def slowly(text: str, passages: dict[int, str]) -> Iterator[Verdict]:
        nonlocal judged
        while judged < 99:
            judged += 1
            time.sleep(0.01)
            yield Verdict(text, (1,), "supported", 1.0)

    monkeypatch.setattr(check, "check", slowly)
    state: Any = make_state()
    state.answer.blocks = [{"kind": "text", "text": "Nine ports [1]."}]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await check.Check().run(state, ignore)
    await asyncio.sleep(0.05)
    given_up = judged
    await asyncio.sleep(0.05)
    assert 0 < judged == given_up < 99 and state.checks == []

"""Shared connections of an event loop, and limits on concurrent requests."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from ragsite.llm import errors, http_pool
from ragsite.llm.chat import ChatClient
from ragsite.llm.types import Endpoint
from tests.fakes.provider import FakeProvider
from tests.ragsite.llm.helpers import QUESTION, collect, text_of


@pytest.fixture
def endpoint(provider: FakeProvider) -> Endpoint:
    return Endpoint(provider.base_url, model="fake-model", idle_timeout=30)


async def ask(endpoint: Endpoint) -> str:
    """Ask as a turn does: with a client of its own, which is closed afterwards."""
    client = ChatClient(endpoint, pause=0.01)
    try:
        return (await client.complete(QUESTION)).text
    finally:
        await client.aclose()


class TestConnections:
    """Opened once, not for every call."""

    async def test_the_next_client_uses_the_same(self, provider: FakeProvider, endpoint: Endpoint) -> None:
        for _ in range(3):
            await ask(endpoint)
        assert len(provider.requests) == 3 and provider.connections == 1

    async def test_another_key_is_never_sent_over_them(self, provider: FakeProvider, endpoint: Endpoint) -> None:
        await ask(endpoint)
        await ask(replace(endpoint, api_key="new"))
        assert provider.connections == 2
        assert provider.headers[1]["Authorization"] == "Bearer new"

    async def test_other_time_outs_apply_at_once(self, provider: FakeProvider, endpoint: Endpoint) -> None:
        await ask(endpoint)
        provider.reply("late", first_delay=60)
        with pytest.raises(errors.TimedOut):
            await ask(replace(endpoint, idle_timeout=0.1))
        assert provider.connections == 1

    async def test_one_that_the_server_has_closed_is_replaced(self, provider: FakeProvider, endpoint: Endpoint) -> None:
        provider.reply("One.", headers={"Connection": "close"})
        provider.reply("Two.")
        assert [await ask(endpoint), await ask(endpoint)] == ["One.", "Two."]

    async def test_unused_ones_are_closed(
        self, provider: FakeProvider, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(http_pool, "KEEP", 0.05)
        async with aclosing(ChatClient(endpoint).stream(QUESTION)) as pieces:
            await anext(pieces)
            kept = http_pool._here().clients
            [used] = kept.values()
        async with asyncio.timeout(30):
            while kept:
                await asyncio.sleep(0.02)
        assert used.client.is_closed
        await ask(endpoint)
        assert provider.connections == 2

    async def test_one_in_use_is_not_closed(
        self, provider: FakeProvider, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(http_pool, "KEEP", 0.02)
        provider.reply("one two three four five six", delay=0.05)
        pieces, error = await collect(ChatClient(endpoint))
        assert error is None and text_of(pieces) == "one two three four five six"

    def test_the_end_of_an_event_loop_closes_them(self, provider: FakeProvider, endpoint: Endpoint) -> None:
        async def use() -> Any:
            await ask(endpoint)
            [kept] = http_pool._here().clients.values()
            return kept.client

        client = asyncio.run(use())
        assert client.is_closed
        assert asyncio.run(use()) is not client

    async def test_closing_at_shutdown(self, endpoint: Endpoint) -> None:
        await ask(endpoint)
        [kept] = http_pool._here().clients.values()
        await http_pool.close()
        assert kept.client.is_closed
        await http_pool.close()


class TestPlaces:
    """So many requests at once, first come, first served."""

    @pytest.fixture
    def one_place(self, endpoint: Endpoint) -> Endpoint:
        return replace(endpoint, concurrency=1)

    async def test_no_more_than_allowed_run_at_once(self, provider: FakeProvider, endpoint: Endpoint) -> None:
        limited = replace(endpoint, concurrency=2)
        for _ in range(6):
            provider.reply("word " * 5, delay=0.01)
        running = most = 0
        two = asyncio.Event()

        async def answer() -> None:
            nonlocal running, most
            async with aclosing(ChatClient(limited).stream(QUESTION)) as pieces:
                await anext(pieces)
                running += 1
                most = max(most, running)
                if running == 2:
                    two.set()
                await two.wait()  # the first goes on when the second runs beside it
                async for _ in pieces:
                    pass
                running -= 1

        async with asyncio.timeout(60):
            await asyncio.gather(*(answer() for _ in range(6)))
        assert most == 2

    async def test_in_the_order_of_asking(self, provider: FakeProvider, one_place: Endpoint) -> None:
        order: list[int] = []

        async def answer(number: int) -> None:
            await ask(one_place)
            order.append(number)

        for _ in range(5):
            provider.reply("word", first_delay=0.02)
        await asyncio.gather(*(answer(number) for number in range(5)))
        assert order == [0, 1, 2, 3, 4]

    async def test_waiting_ends_with_words(self, provider: FakeProvider, one_place: Endpoint) -> None:
        provider.reply("word " * 100, delay=0.05)
        async with aclosing(ChatClient(one_place).stream(QUESTION)) as pieces:
            await anext(pieces)
            with pytest.raises(errors.Busy) as busy:
                await ask(replace(one_place, idle_timeout=0.1))
        assert busy.value.retryable and "Too many questions" in busy.value.message
        assert len(provider.requests) == 1

    async def test_stopping_gives_the_place_back(self, provider: FakeProvider, one_place: Endpoint) -> None:
        provider.reply("word " * 1000, delay=0.02)
        async with aclosing(ChatClient(one_place).stream(QUESTION)) as pieces:
            await anext(pieces)
        provider.reply("Hello.")
        assert await ask(one_place) == "Hello."

    async def test_cancelling_gives_the_place_back(self, provider: FakeProvider, one_place: Endpoint) -> None:
        provider.reply("late", first_delay=10)
        holder = asyncio.create_task(ask(one_place))
        while not provider.requests:
            await asyncio.sleep(0.01)
        waiting = asyncio.create_task(ask(one_place))
        await asyncio.sleep(0.02)
        waiting.cancel()
        holder.cancel()
        await asyncio.gather(holder, waiting, return_exceptions=True)
        provider.reply("Hello.")
        assert await ask(one_place) == "Hello."

    async def test_a_failure_gives_the_place_back(self, provider: FakeProvider, one_place: Endpoint) -> None:
        provider.fail(401)
        with pytest.raises(errors.Unauthorized):
            await ask(one_place)
        provider.reply("Hello.")
        assert await ask(one_place) == "Hello."

    async def test_a_retry_waits_without_a_place(self, provider: FakeProvider, one_place: Endpoint) -> None:
        provider.fail(429, headers={"Retry-After": "20"})
        provider.reply("First to come.")
        task = asyncio.create_task(ask(one_place))
        while not provider.requests:
            await asyncio.sleep(0.01)
        assert await ask(one_place) == "First to come."
        assert not task.done()
        task.cancel()

    async def test_another_limit_applies_to_the_next_request(self, provider: FakeProvider, one_place: Endpoint) -> None:
        provider.reply("word " * 1000, delay=0.02)
        async with aclosing(ChatClient(one_place).stream(QUESTION)) as pieces:
            await anext(pieces)
            provider.reply("Hello.")
            assert await ask(replace(one_place, concurrency=2)) == "Hello."

    async def test_nothing_is_left_behind(self, provider: FakeProvider, one_place: Endpoint) -> None:
        await asyncio.gather(*(ask(one_place) for _ in range(3)))
        assert http_pool._here().places == {}

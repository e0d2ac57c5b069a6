"""The limit on running and waiting searches, and on the time they wait."""

import asyncio

import pytest

from retrieval.engine.limits import SearchLimit
from retrieval.types import SearchOverloaded


class Visit:
    """A search that holds its place in a limit until it is told to leave."""

    def __init__(self, limit: SearchLimit) -> None:
        self.inside, self.leave = asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(self._go(limit))

    async def _go(self, limit: SearchLimit) -> None:
        async with limit.place():
            self.inside.set()
            await self.leave.wait()


async def test_waiting_searches_run_in_order() -> None:
    limit = SearchLimit(running=2, waiting=2, patience=60)
    visits = [Visit(limit) for _ in range(4)]
    await asyncio.sleep(0.01)
    assert [visit.inside.is_set() for visit in visits] == [True, True, False, False]
    visits[1].leave.set()
    await visits[2].inside.wait()
    assert not visits[3].inside.is_set()
    for visit in visits:
        visit.leave.set()
        await visit.task


async def test_further_searches_are_refused_at_once() -> None:
    limit = SearchLimit(running=1, waiting=1, patience=60)
    first, second = Visit(limit), Visit(limit)
    await first.inside.wait()
    with pytest.raises(SearchOverloaded):
        await asyncio.wait_for(Visit(limit).task, 30)
    for visit in (first, second):
        visit.leave.set()
        await visit.task


async def test_simultaneous_searches_are_counted_individually() -> None:
    limit = SearchLimit(running=1, waiting=1, patience=60)
    visits = [Visit(limit) for _ in range(4)]
    await asyncio.sleep(0)
    assert [visit.inside.is_set() for visit in visits] == [True, False, False, False]
    assert [visit.task.done() for visit in visits] == [False, False, True, True]
    for visit in visits[2:]:
        assert isinstance(visit.task.exception(), SearchOverloaded)
    for visit in visits[:2]:
        visit.leave.set()
        await visit.task


async def test_waiting_times_out_and_takes_no_place() -> None:
    limit = SearchLimit(running=1, waiting=5, patience=0.05)
    first = Visit(limit)
    await first.inside.wait()
    with pytest.raises(SearchOverloaded):
        await Visit(limit).task
    leaving = Visit(limit)
    await asyncio.sleep(0)
    leaving.task.cancel()
    first.leave.set()
    await first.task
    last = Visit(limit)
    await asyncio.wait_for(last.inside.wait(), 30)
    last.leave.set()
    await last.task


async def test_a_failure_releases_the_place() -> None:
    limit = SearchLimit(running=1, waiting=0, patience=60)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with limit.place():
                raise ZeroDivisionError

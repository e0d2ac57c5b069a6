"""The cluster of workers when one of them is killed."""

import multiprocessing
import time
from multiprocessing.context import ForkProcess
from typing import Any

import pytest
from django_q import cluster as django_q_cluster

from ragsite import cluster

_fork = multiprocessing.get_context("fork")


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the processes that django-q2 was asked to replace."""
    asked: list[Any] = []
    monkeypatch.setattr(django_q_cluster.Sentinel, "reincarnate", lambda self, process: asked.append(process))
    return asked


def _sentinel(*pool: ForkProcess) -> cluster.Sentinel:
    sentinel = cluster.Sentinel.__new__(cluster.Sentinel)  # one that starts nothing and leaves the signals alone
    sentinel.pool = list(pool)
    return sentinel


def _ended(killed: bool) -> ForkProcess:
    process = _fork.Process(target=time.sleep, args=(60 if killed else 0,))
    process.start()
    if killed:
        process.kill()
    process.join()
    return process


def test_the_cluster_ends_with_a_process_that_was_killed(replaced: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def end(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(cluster.os, "_exit", end)
    worker, pusher = _ended(killed=True), _ended(killed=True)
    for process in (worker, pusher):
        with pytest.raises(SystemExit):
            _sentinel(worker).reincarnate(process)
    assert not replaced


def test_others_are_replaced(replaced: list[Any]) -> None:
    worker = _ended(killed=False)
    _sentinel(worker).reincarnate(worker)
    assert replaced == [worker]

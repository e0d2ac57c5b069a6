"""The cluster of workers after one of them is killed."""

import multiprocessing
import os
import signal
import time
from multiprocessing import connection
from multiprocessing.context import ForkProcess
from typing import Any

import pytest
from django_q import cluster as django_q_cluster

from ragsite.runtime import cluster
from tests.site import PATIENCE

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


def test_the_cluster_ends_also_where_the_killed_held_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(django_q_cluster.Sentinel, "spawn_cluster", lambda self: None)

    def guard() -> None:
        timer = _fork.Value("f", -1)

        def hold() -> None:  # as a worker does while it hands on what a task gave
            timer.get_lock().acquire()
            os.kill(os.getpid(), signal.SIGKILL)

        worker = _fork.Process(target=hold)
        worker.start()
        sentinel = _sentinel(worker)
        sentinel.monitor = sentinel.pusher = worker
        connection.wait([worker.sentinel])
        sentinel.spawn_cluster()
        timer.get_lock().acquire()  # as django-q2 does before it looks whether the worker lives

    process = _fork.Process(target=guard)
    process.start()
    process.join(PATIENCE)
    process.kill()
    process.join()
    assert process.exitcode == 1


def test_others_are_replaced(replaced: list[Any]) -> None:
    worker = _ended(killed=False)
    _sentinel(worker).reincarnate(worker)
    assert replaced == [worker]

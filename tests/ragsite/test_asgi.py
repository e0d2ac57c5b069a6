"""Database connections of the site's HTTP application."""

import asyncio
import runpy
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from pytest_django import Settings

from ragsite import asgi

going_on = asyncio.Event()
thread_may_go = threading.Event()
holding: list[int] = []


def query(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetchone()[0])


def slow(request: HttpRequest) -> HttpResponse:
    query("SELECT 1 FROM pg_sleep(0.1)")
    return HttpResponse(query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))


def backend(request: HttpRequest) -> HttpResponse:
    return HttpResponse(query("SELECT pg_backend_pid() FROM pg_sleep(0.1)"))


def held(request: HttpRequest) -> HttpResponse:
    holding.append(query("SELECT pg_backend_pid()"))
    thread_may_go.wait(20)
    return HttpResponse()


async def streaming(request: HttpRequest) -> StreamingHttpResponse:
    backend = await sync_to_async(query)("SELECT pg_backend_pid()")

    async def body() -> AsyncGenerator[str]:
        yield f"{backend}"
        await going_on.wait()

    return StreamingHttpResponse(body())


urlpatterns = [
    path("slow", slow),
    path("backend", backend),
    path("held", held),
    path("streaming", streaming),
    path("healthz", lambda _request: HttpResponse("ok")),
]


@pytest.fixture(autouse=True)
def routes(settings: Settings) -> None:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []


def test_loading_the_application_starts_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[threading.Thread] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    runpy.run_path(asgi.__file__)
    assert started == []


async def get(pages: asgi.Pages, where: str, came: list[bytes]) -> None:
    """Ask for a page and note the parts of its body as they come."""
    waiting = [{"type": "http.request"}]

    async def receive() -> dict[str, Any]:
        return waiting.pop() if waiting else await asyncio.Future()

    async def send(message: Any) -> None:
        came.extend(filter(None, [message.get("body")]))

    await pages({"type": "http", "method": "GET", "path": where, "headers": [], "query_string": b""}, receive, send)


@pytest.mark.django_db(transaction=True)
async def test_requests_wait_for_each_other_before_connections_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "PLACES", 3)
    pages, came = asgi.Pages(), list[bytes]()
    await asyncio.gather(*(get(pages, "/slow", came) for _ in range(12)))
    assert len(came) == 12
    assert max(map(int, came)) <= 3


@pytest.mark.django_db(transaction=True)
async def test_who_streams_holds_no_connection_and_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "PLACES", 1)
    going_on.clear()
    pages, came = asgi.Pages(), list[bytes]()
    streams = [asyncio.create_task(get(pages, "/streaming", came)) for _ in range(3)]
    async with asyncio.timeout(20):
        while len(came) < 3:
            await asyncio.sleep(0.01)
        backends = b",".join(came).decode()
        while await sync_to_async(query)(f"SELECT count(*) FROM pg_stat_activity WHERE pid IN ({backends})"):
            await asyncio.sleep(0.01)
    going_on.set()
    await asyncio.gather(*streams)


@pytest.mark.django_db(transaction=True)
async def test_a_request_takes_the_thread_and_the_connection_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "KEPT_THREADS", 2)
    pages, came = asgi.Pages(), list[bytes]()
    for _ in range(4):
        await get(pages, "/backend", came)
    assert len(came) == 4 and len(set(came)) <= 2  # the first thread may not be free again yet
    await asyncio.gather(*(get(pages, "/backend", came) for _ in range(6)))
    backends = b",".join(came).decode()
    async with asyncio.timeout(20):
        while await sync_to_async(query)(f"SELECT count(*) FROM pg_stat_activity WHERE pid IN ({backends})") != 2:
            await asyncio.sleep(0.01)


@pytest.mark.django_db(transaction=True)
async def test_nobody_waits_for_the_thread_of_a_visitor_who_has_gone() -> None:
    pages, came = asgi.Pages(), list[bytes]()
    thread_may_go.clear()
    gone = asyncio.create_task(get(pages, "/held", came))
    while not holding:
        await asyncio.sleep(0.01)
    gone.cancel()
    await asyncio.wait([gone])
    await get(pages, "/backend", came)
    assert came != [str(holding.pop()).encode()]
    thread_may_go.set()


async def test_probes_need_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "PLACES", 0)
    came: list[bytes] = []
    await get(asgi.Pages(), "/healthz", came)
    assert came == [b"ok"]

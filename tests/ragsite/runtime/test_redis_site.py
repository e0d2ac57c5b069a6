"""A whole site during an outage of Redis: WebSockets stay open, the API responds, and the probe reports it."""

import asyncio
import re
from contextlib import aclosing

import httpx
import pytest

from tests.prepared import site_folder
from tests.redis_server import RedisServer
from tests.site import PASSWORD, PATIENCE, Site

pytestmark = [pytest.mark.site, pytest.mark.nightly, pytest.mark.xdist_group("up")]


async def sign_in(url: str) -> httpx.AsyncClient:
    client = httpx.AsyncClient(base_url=url, follow_redirects=True, timeout=PATIENCE)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', (await client.get("/login/")).text)
    assert token
    form = {"csrfmiddlewaretoken": token.group(1), "username": "demo", "password": PASSWORD}
    await client.post("/login/", data=form, headers={"Referer": url})
    client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
    return client


async def open_socket(client: httpx.AsyncClient, session: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a page's socket by hand; what comes over it is not decoded."""
    host, port = client.base_url.host, client.base_url.port
    reader, writer = await asyncio.open_connection(host, port)
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    lines = [
        f"GET /ws/sessions/{session}/ HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Version: 13", f"Cookie: {cookies}", "", "",
    ]  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def probe(client: httpx.AsyncClient, wanted: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while (answer := await client.get("/readyz")).text != wanted:
            await asyncio.sleep(0.2)
    assert answer.status_code == 200


async def test_a_site_outlives_its_redis(redis_server: RedisServer) -> None:
    with (
        site_folder() as data_dir,
        Site(data_dir, REDIS_URL=redis_server.url) as site,
    ):
        async with aclosing(await sign_in(site.url)) as client:
            await probe(client, "ok")
            session = (await client.post("/api/chat/sessions", json={})).json()["session_id"]
            reader, writer = await open_socket(client, session)
            redis_server.kill()
            await probe(client, "degraded: redis")
            asked = [(await client.get("/api/chat/sessions")).status_code for _request in range(3)]
            assert asked == [200, 200, 200]
            body = {"question": "How are ports isolated?"}
            answer = await client.post(f"/api/chat/sessions/{session}/content", json=body)
            assert '"status":"completed"' in answer.text.split("\n\n")[-2]
            redis_server.start()
            await probe(client, "ok")
            writer.write(b"\x81\x80\x00\x00\x00\x00")  # an empty message, which is answered with a toast
            async with asyncio.timeout(PATIENCE):
                came = await reader.read(1)
            assert came == b"\x81"  # text, and no closing
            writer.close()

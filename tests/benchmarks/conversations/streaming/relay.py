"""The minimum cost of a stream: a server that relays the provider's bytes as httpx reads them."""

import asyncio
import socket

import httpx


def run(listener: socket.socket, base_url: str) -> None:
    """Serve until the process is terminated."""
    asyncio.run(_serve(listener, base_url))


async def _serve(listener: socket.socket, base_url: str) -> None:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as client:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            asked = await reader.readexactly(int(head.partition("content-length:")[2].split("\r\n")[0] or 0))
            async with client.stream("POST", f"{base_url}/chat/completions", content=asked) as response:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
                async for chunk in response.aiter_raw():
                    writer.write(chunk)
                    await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, sock=listener, backlog=512)
        async with server:
            await server.serve_forever()

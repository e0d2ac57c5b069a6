"""A model in this process that answers at once, with the protocol and the client of a real one."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from django.conf import settings

_PLAN = {
    "intent": "kb_retrieval",
    "confidence": 0.9,
    "queries": ["reset", "switch"],
    "rewrite": "How is the switch reset?",
    "followup": True,
    "plan": {"action": "retrieve_vector", "args": {"k": 5}},
}


@asynccontextmanager
async def instant_model() -> AsyncIterator[str]:
    """Context manager: run the model and yield its base URL."""
    served: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served[task] = writer
        await _serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}/v1"
    finally:
        server.close()
        # Clients keep their connections; cancelling these with the loop would log an error for each.
        for writer in served.values():
            writer.close()
        await asyncio.gather(*served)


@contextmanager
def configured(base_url: str) -> Iterator[None]:
    """Have the site use the model at this address, or none if it is empty."""
    before = settings.LLM_BASE_URL, settings.LLM_MODEL
    settings.LLM_BASE_URL, settings.LLM_MODEL = base_url, "instant"
    try:
        yield
    finally:
        settings.LLM_BASE_URL, settings.LLM_MODEL = before


def wants_plan(asked: bytes) -> bool:
    """Return whether a request's body asks for a plan: its prompt contains one as an example."""
    return rb"\"plan\"" in asked


def reply_to(asked: bytes) -> bytes:
    """Return the whole reply to a request of this body."""
    return _PLANNED if wants_plan(asked) else _ANSWERED


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(head.partition("content-length:")[2].split("\r\n")[0] or 0)
            asked = await reader.readexactly(length)
            writer.write(reply_to(asked))
            await writer.drain()
    writer.close()


def _reply(*pieces: str) -> bytes:
    """Return a complete reply, prepared in advance so that it takes no time."""
    frames: list[dict[str, object]] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    usage = {"prompt_tokens": 500, "completion_tokens": 20}
    frames.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage})
    body = b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body


_PLANNED = _reply(json.dumps(_PLAN))
_ANSWERED = _reply("Hold the reset button", " for ten seconds [1].", " The switch starts anew [2].")

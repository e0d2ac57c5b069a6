"""The chat client with a well-behaved server."""

import asyncio
import gc
import json
import re
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import httpx
import pytest
from pytest_django import Settings

from ragsite.llm import connection
from ragsite.llm.chat import ChatClient, plain_prompt
from ragsite.llm.errors import ModelNotFound
from ragsite.llm.types import ChatMessage, Endpoint, FinishPiece, TextPiece, ThinkPiece, UsagePiece
from tests.fakes.provider import FakeProvider, Script, Style
from tests.ragsite.llm.conftest import MakeClient
from tests.ragsite.llm.helpers import QUESTION, collect, text_of, thinking_of

ANSWER = "BM25 ranks passages. 它按词频排序。\n\nIt is `tf` and `idf` [1]."


@pytest.mark.parametrize("style", ["openai", "deepseek", "ollama"])
@pytest.mark.parametrize("tokens_per_chunk", [1, 3, 1000])
async def test_answer_and_thinking_come_apart(
    provider: FakeProvider, client: ChatClient, style: Style, tokens_per_chunk: int
) -> None:
    provider.reply(ANSWER, "先想想。 Let me think.", style=style, tokens_per_chunk=tokens_per_chunk)
    pieces, error = await collect(client)
    assert error is None
    assert text_of(pieces) == ANSWER
    assert thinking_of(pieces) == "先想想。 Let me think."
    assert isinstance(pieces[-2], UsagePiece) and pieces[-2].completion_tokens > 0
    assert pieces[-1] == FinishPiece("stop")


@pytest.mark.parametrize("crowd", [0.0, 0.02])
async def test_pieces_keep_the_pace_which_slows_with_the_crowd(
    provider: FakeProvider, client: ChatClient, monkeypatch: pytest.MonkeyPatch, crowd: float
) -> None:
    monkeypatch.setattr(connection, "CROWD", crowd)
    monkeypatch.setattr(connection.Incoming, "_read_now", 10)
    provider.reply("word " * 60, delay=0.008, tokens_per_chunk=1)
    pieces: list[str] = []
    times: list[float] = []
    async for piece in client.stream(QUESTION, pace=0.05):
        if isinstance(piece, TextPiece):
            pieces.append(piece.text)
            times.append(time.monotonic())
    assert "".join(pieces) == "word " * 60
    # The first two are read at once; after them nothing comes sooner, however busy the machine is.
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert min(pauses[1:], default=1.0) >= 0.05 + 10 * crowd - 0.01


async def test_request_as_the_protocol_has_it(provider: FakeProvider, make_client: MakeClient) -> None:
    client = make_client(api_key="secret", max_tokens=77, temperature=0.5)
    await collect(client)
    assert provider.paths == ["/v1/chat/completions"]
    assert provider.headers[0]["Authorization"] == "Bearer secret"
    assert provider.requests == [
        {
            "model": "fake-model",
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0.5,
            "max_tokens": 77,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "What is BM25?"},
            ],
        }
    ]


async def test_no_key_sends_no_authorisation(provider: FakeProvider, client: ChatClient) -> None:
    await collect(client)
    assert "Authorization" not in provider.headers[0]


async def test_temperature_zero_and_limit_of_a_call_stand(provider: FakeProvider, client: ChatClient) -> None:
    await client.complete(QUESTION, temperature=0.0, max_tokens=50)
    assert (provider.requests[0]["temperature"], provider.requests[0]["max_tokens"]) == (0.0, 50)


async def test_pieces_come_while_the_model_writes(provider: FakeProvider, client: ChatClient) -> None:
    heard = threading.Event()

    def written() -> Iterator[bytes]:
        for word in ("one ", "two"):
            yield b"data: " + json.dumps({"choices": [{"delta": {"content": word}}]}).encode() + b"\n\n"
            assert heard.wait(60)
        yield b"data: [DONE]\n\n"

    provider._scripts.append(Script(chunks=written()))
    pieces = []
    async with aclosing(client.stream(QUESTION)) as stream:
        async for piece in stream:
            heard.set()
            pieces.append(piece)
    assert pieces[:2] == [TextPiece("one "), TextPiece("two")]


async def test_complete_returns_the_whole(provider: FakeProvider, client: ChatClient) -> None:
    provider.reply(ANSWER, "Hm.", style="openai", finish="length")
    reply = await client.complete(QUESTION)
    assert (reply.text, reply.thinking, reply.finish_reason) == (ANSWER, "Hm.", "length")


async def test_complete_tells_thinking_whose_opening_tag_was_in_the_prompt(
    provider: FakeProvider, client: ChatClient
) -> None:
    provider.reply("Let me see.\n</think>\n\nForty-two.")
    reply = await client.complete(QUESTION)
    assert (reply.text, reply.thinking) == ("Forty-two.", "Let me see.")


async def test_connection_is_used_again(provider: FakeProvider, client: ChatClient) -> None:
    for _ in range(3):
        provider.reply("Hello.")
        await client.complete(QUESTION)
    assert provider.connections == 1
    assert provider.disconnects == 0


class TestStopping:
    """Whoever stops reading stops the provider."""

    async def test_closing_the_iterator(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.reply("word " * 1000, delay=0.02)
        async with aclosing(client.stream(QUESTION)) as stream:
            async for _ in stream:
                break
        assert await asyncio.to_thread(provider.wait_for_disconnect)

    async def test_leaving_the_iterator_to_the_garbage_collector(
        self, provider: FakeProvider, client: ChatClient
    ) -> None:
        provider.reply("word " * 1000, delay=0.02)
        async for _ in client.stream(QUESTION):
            break
        gc.collect()
        assert await asyncio.to_thread(provider.wait_for_disconnect)

    async def test_cancelling_the_task(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.reply("word " * 1000, delay=0.02)
        task = asyncio.create_task(client.complete(QUESTION))
        while not provider.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(provider.wait_for_disconnect)

    async def test_cancelling_before_the_first_word(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.reply("late", first_delay=10)
        task = asyncio.create_task(collect(client))
        while not provider.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(provider.wait_for_disconnect)

    async def test_the_client_still_works_afterwards(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.reply("word " * 1000, delay=0.02)
        provider.reply("Hello.")
        async with aclosing(client.stream(QUESTION)) as stream:
            async for _ in stream:
                break
        assert (await client.complete(QUESTION)).text == "Hello."


async def test_many_streams_side_by_side(provider: FakeProvider, client: ChatClient) -> None:
    for number in range(20):
        provider.reply(f"Answer {number}: " + "word " * 20, delay=0.005)
    results = await asyncio.gather(*(collect(client) for _ in range(20)))
    answers = {text_of(pieces).split(":")[0] for pieces, error in results if error is None}
    assert answers == {f"Answer {number}" for number in range(20)}


class TestFallbacks:
    """Servers that know less than the protocol."""

    async def test_completions_with_a_plain_prompt(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.missing_paths.add("/v1/chat/completions")
        provider.reply("<think>Hm.</think> It ranks.")
        pieces, error = await collect(client)
        assert error is None
        assert (text_of(pieces), thinking_of(pieces)) == ("It ranks.", "Hm.")
        assert provider.paths == ["/v1/chat/completions", "/v1/completions"]
        assert provider.requests[1]["prompt"] == "Be brief.\n\nUser: What is BM25?\n\nAssistant:"
        assert "messages" not in provider.requests[1]

    async def test_the_missing_path_is_asked_once(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.missing_paths.add("/v1/chat/completions")
        await collect(client)
        await collect(client)
        assert provider.paths[1:] == ["/v1/completions", "/v1/completions"]

    async def test_administrators_are_told_until_when_chat_is_not_tried(
        self, provider: FakeProvider, client: ChatClient, caplog: pytest.LogCaptureFixture, settings: Settings
    ) -> None:
        settings.TIME_ZONE = "UTC"
        provider.missing_paths.add("/v1/chat/completions")
        await collect(client)
        told = re.search(r"\S+ has no /chat/completions: /completions is used until (\d\d:\d\d) UTC", caplog.text)
        assert told
        in_an_hour = datetime.now(UTC) + timedelta(hours=1)
        assert told[1] in (f"{in_an_hour:%H:%M}", f"{in_an_hour - timedelta(minutes=1):%H:%M}")
        provider.fail(400, {"error": {"message": "The prompt is odd."}})
        provider.fail(400, {"error": {"message": "The prompt is odd."}})
        error = (await collect(client))[1]
        assert error is not None and f"asked by /completions until {told[1]} UTC]" in error.details
        assert "completions" not in error.message

    @pytest.mark.parametrize(
        ("field", "message"),
        [
            ("stream_options", "Unrecognized request argument supplied: stream_options"),
            ("stream_options", "extra fields not permitted"),
            ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            ("temperature", "Unsupported value: 'temperature' does not support 0.3 with this model."),
        ],
    )
    async def test_left_out_when_refused(
        self, provider: FakeProvider, client: ChatClient, field: str, message: str
    ) -> None:
        provider.refused_fields[field] = message
        provider.reply("Hello.")
        provider.reply("Again.")
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)
        await collect(client)
        assert len(provider.requests) == 3
        assert field not in provider.requests[2]
        if field == "max_tokens":
            assert provider.requests[2]["max_completion_tokens"] == 2048


async def test_what_a_server_lacks_is_known_to_the_next_client(provider: FakeProvider, make_client: MakeClient) -> None:
    provider.missing_paths.add("/v1/chat/completions")
    provider.refused_fields["stream_options"] = "extra fields not permitted"
    await collect(make_client())
    await collect(make_client())
    assert provider.paths == ["/v1/chat/completions"] + ["/v1/completions"] * 3
    await collect(make_client(model="another"))
    assert provider.paths[4] == "/v1/chat/completions"


async def test_a_server_that_has_learned_to_chat_is_found_out(provider: FakeProvider, client: ChatClient) -> None:
    provider.missing_paths.add("/v1/chat/completions")
    await collect(client)
    provider.missing_paths = {"/v1/completions"}
    assert isinstance((await collect(client))[1], ModelNotFound)
    assert (await collect(client))[1] is None


async def test_a_frame_of_many_megabytes_passes(provider: FakeProvider, client: ChatClient) -> None:
    long = {"choices": [{"delta": {"content": "Hello."}}], "padding": "x" * 3_000_000}
    provider.garbage(b"data: " + json.dumps(long).encode() + b"\n\n", b"data: [DONE]\n\n")
    pieces, error = await collect(client)
    assert error is None and text_of(pieces) == "Hello."


def test_plain_prompt_keeps_the_turns() -> None:
    messages = [ChatMessage("user", "Hi"), ChatMessage("assistant", "Hello "), ChatMessage("user", "Bye")]
    assert plain_prompt(messages) == "User: Hi\n\nAssistant: Hello\n\nUser: Bye\n\nAssistant:"


async def test_thinking_in_both_field_and_content(provider: FakeProvider, client: ChatClient) -> None:
    provider.garbage(
        b'data: {"choices":[{"delta":{"reasoning":"a","reasoning_content":"a","content":null}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"<think>b</think>c"},"finish_reason":"stop"}]}\n\n',
    )
    pieces, error = await collect(client)
    assert error is None
    assert pieces == [ThinkPiece("a"), ThinkPiece("b"), TextPiece("c"), FinishPiece("stop")]


async def test_what_one_read_holds_is_one_piece(provider: FakeProvider, client: ChatClient) -> None:
    frames = [
        b'data: {"choices":[{"delta":{"%b":"%b"}}]}\n\n' % (name, text)
        for name, text in ((b"reasoning", b"a"), (b"reasoning", b"b"), (b"content", b"c"), (b"content", b"d"))
    ]
    provider.garbage(b"".join(frames), b"data: [DONE]\n\n")
    assert (await collect(client))[0] == [ThinkPiece("ab"), TextPiece("cd"), FinishPiece("stop")]


async def test_the_first_piece_comes_at_once_and_the_rest_in_its_pace(provider: FakeProvider) -> None:
    words = [f"w{number} " for number in range(20)]
    provider.reply("".join(words), delay=0.005)
    began, client = time.monotonic(), ChatClient(Endpoint(provider.base_url, model="fake-model"))
    pieces: list[str] = []
    async with aclosing(client.stream(QUESTION, pace=0.4)) as stream:
        async for piece in stream:
            if isinstance(piece, TextPiece):
                pieces.append(piece.text)
    taken = time.monotonic() - began
    assert "".join(pieces).split() == "".join(words).split()
    assert pieces[0].startswith("w0") and len(pieces) <= 2 + taken / 0.4
    # The connection is kept, and keeps no pace for the next who asks.
    assert (await collect(client))[1] is None and provider.connections == 1


async def test_a_server_that_runs_ahead_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_MAX_WAITING", 1000)
    written = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal written
        for _number in range(100):
            written += 1
            yield b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % (b"x" * 400)
        yield b"data: [DONE]\n\n"

    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=body()))
    async with aclosing(ChatClient(Endpoint("http://127.0.0.1/v1"), transport).stream(QUESTION)) as stream:
        first = await anext(stream)
        assert written < 20
        pieces = [first, *[piece async for piece in stream]]
    assert text_of(pieces) == "x" * 40_000

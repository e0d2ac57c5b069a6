"""The chat client with a faulty server: received text is kept, and errors say what happened."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from ragsite.llm import errors
from ragsite.llm.chat import ChatClient
from ragsite.llm.stream import reader
from ragsite.llm.types import Endpoint, FinishPiece, Piece, TextPiece, ThinkPiece, UsagePiece
from tests.fakes.provider import FakeProvider
from tests.ragsite.llm.conftest import MakeClient
from tests.ragsite.llm.helpers import QUESTION, collect, text_of


def frame(**choice: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0} | choice]}, ensure_ascii=False).encode() + b"\n\n"


def text_frame(text: str, **choice: Any) -> bytes:
    return frame(delta={"content": text}, **choice)


STOP = frame(delta={}, finish_reason="stop")
DONE = b"data: [DONE]\n\n"


class TestRefusals:
    """Statuses become errors that say who can do what."""

    @pytest.mark.parametrize(
        ("status", "body", "kind"),
        [
            (400, {"error": {"message": "bad"}}, errors.BadRequest),
            (400, {"error": {"message": "This model's maximum context length is 4096"}}, errors.ContextTooLong),
            (400, {"object": "error", "message": "prompt is too long: 9 > 8"}, errors.ContextTooLong),
            (413, b"", errors.ContextTooLong),
            (401, {"error": {"message": "Incorrect API key provided"}}, errors.Unauthorized),
            (402, {"error": {"message": "Insufficient Balance"}}, errors.Unauthorized),
            (403, b"<html>Forbidden</html>", errors.Unauthorized),
            (404, {"error": {"message": "model 'x' not found, try pulling it first"}}, errors.ModelNotFound),
            (400, {"error": {"message": "The model `x` does not exist"}}, errors.ModelNotFound),
            (422, {"detail": [{"msg": "field required"}]}, errors.BadRequest),
            (301, b"", errors.Unreachable),
            (504, b"", errors.TimedOut),
        ],
    )
    async def test_kinds(
        self, provider: FakeProvider, client: ChatClient, status: int, body: Any, kind: type[errors.LLMError]
    ) -> None:
        for _ in range(3):
            provider.fail(status, body)
        pieces, error = await collect(client)
        assert pieces == []
        assert type(error) is kind
        assert "127.0.0.1" in error.details and "127.0.0.1" not in error.message

    async def test_missing_everywhere(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.missing_paths |= {"/v1/chat/completions", "/v1/completions"}
        _, error = await collect(client)
        assert isinstance(error, errors.ModelNotFound)
        provider.missing_paths.clear()
        assert (await collect(client))[1] is None
        assert provider.paths[-1] == "/v1/chat/completions"

    async def test_keys_are_never_repeated(self, provider: FakeProvider, make_client: MakeClient) -> None:
        provider.fail(401, {"error": {"message": "Incorrect API key provided: my-own-key or sk-abcdef123456."}})
        client = make_client(api_key="my-own-key")
        _, error = await collect(client)
        assert error is not None
        assert "my-own-key" not in f"{error!r} {error} {error.detail}"
        assert "sk-abcdef" not in f"{error!r} {error} {error.detail}"
        assert "my-own-key" not in repr(client.endpoint)

    async def test_a_refusal_of_no_end_is_cut(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.fail(401, b"x" * 1_000_000)
        _, error = await collect(client)
        assert isinstance(error, errors.Unauthorized) and len(error.message) < 1000


class TestRetries:
    """Tried again only while nothing has come."""

    @pytest.mark.parametrize("status", [429, 500, 502, 503])
    async def test_until_it_works(self, provider: FakeProvider, client: ChatClient, status: int) -> None:
        provider.fail(status)
        provider.fail(status)
        provider.reply("Hello.")
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)
        assert len(provider.requests) == 3

    async def test_gives_up_after_three(self, provider: FakeProvider, client: ChatClient) -> None:
        for _ in range(4):
            provider.fail(500)
        _, error = await collect(client)
        assert isinstance(error, errors.ProviderError)
        assert len(provider.requests) == 3

    async def test_retry_after_is_kept(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.fail(429, headers={"Retry-After": "0.4"})
        provider.reply("Hello.")
        before = time.monotonic()
        _, error = await collect(client)
        assert error is None
        assert time.monotonic() - before >= 0.4

    async def test_a_long_retry_after_is_told_instead_of_waited(
        self, provider: FakeProvider, client: ChatClient
    ) -> None:
        provider.fail(429, headers={"Retry-After": "45"})
        _, error = await collect(client)
        assert isinstance(error, errors.RateLimited)
        assert error.retry_after == 45
        assert len(provider.requests) == 1

    async def test_when_to_come_back_is_said(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.fail(429, headers={"Retry-After": "3600"})
        _, error = await collect(client)
        assert error is not None and error.message.endswith("Try again in 1 hour.")
        provider.fail(503, headers={"Retry-After": formatdate(time.time() + 45, usegmt=True)})
        _, error = await collect(client)
        assert isinstance(error, errors.ProviderError)
        assert re.search(r"Try again in 4\d seconds\.", error.message)
        assert len(provider.requests) == 2

    async def test_no_credit_is_not_waited_for(self, provider: FakeProvider, client: ChatClient) -> None:
        body = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
        provider.fail(429, body, headers={"Retry-After": "1"})
        _, error = await collect(client)
        assert isinstance(error, errors.Unauthorized)
        assert len(provider.requests) == 1

    async def test_not_after_something_came(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.cut_after(3)
        pieces, error = await collect(client)
        assert text_of(pieces) == "One two three "
        assert isinstance(error, errors.StreamCut)
        assert len(provider.requests) == 1

    async def test_a_connection_broken_before_anything_came(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.cut_after(0)
        provider.reply("Hello.")
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)

    @pytest.mark.parametrize("status", [400, 401, 404])
    async def test_not_what_stays_wrong(self, provider: FakeProvider, client: ChatClient, status: int) -> None:
        for _ in range(6):
            provider.fail(status, {"error": {"message": "model not found"}})
        await collect(client)
        assert len(provider.requests) == 1


class TestUnreachable:
    """No server, or none that answers."""

    async def test_refused(self, make_client: MakeClient) -> None:
        _, error = await collect(make_client(base_url="http://127.0.0.1:1/v1"))
        assert isinstance(error, errors.Unreachable) and error.retryable

    async def test_unknown_host(self, make_client: MakeClient) -> None:
        _, error = await collect(make_client(base_url="http://nowhere.invalid/v1"))
        assert isinstance(error, errors.Unreachable)

    @pytest.mark.parametrize("address", ["http://[broken/v1", "ftp://127.0.0.1/v1", "http://127.0.0.1:99999/v1"])
    async def test_no_address(self, make_client: MakeClient, address: str) -> None:
        with pytest.raises(errors.LLMError):
            await make_client(base_url=address).complete(QUESTION)

    async def test_silence_before_the_answer(self, provider: FakeProvider, make_client: MakeClient) -> None:
        provider.reply("late", first_delay=60)
        _, error = await collect(make_client(idle_timeout=1))
        assert isinstance(error, errors.TimedOut)
        assert await asyncio.to_thread(provider.wait_for_disconnect)
        assert len(provider.requests) == 1

    async def test_silence_within_the_answer(self, provider: FakeProvider, make_client: MakeClient) -> None:
        provider.garbage(text_frame("One "), hold_open=60)
        pieces, error = await collect(make_client(idle_timeout=2))
        assert text_of(pieces) == "One "
        assert isinstance(error, errors.TimedOut)

    async def test_an_answer_without_end(self, provider: FakeProvider, make_client: MakeClient) -> None:
        provider.reply("word " * 500, delay=0.05)
        pieces, error = await collect(make_client(total_timeout=2))
        assert text_of(pieces).startswith("word word")
        assert isinstance(error, errors.TimedOut)
        assert await asyncio.to_thread(provider.wait_for_disconnect)

    async def test_the_deadline_does_not_hit_a_consumer_that_takes_its_time(
        self, provider: FakeProvider, make_client: MakeClient
    ) -> None:
        provider.garbage(text_frame("Hello"), hold_open=60)
        seen = []
        with pytest.raises(errors.TimedOut):
            async for piece in make_client(total_timeout=1).stream(QUESTION):
                seen.append(piece)
                await asyncio.sleep(1.1)
        assert seen


class TestEnds:
    """Streams that end otherwise than the protocol says."""

    async def test_no_done(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello."), STOP)
        assert await collect(client) == ([TextPiece("Hello."), FinishPiece("stop")], None)

    async def test_done_without_a_finish_reason(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello."), DONE)
        assert await collect(client) == ([TextPiece("Hello."), FinishPiece("stop")], None)

    async def test_neither(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello"))
        pieces, error = await collect(client)
        assert pieces == [TextPiece("Hello")]
        assert isinstance(error, errors.StreamCut)

    async def test_cut_within_a_frame(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello "), text_frame("world")[:30])
        pieces, error = await collect(client)
        assert pieces == [TextPiece("Hello ")]
        assert isinstance(error, errors.StreamCut)

    async def test_cut_within_a_tag_keeps_its_beginning(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("a </thi"))
        pieces, error = await collect(client)
        assert text_of(pieces) == "a </thi"
        assert isinstance(error, errors.StreamCut)

    async def test_a_connection_held_open_after_done(
        self, provider: FakeProvider, client: ChatClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reader, "AFTER_DONE", 0.1)
        provider.garbage(text_frame("Hello."), STOP, DONE, hold_open=60)
        async with asyncio.timeout(30):
            pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)

    async def test_a_connection_held_open_after_the_finish_reason(
        self, provider: FakeProvider, client: ChatClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reader, "AFTER_FINISH", 0.2)
        provider.garbage(text_frame("Hello."), STOP, hold_open=60)
        async with asyncio.timeout(25):
            pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)

    @pytest.mark.parametrize(
        ("deltas", "text"),
        [
            ([r"a\ud83d", r"\ude00b"], "a😀b"),
            ([r"\ud83d", r"x"], "\ufffdx"),
            ([r"x\ude00"], "x\ufffd"),
            ([r"x\ud83d"], "x\ufffd"),
            ([r"a\u0000b"], "ab"),
            ([r"\u0000", "a"], "a"),
        ],
    )
    async def test_halves_of_characters(
        self, provider: FakeProvider, client: ChatClient, deltas: list[str], text: str
    ) -> None:
        frames = [b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % delta.encode() for delta in deltas]
        provider.garbage(*frames, STOP)
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == (text, None)
        assert TextPiece("") not in pieces

    async def test_usage_in_every_chunk_counts_once(self, provider: FakeProvider, client: ChatClient) -> None:
        chunks = [
            b'data: {"choices":[{"delta":{"content":"%d"}}],"usage":{"prompt_tokens":5,"completion_tokens":%d}}\n\n'
            % (n, n)
            for n in range(1, 4)
        ]
        provider.garbage(*chunks, STOP, DONE)
        pieces, _ = await collect(client)
        assert [piece for piece in pieces if isinstance(piece, UsagePiece)] == [UsagePiece(5, 3)]

    async def test_complete_refuses_half_an_answer(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Half"))
        with pytest.raises(errors.StreamCut):
            await client.complete(QUESTION)


class TestGarbage:
    """Bytes that aren't what was asked for."""

    @pytest.mark.parametrize(
        "body",
        [
            b"<html><body>Welcome to nginx</body></html>",
            b"data: not json\n\n",
            b"data: [1, 2]\n\n",
            b"data: {\n\n",
            b"hello",
            b"{",
            b"[]",
            b'{"object": "list"',
            b"\x00\xff\xfe" * 50,
            b"data: " + b"[" * 100_000 + b"\n\n",
        ],
    )
    async def test_unreadable(self, provider: FakeProvider, client: ChatClient, body: bytes) -> None:
        provider.garbage(body)
        pieces, error = await collect(client)
        assert pieces == []
        assert isinstance(error, errors.BadReply)

    async def test_after_something_came(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello"), b"data: oops\n\n", text_frame("never"))
        pieces, error = await collect(client)
        assert text_of(pieces) == "Hello"
        assert isinstance(error, errors.BadReply)

    async def test_after_done_nothing_matters(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello"), DONE, b"data: oops\n\n")
        assert (await collect(client))[1] is None

    async def test_nothing_at_all(self, provider: FakeProvider, client: ChatClient) -> None:
        for _ in range(3):
            provider.garbage()
        _, error = await collect(client)
        assert isinstance(error, errors.StreamCut)
        assert len(provider.requests) == 3

    async def test_giant_frame(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello"), b"data: ", *[b"x" * 1_000_000] * 10)
        pieces, error = await collect(client)
        assert text_of(pieces) == "Hello"
        assert isinstance(error, errors.BadReply)

    async def test_an_answer_without_an_end_is_broken_off(
        self, provider: FakeProvider, client: ChatClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reader, "MAX_TEXT", 7)
        provider.garbage(text_frame("Hello"), text_frame(" again"), text_frame(" and again"), STOP, DONE)
        pieces, error = await collect(client)
        assert text_of(pieces) == "Hello a"
        assert isinstance(error, errors.TooLong)
        assert len(provider.requests) == 1

    async def test_giant_body(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(b'{"x": "', *[b"x" * 1_000_000] * 10)
        assert isinstance((await collect(client))[1], errors.BadReply)

    @pytest.mark.parametrize(
        "choice",
        [
            {"delta": None},
            {"delta": {}},
            {"delta": {"content": None}},
            {"delta": {"content": ""}},
            {"delta": {"role": "assistant"}},
            {"delta": {"content": 7}},
            {"delta": {"content": {"text": None}}},
            {"delta": "text"},
            {"delta": {"tool_calls": [{"index": 0}]}},
            {"index": 1, "delta": {"content": "another choice"}},
        ],
    )
    async def test_choices_without_text_are_passed_over(
        self, provider: FakeProvider, client: ChatClient, choice: dict[str, Any]
    ) -> None:
        provider.garbage(frame(**choice), text_frame("Hello."), STOP, DONE)
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)

    @pytest.mark.parametrize("choices", ["null", "[]", "{}", "[null]", '"x"'])
    async def test_odd_lists_of_choices(self, provider: FakeProvider, client: ChatClient, choices: str) -> None:
        provider.garbage(f'data: {{"choices": {choices}}}\n\n'.encode(), text_frame("Hello."), STOP)
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)


class TestErrorsInside:
    """A failure reported in a reply of status 200."""

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            ('{"message": "overloaded", "code": 529}', errors.ProviderError),
            ('{"message": "slow down", "code": "rate_limit_exceeded"}', errors.RateLimited),
            ('"model runner has unexpectedly stopped"', errors.ProviderError),
            ('{"message": "context length exceeded"}', errors.ContextTooLong),
            ('{"code": 401, "message": "no"}', errors.Unauthorized),
        ],
    )
    async def test_after_something_came(
        self, provider: FakeProvider, client: ChatClient, error: str, kind: type[errors.LLMError]
    ) -> None:
        provider.garbage(text_frame("Hello"), f'data: {{"error": {error}}}\n\n'.encode())
        pieces, raised = await collect(client)
        assert text_of(pieces) == "Hello"
        assert type(raised) is kind

    async def test_in_place_of_an_answer_it_is_tried_again(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(b'{"error": "busy"}', content_type="application/json")
        provider.reply("Hello.")
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)

    async def test_as_a_finish_reason(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello"), frame(delta={}, finish_reason="error"))
        pieces, error = await collect(client)
        assert text_of(pieces) == "Hello"
        assert isinstance(error, errors.ProviderError)


class TestBodies:
    """Servers that answer a request for a stream with one JSON body."""

    WHOLE = {"choices": [{"message": {"content": "<think>Hm.</think>Hello.", "reasoning_content": "So. "}}]}

    @pytest.mark.parametrize("content_type", ["application/json", "text/plain", "text/event-stream"])
    @pytest.mark.parametrize("lead", [b"", b"\n \n", b"\xef\xbb\xbf", b" " * 2000])
    async def test_json(self, provider: FakeProvider, client: ChatClient, content_type: str, lead: bytes) -> None:
        body = lead + json.dumps(self.WHOLE, indent=2).encode()
        provider.garbage(body[:10], body[10:40], body[40:], content_type=content_type)
        pieces, error = await collect(client)
        assert error is None
        assert pieces == [ThinkPiece("So. "), ThinkPiece("Hm."), TextPiece("Hello."), FinishPiece("stop")]

    async def test_events_called_json(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hello."), STOP, content_type="application/json")
        assert text_of((await collect(client))[0]) == "Hello."

    async def test_content_in_parts(self, provider: FakeProvider, client: ChatClient) -> None:
        parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Yes."}]
        provider.garbage(frame(delta={"content": parts}), STOP)
        pieces, _ = await collect(client)
        assert pieces[:2] == [ThinkPiece("Hm."), TextPiece("Yes.")]

    async def test_objects_that_no_empty_line_divides(self, provider: FakeProvider, client: ChatClient) -> None:
        provider.garbage(text_frame("Hel")[:-1] + text_frame("lo.")[:-1] + STOP[:-1] + DONE)
        pieces, error = await collect(client)
        assert (text_of(pieces), error) == ("Hello.", None)


class _Cut(httpx.AsyncByteStream):
    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk


async def _pieces_of(chunks: list[bytes]) -> list[Piece]:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=_Cut(chunks)))
    client = ChatClient(Endpoint("http://fake.invalid/v1"), transport)
    pieces, error = await collect(client)
    assert error is None
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if isinstance(piece, TextPiece) and isinstance(last, TextPiece):
            merged[-1] = TextPiece(last.text + piece.text)
        elif isinstance(piece, ThinkPiece) and isinstance(last, ThinkPiece):
            merged[-1] = ThinkPiece(last.text + piece.text)
        else:
            merged.append(piece)
    return merged


RECORDED = (
    b": ping\r\n\r\n"
    + frame(delta={"role": "assistant", "content": "<th"}).replace(b"\n", b"\r\n")
    + text_frame("ink>想一想😀</thi")
    + text_frame("nk>\n\n答：")
    + text_frame("BM25 é").replace(b"data: ", b"data:")
    + b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}\n\n'
    + STOP
    + b"data: [DONE]\n\n"
)
EXPECTED = [ThinkPiece("想一想😀"), TextPiece("答：BM25 é"), UsagePiece(9, 4), FinishPiece("stop")]


async def test_every_cut_of_a_recorded_stream_gives_the_same_pieces() -> None:
    assert await _pieces_of([RECORDED]) == EXPECTED
    assert await _pieces_of([RECORDED[at : at + 1] for at in range(len(RECORDED))]) == EXPECTED
    for at in range(1, len(RECORDED)):
        assert await _pieces_of([RECORDED[:at], RECORDED[at:]]) == EXPECTED, at

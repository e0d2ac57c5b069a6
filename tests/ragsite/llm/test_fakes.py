"""The fakes have the same interfaces as the originals."""

import inspect
from contextlib import aclosing

import pytest

from ragsite.llm.chat import ChatClient
from ragsite.llm.errors import StreamCut
from ragsite.llm.types import ChatMessage, FinishPiece, TextPiece, ThinkPiece
from tests.fakes import answers
from tests.fakes.llm import FakeLLM
from tests.fakes.provider import FakeProvider
from tests.ragsite.llm.helpers import QUESTION, collect, text_of, thinking_of


@pytest.mark.parametrize("name", ["stream", "complete", "aclose"])
def test_same_signatures(name: str) -> None:
    fake, real = getattr(FakeLLM, name), getattr(ChatClient, name)
    assert inspect.signature(fake) == inspect.signature(real)


async def test_queue(fake_llm: FakeLLM) -> None:
    fake_llm.enqueue("<think>Hm.</think>One two.", [TextPiece("a"), StreamCut()], StreamCut())
    reply = await fake_llm.complete(QUESTION, max_tokens=5)
    assert (reply.text, reply.thinking, reply.finish_reason) == ("One two.", "Hm.", "stop")
    assert fake_llm.calls[0].messages == tuple(QUESTION)
    assert fake_llm.calls[0].max_tokens == 5
    seen = []
    with pytest.raises(StreamCut):
        async for piece in fake_llm.stream(QUESTION):
            seen.append(piece)
    assert seen == [TextPiece("a")]
    with pytest.raises(StreamCut):
        await fake_llm.complete(QUESTION)
    assert fake_llm.left == 0


async def test_a_call_too_many_fails(fake_llm: FakeLLM) -> None:
    with pytest.raises(AssertionError, match="no answer"):
        await fake_llm.complete(QUESTION)


async def test_stopping_is_counted(fake_llm: FakeLLM) -> None:
    fake_llm.enqueue([ThinkPiece("a"), 0.0, TextPiece("b"), FinishPiece("stop")])
    async with aclosing(fake_llm.stream(QUESTION)) as stream:
        async for _ in stream:
            break
    assert fake_llm.stopped == 1


@pytest.mark.parametrize("form", ["[{}] a.pdf\n{}\n\n", '<passage number="{}" from="a.pdf">\n{}\n</passage>\n'])
async def test_automatic_answers_quote_the_evidence(provider: FakeProvider, client: ChatClient, form: str) -> None:
    evidence = form.format(1, "It is fast indeed. The gateway listens on port 8443.")
    evidence += form.format(2, "设备的保修期为二十四个月整。它很快，非常非常快啊。")
    messages = [ChatMessage("system", "Cite."), ChatMessage("user", f"{evidence}\nQuestion: Which port 保修期?")]
    reply = await client.complete(messages)
    assert "- The gateway listens on port 8443. [1]" in reply.text
    assert "- 设备的保修期为二十四个月整。 [2]" in reply.text
    assert "2 numbered passages" in reply.thinking


async def test_automatic_answers_without_evidence(provider: FakeProvider, client: ChatClient) -> None:
    pieces, error = await collect(client)
    assert error is None
    assert text_of(pieces) == "You said: What is BM25?"
    assert thinking_of(pieces)


@pytest.mark.parametrize("text", ["", "one two  three\n\nfour", "混合 mixed文本。\n", " lead"])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_cutting_loses_nothing(text: str, size: int) -> None:
    assert "".join(answers.cut(text, size)) == text

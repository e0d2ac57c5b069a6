"""A queued fake model with the interface of `ragsite.llm.chat.ChatClient`."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from ragsite.llm.errors import LLMError
from ragsite.llm.stream.think import ThinkSplitter
from ragsite.llm.types import ChatMessage, Endpoint, FinishPiece, Piece, Reply, TextPiece, ThinkPiece, UsagePiece
from tests.fakes.answers import cut

# A text, an error, or a list of pieces, errors, seconds to wait, and events to wait for.
Step = Piece | LLMError | float | asyncio.Event
Answer = str | LLMError | Sequence[Step]


@dataclass(frozen=True)
class Call:
    """One request that the fake received."""

    messages: tuple[ChatMessage, ...]
    temperature: float | None
    max_tokens: int | None


class FakeLLM:
    """Answers each call with the next entry of the queue; a call without an entry fails the test.

    In conversations it is the model for the purposes that it `serves`; other purposes have none.
    """

    def __init__(self, endpoint: Endpoint | None = None) -> None:
        self.endpoint = endpoint or Endpoint("http://fake.invalid/v1", model="fake-model")
        self.serves = {"answer", "chat", "clarify"}
        self.calls: list[Call] = []
        self.stopped = 0
        self.closed = 0
        self._answers: deque[Answer] = deque()

    def enqueue(self, *answers: Answer) -> None:
        """Add answers to the next calls. `<think>` in a text is split as by the client."""
        self._answers.extend(answers)

    @property
    def left(self) -> int:
        """The number of unused answers."""
        return len(self._answers)

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        pace: float = 0.0,
    ) -> AsyncGenerator[Piece, None]:
        """Yield the next answer in its pieces; `stopped` counts those closed before their end."""
        self.calls.append(Call(tuple(messages), temperature, max_tokens))
        if not self._answers:
            raise AssertionError(f"The fake model has no answer for: {messages[-1].content[:200]!r}")
        whole = False
        try:
            for step in _steps(self._answers.popleft()):
                if isinstance(step, LLMError):
                    whole = True
                    raise step
                if isinstance(step, int | float):
                    await asyncio.sleep(step)
                elif isinstance(step, asyncio.Event):
                    await step.wait()
                else:
                    await asyncio.sleep(0)
                    yield step
            whole = True
        finally:
            self.stopped += not whole

    async def complete(
        self, messages: Sequence[ChatMessage], *, temperature: float | None = None, max_tokens: int | None = None
    ) -> Reply:
        """Return the next answer in full."""
        pieces: list[Piece] = []
        async with aclosing(self.stream(messages, temperature=temperature, max_tokens=max_tokens)) as answer:
            async for piece in answer:
                pieces.append(piece)
        return Reply(
            "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)),
            "".join(piece.text for piece in pieces if isinstance(piece, ThinkPiece)),
            next((piece.reason for piece in pieces if isinstance(piece, FinishPiece)), ""),
        )

    async def aclose(self) -> None:
        """Count the call."""
        self.closed += 1


def _steps(answer: Answer) -> list[Step]:
    if isinstance(answer, LLMError):
        return [answer]
    if not isinstance(answer, str):
        return list(answer)
    splitter = ThinkSplitter()
    steps: list[Step] = [piece for part in cut(answer, 2) for piece in splitter.feed(part)]
    return [*steps, *splitter.close(), UsagePiece(0, len(steps)), FinishPiece("stop")]

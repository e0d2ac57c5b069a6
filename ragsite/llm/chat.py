"""A client for chat models behind OpenAI-compatible endpoints, based on httpx.

Answers are streamed. Closing the iterator closes the connection, which makes the provider stop. Servers differ:
requests that some of them reject are adapted here, variants of replies are handled in `stream/replies.py`.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx
from django.utils import timezone
from django.utils.translation import gettext as _

from ragsite.llm import http
from ragsite.llm.connection import Connection
from ragsite.llm.errors import BadRequest, Busy, ContextTooLong, LLMError, TimedOut
from ragsite.llm.stream.reader import read_pieces
from ragsite.llm.stream.replies import ReplyParser
from ragsite.llm.stream.think import ThinkSplitter, split_thinking
from ragsite.llm.types import ChatMessage, Endpoint, FinishPiece, Piece, Reply, TextPiece, ThinkPiece, UsagePiece
from ragsite.runtime import caches

logger = logging.getLogger(__name__)

ATTEMPTS = 3
# The longest wait for another attempt, in seconds; after that, the error says when to try again.
MAX_WAIT = 20.0
_NO_SUCH_PATH = (404, 405, 501)
# The field to leave out if an error message contains the word.
_OPTIONAL = {
    "reasoning_effort": "reasoning_effort",
    "chat_template_kwargs": "chat_template_kwargs",
    "thinking": "thinking",
    "max_completion_tokens": "max_tokens",
    "temperature": "temperature",
    "stream_options": "stream_options",
}

# The request field that turns thinking on or off, with both values, by `Endpoint.thinking_field`.
THINKING: dict[str, tuple[str, Any, Any]] = {
    "reasoning_effort": ("reasoning_effort", "medium", "none"),
    "enable_thinking": ("chat_template_kwargs", {"enable_thinking": True}, {"enable_thinking": False}),
    "thinking": ("thinking", {"type": "enabled"}, {"type": "disabled"}),
    "top_enable_thinking": ("enable_thinking", True, False),
}
# `Endpoint.thinking_field` of a model that thinks whatever it is asked.
ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class _Ask:
    """One request: its messages and parameters. `deadline` is in the loop's time, `pace` in seconds."""

    messages: Sequence[ChatMessage]
    temperature: float
    max_tokens: int
    deadline: float
    pace: float = 0.0


@dataclass(frozen=True, slots=True)
class _Lacks:
    """Features that a server was found to lack: chat, or request fields."""

    chat: bool = False
    fields: frozenset[str] = frozenset()


# Findings with their time, by base URL and model, so that each server is tried only once. They expire after an hour,
# since servers change.
_found: dict[tuple[str, str], tuple[_Lacks, float]] = {}
caches.register(_found.clear)
_FOUND_SECONDS = 3600.0


class _Missing(Exception):
    """The endpoint has no such path; `error` is to be raised if there is no alternative."""

    def __init__(self, error: LLMError) -> None:
        super().__init__(error.detail)
        self.error = error


class ChatClient:
    """A client for one endpoint. Failures are raised as `LLMError`, an invalid base URL already on construction.

    `transport` replaces the network in tests; `pause` is the first back-off in seconds.
    """

    def __init__(
        self, endpoint: Endpoint, transport: httpx.AsyncBaseTransport | None = None, *, pause: float = 0.5
    ) -> None:
        self.endpoint = endpoint
        self._pause = pause
        self._connection = Connection(endpoint, transport)

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        pace: float = 0.0,
    ) -> AsyncGenerator[Piece, None]:
        """Yield the answer: text and thinking as they arrive, then usage (if counted), then one `FinishPiece`.

        The first piece is yielded at once, later ones every `pace` seconds, with all that has arrived since. Retries
        with back-off until something arrives. If the answer breaks off, everything received is yielded before the
        error is raised. Close the generator (`contextlib.aclosing`) to stop the model.
        """
        splitter = ThinkSplitter()
        try:
            async with aclosing(self._answer(self._ask(messages, temperature, max_tokens, pace))) as pieces:
                async for piece in pieces:
                    if isinstance(piece, TextPiece):
                        for part in splitter.feed(piece.text):
                            yield part
                        continue
                    if not isinstance(piece, ThinkPiece):
                        for part in splitter.close():
                            yield part
                    yield piece
        except LLMError:
            for part in splitter.close():
                yield part
            raise

    async def complete(
        self, messages: Sequence[ChatMessage], *, temperature: float | None = None, max_tokens: int | None = None
    ) -> Reply:
        """Return the whole answer, with its thinking apart. Raises `LLMError`, also if the answer breaks off."""
        pieces: list[Piece] = []
        async with aclosing(self._answer(self._ask(messages, temperature, max_tokens))) as answer:
            async for piece in answer:
                pieces.append(piece)
        thought, text = split_thinking("".join(piece.text for piece in pieces if isinstance(piece, TextPiece)))
        thinking = "".join(piece.text for piece in pieces if isinstance(piece, ThinkPiece)).strip()
        reason = next((piece.reason for piece in pieces if isinstance(piece, FinishPiece)), "")
        usage = next((piece for piece in pieces if isinstance(piece, UsagePiece)), None)
        return Reply(text, "\n\n".join(filter(None, (thinking, thought))), reason, usage)

    async def aclose(self) -> None:
        """Release the connection, which the event loop keeps for later requests."""
        await self._connection.aclose()

    def _ask(
        self, messages: Sequence[ChatMessage], temperature: float | None, max_tokens: int | None, pace: float = 0.0
    ) -> _Ask:
        endpoint = self.endpoint
        return _Ask(
            messages,
            endpoint.temperature if temperature is None else temperature,
            max_tokens or endpoint.max_tokens,
            asyncio.get_running_loop().time() + endpoint.total_timeout,
            pace,
        )

    async def _answer(self, ask: _Ask) -> AsyncGenerator[Piece, None]:
        """Yield the answer, retrying until something arrives."""
        for attempt in range(ATTEMPTS):
            started = False
            try:
                async with aclosing(self._adapted(ask)) as pieces:
                    async for piece in pieces:
                        started = True
                        yield piece
                return
            except LLMError as error:
                error.where = error.where or http.host(self.endpoint)
                if "/completions" not in error.where and (time_of_day := self._without_chat_until()):
                    error.where += _(", asked by /completions until %(time)s") % {"time": time_of_day}
                wait = max(self._pause * 2**attempt, error.retry_after or 0.0)
                now = asyncio.get_running_loop().time()
                # After a time-out, the user has waited long enough.
                worthwhile = error.retryable and not isinstance(error, TimedOut | Busy) and attempt + 1 < ATTEMPTS
                if started or not worthwhile or wait > MAX_WAIT or now + wait > ask.deadline:
                    raise
            await asyncio.sleep(wait)

    async def _adapted(self, ask: _Ask) -> AsyncGenerator[Piece, None]:
        """Yield the answer, repeating the request without features that the server lacks."""
        lacks = _known_lacks(self.endpoint)
        while True:
            try:
                async with aclosing(self._once(ask, lacks)) as pieces:
                    async for piece in pieces:
                        if lacks != _known_lacks(self.endpoint):
                            _found[_key(self.endpoint)] = (lacks, time.monotonic())
                            if lacks.chat:
                                logger.warning(
                                    "%s has no /chat/completions: /completions is used until %s",
                                    http.host(self.endpoint), self._without_chat_until(),
                                )  # fmt: skip
                        yield piece
                return
            except _Missing as missing:
                if lacks.chat:
                    _found.pop(_key(self.endpoint), None)
                    raise missing.error from missing
                lacks = replace(lacks, chat=True)
            except BadRequest as error:
                # The optional field that the error message names, or else the least common one.
                named = [field for word, field in _OPTIONAL.items() if word in error.detail]
                unwanted = next((field for field in [*named, "stream_options"] if field not in lacks.fields), None)
                if unwanted is None or isinstance(error, ContextTooLong):
                    raise
                lacks = replace(lacks, fields=lacks.fields | {unwanted})

    def _without_chat_until(self) -> str:
        """Return until what time `/completions` is used, for administrators; empty if it isn't.

        Until then, a path for chat that has been added meanwhile isn't tried, unless `/completions` is gone.
        """
        lacks, found_at = _found.get(_key(self.endpoint), (_Lacks(), 0.0))
        left = _FOUND_SECONDS - (time.monotonic() - found_at)
        if not lacks.chat or left <= 0:
            return ""
        until = timezone.localtime(timezone.now() + timedelta(seconds=left), timezone.get_default_timezone())
        return f"{until:%H:%M %Z}"

    async def _once(self, ask: _Ask, lacks: _Lacks) -> AsyncGenerator[Piece, None]:
        limit = "max_completion_tokens" if "max_tokens" in lacks.fields else "max_tokens"
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": ask.temperature,
            limit: ask.max_tokens,
        }
        if self.endpoint.think is not None and self.endpoint.thinking_field in THINKING:
            name, on, off = THINKING[self.endpoint.thinking_field]
            body[name] = on if self.endpoint.think else off
        if lacks.chat:
            body |= {"prompt": plain_prompt(ask.messages), "stop": ["\nUser:"]}
        else:
            body["messages"] = [message.to_dict() for message in ask.messages]
        body = {name: value for name, value in body.items() if name not in lacks.fields}
        path = "/completions" if lacks.chat else "/chat/completions"
        async with self._connection.send("POST", path, ask.deadline, body) as incoming:
            if not incoming.ok:
                error = await incoming.refusal()
                # An unknown model is a 404, too; only a missing path is a reason to try the other one.
                if incoming.status in _NO_SUCH_PATH and not http.names_a_model(error.detail):
                    raise _Missing(error)
                raise error
            async with aclosing(read_pieces(incoming, ReplyParser(self.endpoint), ask.pace)) as pieces:
                async for piece in pieces:
                    yield piece


def plain_prompt(messages: Sequence[ChatMessage]) -> str:
    """Return the messages as one text, for a completion model."""
    names = {"user": "User: ", "assistant": "Assistant: "}
    parts = [names.get(message.role, "") + message.content.strip() for message in messages]
    return "\n\n".join([*parts, "Assistant:"])


def _key(endpoint: Endpoint) -> tuple[str, str]:
    return endpoint.base_url, endpoint.model


def _known_lacks(endpoint: Endpoint) -> _Lacks:
    lacks, found_at = _found.get(_key(endpoint), (_Lacks(), 0.0))
    return lacks if time.monotonic() - found_at < _FOUND_SECONDS else _Lacks()

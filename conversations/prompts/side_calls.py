"""Side calls: short requests to a model while answering, such as how to understand or search for a question.

They must not delay the answer: each is sent once, with a timeout of seconds, and the caller goes on without a reply. A
model that times out gets no side calls for a minute, so a slow model delays a turn only once.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from conversations.history import PastTurn
from conversations.prompts import endpoints
from conversations.prompts.budget import Window
from conversations.prompts.no_reply import NoReply
from conversations.prompts.templates import Prompt, aget_prompt
from ragsite.llm.chat import ChatClient
from ragsite.llm.errors import LLMError, TimedOut, Unreachable
from ragsite.llm.prompt_tokens import count_prompt_tokens, shorten
from ragsite.llm.types import ChatMessage, Endpoint, Reply, UsagePiece
from ragsite.runtime import caches

logger = logging.getLogger(__name__)

# Seconds without side calls for a model that was too slow or unreachable.
PAUSE = 60.0
# Tokens for thinking, in addition to those of the reply, for models that think first.
THINKING_ROOM = 2048
# The most tokens quoted of a past question or answer, of the summary of those before, and of the question.
_PAST_TOKENS = 200
_SUMMARY_TOKENS = 400
_QUESTION_TOKENS = 1000
# The labels of questions, answers, and the summary of earlier turns.
SPEAKERS = {"en": ("User", "Assistant", "Summary so far"), "zh": ("用户", "助手", "此前的摘要")}
# Replaces an answer that failed or was stopped before it was complete.
_UNANSWERED = {"en": "(this was not answered)", "zh": "（未得到回答）"}
# Replaces an empty history.
_NOTHING = "-"

_paused: dict[tuple[str, str], float] = {}
_thinkers: set[tuple[str, str]] = set()


@dataclass(frozen=True, slots=True)
class Answered:
    """A model's reply without its thinking; `cut` is true if the token limit ended it.

    `usage` is the token usage that the provider reported, if any.
    """

    text: str
    cut: bool
    model: str
    usage: UsagePiece | None = None


class SideModel:
    """A model and its prompt for one purpose; each call takes at most `seconds`.

    If it is `patient`, slow models are asked again instead of being paused, because the reply is essential.
    """

    def __init__(self, purpose: str, client: ChatClient, prompt: Prompt, seconds: float, patient: bool = False) -> None:
        self._purpose = purpose
        self._client = client
        self._prompt = prompt
        self._seconds = seconds
        self._patient = patient

    @property
    def model(self) -> str:
        """The model's name."""
        return self._client.endpoint.model

    @property
    def prompt_version(self) -> int:
        """The version of the prompt; 0 for the default of the release."""
        return self._prompt.version

    async def ask(self, turns: Sequence[tuple[str, str]] = (), also: str = "", **variables: str) -> Answered:
        """Fill the prompt, send it, and return the reply. Raises `NoReply`.

        `turns` are past questions and answers; `also` is appended to the prompt's instructions.
        """
        prompt = replace(self._prompt, system="\n\n".join(filter(None, (self._prompt.system, also))))
        key = _key(self._client.endpoint)
        if not self._patient and _paused.get(key, 0.0) > time.monotonic():
            raise NoReply("paused")
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self._complete(self._fitted(prompt, turns, variables))
        except (TimeoutError, TimedOut):
            if not self._patient:
                _paused[key] = time.monotonic() + PAUSE
            logger.warning("The model for %s did not reply within %g s", self._purpose, self._seconds)
            raise NoReply("timed out", _("No answer within %(seconds)g s.") % {"seconds": self._seconds}) from None
        except LLMError as error:
            if isinstance(error, Unreachable):
                _paused[key] = time.monotonic() + PAUSE
            logger.warning("The model for %s failed: %s %s", self._purpose, error.code, error.details)
            raise NoReply("failed", error.message) from error
        if not reply.text.strip():
            raise NoReply("empty")
        return Answered(reply.text, reply.finish_reason == "length", self.model, reply.usage)

    def _fitted(self, prompt: Prompt, turns: Sequence[tuple[str, str]], variables: dict[str, str]) -> tuple[str, str]:
        """Return the filled prompt with as much of the history's end as fits into the model's window."""
        history = variables.get("history", "")
        window = Window.of(self._client.endpoint.context_window, self._client.endpoint.max_tokens)
        whole = prompt.fill(turns, **variables)
        if not history and not turns:
            return whole  # nothing can be left out
        if sum(len(text.encode()) for text in whole) < window.limit:  # no token is less than a byte
            return whole
        taken = sum(map(window.measure, prompt.fill(turns, **variables | {"history": ""})))
        while turns and prompt.loops and taken > window.limit:
            turns = turns[1:]
            taken = sum(map(window.measure, prompt.fill(turns, **variables | {"history": ""})))
        if not history:
            return prompt.fill(turns, **variables)
        tokens = window.room(window.limit - taken)
        kept: list[str] = []
        for line in reversed(history.splitlines()):
            tokens -= count_prompt_tokens(line) + 1
            if tokens < 0:
                break
            kept.append(line)
        return prompt.fill(turns, **variables | {"history": "\n".join(reversed(kept)) or _NOTHING})

    async def _complete(self, prompt: tuple[str, str]) -> Reply:
        """Return the reply; a model that spends its tokens on thinking gets more, in this and later calls."""
        endpoint = self._client.endpoint
        messages = [ChatMessage("system", prompt[0]), ChatMessage("user", prompt[1])]
        roomy = min(endpoint.max_tokens + THINKING_ROOM, endpoint.context_window // 2)
        if _key(endpoint) not in _thinkers:
            reply = await self._client.complete(messages)
            signs = (bool(reply.thinking), reply.finish_reason == "length")
            if not (all(signs) if reply.text.strip() else any(signs)):
                return reply
            _thinkers.add(_key(endpoint))
        return await self._client.complete(messages, max_tokens=roomy)


@asynccontextmanager
async def model_for(purpose: str, language: str, seconds: float, patient: bool = False) -> AsyncIterator[SideModel]:
    """Yield the model of a purpose with its prompt in a language; each call takes at most `seconds`.

    With `patient`, the model is called even if it was slow just before, and is not paused afterwards.

    Raises `NoReply` if there is no model or it can't be resolved.
    """
    try:
        async with asyncio.timeout(seconds):
            client = await endpoints.client_for(purpose)
    except TimeoutError:
        raise NoReply("timed out") from None
    except LLMError as error:
        logger.warning("The model for %s can't be used: %s %s", purpose, error.code, error.details)
        raise NoReply("failed", error.message) from error
    if client is None:
        raise NoReply("no model")
    try:
        yield SideModel(purpose, client, await aget_prompt(purpose, language), seconds, patient)
    finally:
        await client.aclose()


async def ask(
    purpose: str, language: str, seconds: float, turns: Sequence[tuple[str, str]] = (), **variables: str
) -> Answered:
    """Ask the model of a purpose once. Raises `NoReply`."""
    async with model_for(purpose, language, seconds) as model:
        return await model.ask(turns, **variables)


@caches.register
def forget_slow_models() -> None:
    """Clear the records of which models were slow and which think."""
    _paused.clear()
    _thinkers.clear()


def transcript(turns: Sequence[PastTurn], language: str, summary: str = "") -> str:
    """Return past turns as text for a prompt, oldest first, with long answers cut; `summary` is of earlier turns.

    `language` is that of the prompt, `"zh"` or `"en"`.
    """
    user, assistant, before = SPEAKERS[language]
    parts = [f"{before}: {_short(summary, _SUMMARY_TOKENS)}"] if summary else []
    for question, answer in spoken(turns, language):
        parts += [f"{user}: {question}", f"{assistant}: {answer}"]
    return "\n".join(parts) or _NOTHING


def spoken(turns: Sequence[PastTurn], language: str) -> list[tuple[str, str]]:
    """Return the questions and answers of past turns for a prompt, with long ones cut and missing answers marked."""
    return [
        (_short(turn.question, _PAST_TOKENS), _short(turn.answer, _PAST_TOKENS) or _UNANSWERED[language])
        for turn in turns
    ]


def quoted(question: str) -> str:
    """Return a question for a prompt, cut if it is very long."""
    return _short(question, _QUESTION_TOKENS)


def _short(text: str, tokens: int) -> str:
    """Return a text cut to `tokens` tokens; only the beginning of a very long text is counted."""
    return text if len(text) <= tokens else shorten(text[: 6 * tokens], tokens)


def _key(endpoint: Endpoint) -> tuple[str, str]:
    return endpoint.base_url, endpoint.model

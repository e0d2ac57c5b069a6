"""Listing an endpoint's models, testing them with a question, and explaining errors to administrators."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from conversations.admin.model_setup.draft import ANSWER_PATIENCE, LIST_PATIENCE, Draft, Offered, Trial
from conversations.models import ModelProfile
from conversations.prompts import profiles
from ragsite.llm import errors
from ragsite.llm.chat import ALWAYS, THINKING, ChatClient
from ragsite.llm.default import thinking_field_at
from ragsite.llm.offers import offers
from ragsite.llm.types import ChatMessage, Endpoint, TextPiece, ThinkPiece, UsagePiece

# An answer of at least `_LONG` characters that arrives in one piece after `_SLOW_MS` milliseconds wasn't streamed.
_SLOW_MS, _LONG = 1500, 80
_MOST_SHOWN = 2000
# Seconds without output after which an empty line is sent, so that proxies don't close the connection.
_SILENCE = 15.0
# Seconds for each attempt to keep a model from thinking.
_OFF_PATIENCE = 20.0
_JSON_QUESTION = 'Reply with nothing but this JSON object, filled in: {"capital": "…"} for the capital of France.'


async def look(draft: Draft) -> None:
    """Set the draft's models, and the address at which the API was found. Raises `LLMError`."""
    endpoint, found = await offers(draft.endpoint(patience=LIST_PATIENCE))
    draft.base_url = endpoint.base_url
    draft.offered = [
        Offered(
            each.name,
            each.kind.value,
            each.context_window,
            None if each.input_price is None else str(each.input_price),
            None if each.output_price is None else str(each.output_price),
        )
        for each in found
    ]


# Called with a model's name, the kind of output ("text", "thinking" or "error"), and the output.
OnOutput = Callable[[str, str, str], None]


async def stream_trials(draft: Draft, save: Callable[[], Awaitable[None]]) -> AsyncGenerator[str]:
    """Test each of the draft's models, and yield their output as lines of JSON.

    A line is `{"model": …, "text" | "thinking" | "error": …}`; the last one is `{"done": true}`, after the results were
    added to the draft and `save` was awaited.
    """
    queue: asyncio.Queue[str] = asyncio.Queue()

    def on_output(model: str, kind: str, text: str) -> None:
        queue.put_nowait(json.dumps({"model": model, kind: text}) + "\n")

    asking = asyncio.create_task(try_models(draft, draft.question, on_output))
    asking.add_done_callback(lambda _task: queue.put_nowait(""))
    try:
        while True:
            try:
                async with asyncio.timeout(_SILENCE):
                    line = await queue.get()
            except TimeoutError:
                line = "\n"
            if not line:
                break
            yield line
        draft.trials = await asking
        await save()
        yield '{"done": true}\n'
    finally:
        asking.cancel()


async def try_models(draft: Draft, question: str, on_output: OnOutput | None = None) -> list[Trial]:
    """Test each of the draft's models once, all concurrently: chat models with the question, others by their kind."""
    apart = {ModelProfile.Purpose.EMBEDDING.value, ModelProfile.Purpose.RERANK.value}
    wanted: dict[str, str] = {}  # a purpose of each model
    for purpose, model in draft.models.items():
        if model not in wanted or wanted[model] in apart:
            wanted[model] = purpose
    return list(
        await asyncio.gather(
            *(
                _measure(draft, model, purpose)
                if purpose in apart
                else try_chat(draft.endpoint(model), question, on_output)
                for model, purpose in wanted.items()
            )
        )
    )


async def try_chat(endpoint: Endpoint, question: str, on_output: OnOutput | None = None) -> Trial:
    """Ask a question and measure the answer, then test whether the model replies in JSON on request."""
    client = ChatClient(endpoint)
    trial = Trial(endpoint.model, works=False)
    report = on_output or (lambda *_output: None)
    began, arrivals = time.monotonic(), 0
    texts: list[str] = []
    thoughts: list[str] = []
    try:
        async with aclosing(client.stream([ChatMessage("user", question)], max_tokens=2048)) as pieces:
            async for piece in pieces:
                now = round(1000 * (time.monotonic() - began))
                if isinstance(piece, TextPiece | ThinkPiece):
                    trial.first_ms = now if trial.first_ms is None else trial.first_ms
                    arrivals += 1
                if isinstance(piece, ThinkPiece):
                    trial.thinks = True
                    thoughts.append(piece.text)
                    report(endpoint.model, "thinking", piece.text)
                elif isinstance(piece, TextPiece) and (texts or piece.text.strip()):
                    trial.word_ms = now if trial.word_ms is None else trial.word_ms
                    texts.append(piece.text)
                    report(endpoint.model, "text", piece.text)
                elif isinstance(piece, UsagePiece):
                    trial.tokens = piece.completion_tokens
        trial.total_ms = round(1000 * (time.monotonic() - began))
        trial.works = bool("".join(texts).strip())
        if not trial.works:
            trial.error = _("The model ended without writing an answer.")
            return trial
        trial.thinks = bool(trial.thinks)
        if arrivals > 1:
            trial.streams = True
        elif (trial.first_ms or 0) > _SLOW_MS and len("".join(texts)) >= _LONG:
            trial.streams = False
        if trial.thinks:
            trial.thinking_off = await _turned_off_by(endpoint, question)
        trial.json = await _writes_json(client)
    except errors.LLMError as error:
        trial.error, trial.details = explain(error, endpoint)
    finally:
        await client.aclose()
        trial.reply = "".join(texts).strip()[:_MOST_SHOWN]
        trial.thinking = "".join(thoughts).strip()[:_MOST_SHOWN]
        if trial.error:
            report(endpoint.model, "error", trial.error)
    return trial


async def _turned_off_by(endpoint: Endpoint, question: str) -> str:
    """Return the field by which a model that thinks is kept from it, or `ALWAYS` if none does.

    A server ignores a field that it doesn't know, or is asked again without it; so what counts is whether the model
    still thinks.
    """
    likely = thinking_field_at(endpoint.base_url)
    for name in sorted(THINKING, key=lambda name: name != likely):
        asked = replace(endpoint, think=False, thinking_field=name, total_timeout=_OFF_PATIENCE)
        client, writes = ChatClient(asked), False
        try:
            async with aclosing(client.stream([ChatMessage("user", question)], max_tokens=64)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, ThinkPiece):
                        writes = False
                        break
                    writes = writes or (isinstance(piece, TextPiece) and bool(piece.text.strip()))
        except errors.LLMError:
            continue
        finally:
            await client.aclose()
        if writes:
            return name
    return ALWAYS


async def _writes_json(client: ChatClient) -> bool | None:
    """Return whether the model replies in JSON on request, as the steps before an answer do; None if it fails."""
    try:
        reply = await client.complete([ChatMessage("user", _JSON_QUESTION)], temperature=0, max_tokens=1024)
    except errors.LLMError:
        return None
    text = reply.text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


async def _measure(draft: Draft, model: str, purpose: str) -> Trial:
    endpoint, began = draft.endpoint(model, min(ANSWER_PATIENCE, profiles.PATIENCE)), time.monotonic()
    try:
        reply = await profiles.ask(endpoint, purpose)
    except errors.LLMError as error:
        message, details = explain(error, endpoint)
        return Trial(model, works=False, error=message, details=details)
    return Trial(model, works=True, reply=reply, total_ms=round(1000 * (time.monotonic() - began)))


def explain(error: errors.LLMError, endpoint: Endpoint) -> tuple[str, str]:
    """Return an error message with a remedy, for administrators, and the server's own message, which may be empty."""
    where = error.where or urlsplit(endpoint.base_url).netloc.rpartition("@")[2]
    return _explained(error, endpoint) % {"where": where}, error.detail


def _explained(error: errors.LLMError, endpoint: Endpoint) -> str:
    if isinstance(error, errors.Unreachable):
        matching = (text for marks, text in _unreachable() if any(mark in error.detail for mark in marks))
        return next(matching, "") or _("Can't connect to %(where)s. Check the address, and that the server is running.")
    if isinstance(error, errors.AddressRefused):
        return str(error.hint)
    if isinstance(error, errors.TimedOut):
        return _(
            "%(where)s did not answer in time. A firewall may be blocking the request, or the server is still "
            "loading its model. Try again in a minute."
        )
    if isinstance(error, errors.Unauthorized):
        if endpoint.api_key:
            return _("%(where)s rejected the key, or the account has no credit left. Copy the whole key again.")
        return _("%(where)s requires a key (401). Enter the one you were given.")
    if isinstance(error, errors.ModelNotFound):
        if endpoint.model:
            return _("%(where)s has no model with this name, or doesn't serve it at this address (404).")
        return _("%(where)s answers, but has no list of models at this address (404). It usually ends in “/v1”.")
    if isinstance(error, errors.BadReply):
        return _("%(where)s doesn't offer an OpenAI-compatible API at this address. It may be a web page.")
    if isinstance(error, errors.ProviderError):
        return _("The server at %(where)s failed. See its log for details.")
    # Other messages may contain percent signs, which aren't placeholders.
    return error.message.replace("%", "%%")


def _unreachable() -> Sequence[tuple[tuple[str, ...], str]]:
    return (
        (
            ("CERTIFICATE_VERIFY_FAILED", "certificate verify failed"),
            _(
                "The certificate of %(where)s is not trusted: it is self-signed, expired or for another name. If "
                "your own authority signed it, set SSL_CERT_FILE."
            ),
        ),
        (
            ("SSL", "TLS", "disconnected"),
            _(
                "%(where)s doesn't use TLS at this address, or accepts nothing else. Try “http://” instead of "
                "“https://”, or the other way round."
            ),
        ),
        (
            ("Name or service not known", "nodename nor servname", "getaddrinfo", "name resolution", "No address"),
            _("There is no server named %(where)s. Check the spelling."),
        ),
        (("redirects",), _("%(where)s redirects elsewhere. Enter the address it leads to.")),
        (
            ("refused", "attempts failed"),
            _(
                "%(where)s refused the connection: nothing is listening there. Check the port, and that the server "
                "is running. Inside a container, “localhost” is the container itself."
            ),
        ),
    )

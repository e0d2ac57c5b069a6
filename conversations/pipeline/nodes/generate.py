"""Writes the answer with a language model or, without one, quotes it."""

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.events import DELTA_INTERVAL, SourcesEvent, ThinkEvent
from conversations.pipeline.description import Description
from conversations.pipeline.failures import MODEL_GONE
from conversations.pipeline.graph import Context, Emit, Node
from conversations.pipeline.node import NodeError
from conversations.pipeline.nodes.compose_prompt import purpose_of
from conversations.pipeline.state import State
from conversations.pipeline.understanding.choices import which_of_several
from conversations.pipeline.writing import extractive_answer, whole_answer
from conversations.pipeline.writing.blocks import BlockWriter, PartWriter, escape_markdown
from conversations.pipeline.writing.dialects import AnswerReader
from conversations.pipeline.writing.dialects.parts import Part
from conversations.prompts import endpoints
from ragsite.llm.chat import ChatClient
from ragsite.llm.errors import LLMError, NoAnswer
from ragsite.llm.types import FinishPiece, TextPiece, ThinkPiece, UsagePiece

# Seconds between two batches of the model's output: slightly more than between two deltas, so that no delta waits.
PACE = DELTA_INTERVAL + 0.004


class Generate(Node):
    """Answers from evidence, chats without it, or asks for clarification, and streams the reply."""

    key = "generate"
    step = 7
    title = gettext_lazy("Write the answer")
    progress = gettext_lazy("Writing the answer")
    timeout = None  # the client has its own: connect, idle and total
    reads = ("plan.action", "found.hits", "prompt.evidence", "prompt.citations", "prompt.messages", "prompt.model")
    may_read = (
        "plan.reply", "plan.ranking_query", "prompt.answer_tokens", "found.pictures", "found.knowledge_base_ids",
        "found.document_ids", "found.labels", "found.general_knowledge_allowed", "found.unsearched",
        "found.frequencies", "found.key_passages", "found.reasons", "found.choices", "found.named", "found.parts",
        "found.reading", "past.turns",
    )  # fmt: skip
    writes = (
        "answer.blocks", "answer.usage", "answer.finish_reason", "prompt.cited", "prompt.evidence", "prompt.citations",
        "prompt.model", "prompt.reported", "found.answer_state",
    )  # fmt: skip

    async def run(self, state: State, ctx: Context) -> None:
        """Emit the sources and the blocks; fill `cited`, `usage` and `answer`."""
        writer = BlockWriter(state, ctx.emit)
        if state.plan.reply or state.found.choices:
            with translation.override(extractive_answer.reply_language(state)):
                await writer.block(escape_markdown(state.plan.reply or which_of_several()))
            if state.found.choices:
                await writer.choices(state.found.choices)
            return
        nothing_found = state.plan.action == "retrieve_vector" and not state.found.hits
        if nothing_found:
            state.found.answer_state = "nothing"  # a third-party node may have removed the hits
            await ctx.emit(SourcesEvent(citations=[], answer_state=state.found.answer_state))
            await writer.text(extractive_answer.nothing_found(state))
        # A model doesn't know which documents there are.
        lists_topics = state.plan.action == "answer_chat" and extractive_answer.lists_topics(state)
        unasked = lists_topics or (nothing_found and not state.found.general_knowledge_allowed)
        if unasked or not state.prompt.messages:
            state.prompt.model = ""  # it isn't asked
            quoting = extractive_answer if state.found.reading is None else whole_answer
            await quoting.answer(state, writer, ctx.emit)
        else:
            await self._ask_model(state, writer, ctx.emit)
        await writer.close()
        if state.found.reading is not None:
            await whole_answer.write_remarks(state, writer)
        model, cited = state.prompt.model or extractive_answer.MODEL, sorted(state.prompt.cited)
        ctx.note(model=model, cited=cited, usage=state.answer.usage)

    async def _ask_model(self, state: State, writer: BlockWriter, emit: Emit) -> None:
        client = await endpoints.client_for(purpose_of(state))
        if client is None:
            await _quote_instead(state, writer, emit)
            raise NodeError(str(MODEL_GONE), "not_configured")
        if state.prompt.citations:
            await emit(SourcesEvent(citations=state.prompt.citations, answer_state=state.found.answer_state or None))
        if state.plan.action == "retrieve_vector" and not state.found.hits:
            await writer.text(extractive_answer.from_general_knowledge(state))
        try:
            await self._stream(client, state, writer, emit)
        except LLMError:
            await _quote_instead(state, writer, emit)
            raise
        finally:
            await client.aclose()

    async def _stream(self, client: ChatClient, state: State, writer: BlockWriter, emit: Emit) -> None:
        reader, parts = AnswerReader(), PartWriter(state, writer)
        empty, reason = True, ""
        try:
            asked = client.stream(state.prompt.messages, max_tokens=state.prompt.answer_tokens or None, pace=PACE)
            async with aclosing(asked) as pieces:
                async for piece in pieces:
                    match piece:
                        case TextPiece():
                            empty = empty and not piece.text.strip()
                            await _write(reader.feed(piece.text), parts)
                        case ThinkPiece() if state.request.thinking is not False:
                            await emit(ThinkEvent(text=piece.text))
                        case UsagePiece():
                            # In addition to the tokens used to read whole documents.
                            before, state.prompt.reported = state.answer.usage, piece.prompt_tokens
                            state.answer.usage = {
                                name: before.get(name, 0) + getattr(piece, name)
                                for name in ("prompt_tokens", "completion_tokens")
                            }
                        case FinishPiece():
                            reason = piece.reason
        except LLMError:
            await _write(reader.close(), parts)
            await parts.finish()
            raise
        await _write(reader.close(), parts)
        await parts.finish()
        state.answer.usage = state.answer.usage | parts.removed
        if empty:
            raise NoAnswer
        if ending := extractive_answer.ended_early(state, reason):
            state.answer.finish_reason = reason
            await writer.block(ending)
        await writer.text(extractive_answer.parts_without_source(state))

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return the model's name, or that the answer is quoted."""
        return state.prompt.model or _("quoted, no language model")

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe which model wrote the answer, what was cited, and the tokens used."""
        description, usage = Description(), detail.get("usage") or {}
        description.add(_("Model"), detail.get("model"))
        description.add(_("Cited"), ", ".join(f"[{number}]" for number in detail.get("cited", ())))
        if usage.get("completion_tokens"):
            words = _("%(prompt)s read, %(completion)s written") % {
                "prompt": usage.get("prompt_tokens", "?"),
                "completion": usage["completion_tokens"],
            }
            description.facts.append((_("Tokens"), words))
        return description


async def _quote_instead(state: State, writer: BlockWriter, emit: Emit) -> None:
    """Quote the passages that were found if the model failed before it wrote anything; the turn fails nevertheless."""
    searched = state.plan.action == "retrieve_vector" and state.found.hits and state.found.reading is None
    if searched and not state.answer.blocks:
        await extractive_answer.quote_instead(state, writer, emit)
        await writer.close()


async def _write(parts: Iterable[Part], writer: PartWriter) -> None:
    for part in parts:
        await writer.write(part)

"""Preview of a prompt: filled with a stored turn, as it would be sent now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from conversations.assistants.configuration import Configuration, ConfigurationError
from conversations.history import branch_of, past_turns, recent_turns
from conversations.instructions.texts import Instructions, own_instructions
from conversations.memory.summaries import summary_of
from conversations.models import ROLES, Citation, Message, Turn
from conversations.prompts import calibration, endpoints, side_calls
from conversations.prompts.budget import Window
from conversations.prompts.compose import Material, PromptTooLong, compose
from conversations.prompts.passages import fenced
from conversations.prompts.templates import LOOPING, Prompt
from knowledge import access
from knowledge.models import Chunk
from ragsite.llm.default import default_endpoint
from ragsite.llm.types import ChatMessage
from ragsite.site_settings.config import config
from retrieval.search import Hit

# The purposes whose prompts contain the conversation as messages; the others get it as text, if at all.
_WRITES = ("answer", "chat", "general", "clarify")


@dataclass(frozen=True, slots=True)
class Shown:
    """A message with its tokens, estimated for the model."""

    role: str
    content: str
    tokens: int

    @property
    def said_by(self) -> str:
        """The label of its role."""
        return str(ROLES.get(self.role, self.role))


@dataclass(frozen=True, slots=True)
class Preview:
    """The messages, their total tokens, and the most that may be sent. `problem` says why there are no messages."""

    messages: Sequence[Shown] = ()
    tokens: int = 0
    limit: int = 0
    left_out: int = 0
    problem: str = ""


def preview(purpose: str, prompt: Prompt, turn: Turn, language: str, reader: Any) -> Preview:
    """Return the messages of a prompt for a stored turn, without the remembered facts, which are the user's alone.

    For another user's turn, passages that the reader may not read and the user's own instructions are left out.
    """
    endpoint = endpoints.profile_endpoint("chat" if purpose == "general" else purpose) or default_endpoint()
    if endpoint is None:
        window = Window.of(settings.LLM_CONTEXT_WINDOW, config.LLM_MAX_TOKENS)
    else:
        window = Window.of(endpoint.context_window, endpoint.max_tokens, calibration.factor_of(endpoint.model))
    question = turn.messages.filter(role=Message.Role.USER).values_list("content", flat=True).first() or ""
    if purpose not in _WRITES:
        past = past_turns(turn.session_id, branch_of(turn.session_id, turn.parent_turn_id), config.MAX_RECENT_TURNS)
        # Purposes that get the passages one by one are shown with the first.
        hits = _hits(turn, reader)[: 1 if purpose in ("filter", "judge") else None]
        evidence = "\n\n".join(fenced(number, hit.content) for number, hit in enumerate(hits, 1))
        checks = turn.messages.filter(role=Message.Role.ASSISTANT).values_list("checks", flat=True).first()
        system, user = prompt.fill(
            side_calls.spoken(past, language) if purpose in LOOPING else (),
            question=side_calls.quoted(question),
            history=side_calls.transcript(past, language),
            evidence=evidence or _("(no passages)"),
            claim=next((check["text"] for check in checks or () if check["sources"]), "-"),
        )
        return _shown([ChatMessage("system", system), ChatMessage("user", user)], window)
    branch = branch_of(turn.session_id, turn.parent_turn_id) if turn.parent_turn_id else []
    material = Material(
        prompt=prompt,
        question=question,
        language=language,
        instructions=_instructions(turn, reader),
        hits=_hits(turn, reader) if purpose == "answer" else (),
        summary=summary_of(turn.session_id, branch) if len(branch) > 1 else "",
        recent=recent_turns(turn.session_id, branch, config.MAX_RECENT_TURNS),
    )
    try:
        composed = compose(material, window)
    except PromptTooLong as error:
        return Preview(problem=str(error))
    return _shown(composed.messages, window, len(composed.fitted.cuts))


def _shown(messages: Sequence[ChatMessage], window: Window, left_out: int = 0) -> Preview:
    shown = [Shown(message.role, message.content, window.measure(message.content)) for message in messages]
    return Preview(shown, sum(message.tokens for message in shown), window.limit, left_out)


def _instructions(turn: Turn, reader: Any) -> Instructions:
    """Return the instructions of the turn's assistant, its chat, and its user if that is the reader."""
    try:
        of_assistant = Configuration.from_dict(turn.assistant_version.configuration if turn.assistant_version else {})
    except ConfigurationError:
        of_assistant = Configuration()
    own = own_instructions(turn.session.owner_id) if turn.session.owner_id == reader.pk else ""
    return Instructions(of_assistant.instructions, own, turn.session.instructions)


def _hits(turn: Turn, reader: Any) -> list[Hit]:
    """Return the passages of the turn's answer; for those deleted since, their snippets."""
    citations = Citation.objects.filter(message__turn=turn).select_related("chunk__picture", "document")
    if turn.session.owner_id != reader.pk:
        citations = citations.filter(chunk__in=access.readable_chunks(reader))
    merged = Chunk.objects.filter(pk__in=[chunk_id for citation in citations for chunk_id in citation.joined])
    contents = dict(merged.values_list("pk", "content"))
    hits = []
    for citation in citations.order_by("index"):
        chunk, content = citation.chunk, citation.snippet
        if chunk is not None:
            content = "\n\n".join(contents[pk] for pk in citation.joined if pk in contents) or chunk.content
        hits.append(
            Hit(
                chunk_id=citation.chunk_id or 0,
                document_id=citation.document_id or 0,
                knowledge_base_id=citation.document.knowledge_base_id if citation.document else 0,
                content=content,
                kind=chunk.kind if chunk else "text",
                filename=citation.filename,
                heading=citation.heading,
                page=citation.page,
                score=citation.score,
                sources=[],
                picture=chunk.picture if chunk else None,
            )
        )
    return hits

"""Starting, stopping and repeating turns, independently of HTTP and WebSockets."""

import asyncio
import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404
from django.utils.translation import gettext as _

from conversations import access, services, turn_store
from conversations.assistants import choice
from conversations.assistants.choice import Choices
from conversations.history import PastTurn, with_continuation, without_ending
from conversations.inbox import unseen
from conversations.instructions import texts
from conversations.models import Message, Turn
from conversations.pipeline.graph import Graph, Node
from conversations.pipeline.state import Request, State
from conversations.pipeline.understanding.choices import chosen_by
from conversations.prompts import active
from conversations.turn_store import Started, TurnRefused
from conversations.turns import titles
from conversations.turns.runner import TurnRunner
from knowledge.labels import LabelFilter
from ragsite.db import in_database
from ragsite.llm.stream.unicode_repair import INVISIBLE, whole

__all__ = ["Ask", "Started", "TurnRefused", "continue_answer", "edit", "regenerate", "start_turn", "stop_turn"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question in a session. Without a parent, it follows the session's newest turn, unless `as_root`.

    With `from_newest`, if the parent has got children in the meantime, the question follows the newest turn of that
    branch. The same `request_id` twice is one turn. With `continues`, the answer continues that of its parent, which
    was cut. `use_filter` switches the relevance filter on or off, and `top_n` is the most passages for the answer; None
    means the setting. `labels` are tags, metadata fields and folder of the documents to search, by default those of
    `scope`, which is the scope of another turn and by default that of the session. Only `awaited`
    answers are marked as unseen.
    """

    session_id: int
    question: str
    parent_turn_id: int | None = None
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    language: str = "en"
    as_root: bool = False
    from_newest: bool = False
    use_filter: bool | None = None
    top_n: int | None = None
    choices: Choices = field(default_factory=Choices)
    continues: bool = False
    labels: LabelFilter | None = None
    scope: Mapping[str, Any] | None = None
    awaited: bool = True


_runners: set[TurnRunner] = set()
# Work after answers, for which nobody waits.
_afterwards: set[asyncio.Task[None]] = set()


@cache
def pipeline(name: str = "default") -> Graph:
    """Return a graph of `PIPELINES`, which is assembled once."""
    return Graph.from_settings(name)


def find_node(key: str) -> Node | None:
    """Return the node with a key, or that reports a step with it, from the first pipeline that has one."""
    for name in settings.PIPELINES:
        for node in pipeline(name).nodes.values():
            if key == node.key or key in node.reports:
                return node
    return None


async def start_turn(user: Any, ask: Ask) -> Started:
    """Start a turn and return once its question is stored.

    Raises `Http404` for a session that is not the user's, and `TurnRefused` for an invalid question or if the user has
    too many answers running. A repeated `request_id` returns the turn that it started.
    """
    with active.pinned_setup():  # applies to the turn too, because its task starts here
        name, state = await in_database(_prepare, user, ask)
        runner = TurnRunner(pipeline(name), state, on_end=_ended)
        _runners.add(runner)
        try:
            # The turn goes on even if the client disconnects now.
            return await asyncio.shield(runner.started)
        except turn_store.AlreadyAsked as asked:
            return asked.started


async def stop_turn(user: Any, message_id: int) -> bool:
    """Stop a running answer and keep its text so far; return False if it had ended. Raises `Http404`."""
    await in_database(access.get_message, user, message_id)
    for runner in list(_runners):
        if runner.message_id == message_id:
            stopped = runner.stop()
            await runner.wait()
            return stopped
    return await in_database(turn_store.request_stop, message_id)


async def regenerate(
    user: Any,
    message_id: int,
    language: str = "en",
    request_id: uuid.UUID | None = None,
    document_id: int | None = None,
) -> Started:
    """Answer a question again in a sibling turn, with the same version of the assistant and the same scope.

    If the answer asked which document is meant, `document_id` is the one of its choices to answer from. Raises
    `Http404`, `TurnRefused`.
    """
    message = await in_database(access.get_message, user, message_id)
    question = await in_database(_question_of, message.turn_id)
    turn = message.turn
    scope: dict[str, Any] | None = turn.scope
    if document_id is not None:
        offered = (choice for block in message.blocks for choice in block.get("choices", ()))
        if all(choice["document_id"] != document_id for choice in offered):
            raise Http404(_("This answer offers no such document."))
        if scope is None:
            scope = await in_database(services.scope_of, turn.session)
        scope = {**scope, "chosen_document": document_id}
    return await _sibling(
        user,
        turn,
        question,
        language,
        request_id,
        continues=turn.continues,
        version_id=turn.assistant_version_id,
        scope=scope,
    )


async def edit(
    user: Any, turn_id: int, question: str, language: str = "en", request_id: uuid.UUID | None = None
) -> Started:
    """Ask an edited question in a sibling turn of the original. Raises `Http404`, `TurnRefused`."""
    turn = await in_database(_own_turn, user, turn_id)
    return await _sibling(user, turn, question, language, request_id)


async def continue_answer(
    user: Any, message_id: int, language: str = "en", request_id: uuid.UUID | None = None
) -> Started:
    """Continue a cut answer in a turn after it, with the same question. Raises `Http404`, `TurnRefused`."""
    message = await in_database(_cut_answer, user, message_id)
    question = await in_database(_question_of, message.turn_id)
    return await start_turn(
        user,
        Ask(
            message.turn.session_id,
            question,
            parent_turn_id=message.turn_id,
            request_id=request_id or uuid.uuid4(),
            language=language,
            continues=True,
            choices=Choices(version_id=message.turn.assistant_version_id),
            scope=message.turn.scope,
        ),
    )


async def interrupt_all(seconds: float = 3.0) -> None:
    """Interrupt every turn of this process before it exits, storing the text so far; wait at most `seconds`."""
    for task in _afterwards:
        task.cancel()
    runners = list(_runners)
    for runner in runners:
        runner.interrupt()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(runner.wait() for runner in runners))


def running() -> int:
    """Return the number of turns that run in this process."""
    return len(_runners)


async def _sibling(
    user: Any,
    turn: Turn,
    question: str,
    language: str,
    request_id: uuid.UUID | None,
    *,
    continues: bool = False,
    version_id: int | None = None,
    scope: Mapping[str, Any] | None = None,
) -> Started:
    parent = turn.parent_turn_id
    ask = Ask(
        turn.session_id,
        question,
        parent_turn_id=parent,
        request_id=request_id or uuid.uuid4(),
        language=language,
        as_root=parent is None,
        continues=continues,
        choices=Choices(version_id=version_id),
        scope=scope,
    )
    return await start_turn(user, ask)


def _ended(runner: TurnRunner) -> None:
    async def after() -> None:
        request = runner.state.request
        if runner.state.started is not None and request.session_id is not None:
            await unseen.announce(request.user_id, request.session_id, ended=True)
        await runner.do_later()
        if runner.completed:
            await titles.improve(runner.state)

    _runners.discard(runner)
    task = asyncio.create_task(after())
    _afterwards.add(task)
    task.add_done_callback(_afterwards.discard)


def _prepare(user: Any, ask: Ask) -> tuple[str, State]:
    """Choose and pin the setup of a turn; return the name of its pipeline and its initial state."""
    session = access.get_session(user, ask.session_id)
    chosen = choice.for_turn(user, session, ask.choices)
    parent = None if ask.as_root else ask.parent_turn_id
    turns = session.turns.order_by("-created_at", "-id") if parent is None else session.turns.filter(pk=parent)
    before = None if ask.as_root else turns.only("session", "action").first()
    if parent is not None and before is None:
        raise TurnRefused("unknown_parent", _("The turn to continue from is not in this chat."))
    scope = services.scope_of(session) if ask.scope is None else ask.scope
    labels = ask.labels
    if labels is None:
        labels = LabelFilter.read(scope["tags"], scope["metadata"], scope["folder"])
    question = validated_question(ask.question)
    chosen_document_id, completes = scope.get("chosen_document"), ""
    if chosen_document_id is None and before is not None and before.action == "clarify":
        chosen_document_id, completes = _choice_by_name(before, question)
    request = Request(
        user_id=user.pk,
        session_id=session.pk,
        question=question,
        parent_turn_id=parent,
        from_newest=ask.from_newest or (ask.parent_turn_id is None and not ask.as_root),
        request_id=ask.request_id,
        language=ask.language,
        use_filter=ask.use_filter,
        top_n=ask.top_n,
        knowledge_base_ids=chosen.configuration.knowledge_bases,
        asked_knowledge_base_ids=tuple(scope["knowledge_bases"]),
        asked_document_ids=tuple(scope["documents"]),
        chosen_document_id=chosen_document_id,
        completes=completes,
        labels=labels,
        files_id=session.files_id,
        thinking=ask.choices.thinking,
        awaited=ask.awaited,
        assistant_version_id=chosen.version.pk if chosen.version else None,
        assistant=str(chosen.version or ""),
        instructions=texts.for_turn(session, chosen.configuration.instructions),
        continued=_continued(ask.parent_turn_id) if ask.continues and ask.parent_turn_id else None,
    )
    return chosen.configuration.pipeline or "default", State(request)


def _choice_by_name(asked_back: Turn, question: str) -> tuple[int | None, str]:
    """Return the document that a question chooses among those that a turn offered, and that turn's question."""
    blocks = asked_back.messages.filter(role=Message.Role.ASSISTANT).values_list("blocks", flat=True).first() or []
    chosen = chosen_by(question, [choice for block in blocks for choice in block.get("choices", ())])
    return (None, "") if chosen is None else (chosen, _question_of(asked_back.pk))


def _continued(turn_id: int) -> PastTurn:
    """Return the turn in which a cut answer began, with its text so far, including that of turns that continued it."""
    turn, text = Turn.objects.get(pk=turn_id), ""
    while True:
        stored = Message.objects.values_list("content", flat=True).get(turn=turn, role=Message.Role.ASSISTANT)
        part = without_ending(stored)
        text = with_continuation(part, text) if part and text else part or text
        if not turn.continues or turn.parent_turn is None:
            return PastTurn(turn.pk, _question_of(turn.pk), text)
        turn = turn.parent_turn


def validated_question(question: str) -> str:
    """Return a question as it is stored; raises `TurnRefused` if it is empty or too long."""
    question = whole(question).strip()
    if not re.search(f"[^{INVISIBLE}]", question):
        raise TurnRefused("empty_question", _("Enter a question."))
    limit = settings.MAX_QUESTION_CHARACTERS
    if len(question) > limit:
        raise TurnRefused(
            "question_too_long",
            _("The question has %(length)d characters, but can have at most %(limit)d. Shorten it.")
            % {"length": len(question), "limit": limit},
        )
    return question


def _cut_answer(user: Any, message_id: int) -> Message:
    """Return an answer that can be continued; raises `Http404`, `TurnRefused`."""
    turn_store.interrupt_stale(message_id=access.get_message(user, message_id).pk)
    message = access.get_message(user, message_id)
    if message.can_continue:
        return message
    if message.status == Message.Status.COMPLETED or message.role == Message.Role.USER:
        raise TurnRefused("not_cut", _("This answer is complete, so there is nothing to continue."))
    if message.status == Message.Status.STREAMING:
        raise TurnRefused("not_cut", _("This answer is still being written."))
    raise TurnRefused("nothing_came", _("This answer is empty. Ask the question again instead."))


def _question_of(turn_id: int) -> str:
    return Message.objects.values_list("content", flat=True).get(turn_id=turn_id, role=Message.Role.USER)


def _own_turn(user: Any, turn_id: int) -> Turn:
    turn = Turn.objects.filter(pk=turn_id, session__in=access.sessions(user)).first()
    if turn is None:
        raise Http404(_("There is no such turn."))
    return turn

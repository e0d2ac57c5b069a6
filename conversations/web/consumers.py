"""The chat's WebSocket: receives htmx forms and sends HTML fragments."""

import asyncio
import json
import logging
import time
import uuid
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import Http404
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.translation import get_supported_language_variant, override
from django.utils.translation import gettext as _

from conversations import access, queries
from conversations.assistants.choice import Choices
from conversations.events import DELTA_INTERVAL, Answer, Delta, DoneEvent, ThinkEvent
from conversations.files import chat_files
from conversations.groups import owner_group, session_group
from conversations.inbox import drafts
from conversations.models import ChatSession
from conversations.rendering.answer import AnswerPage, may_change_models
from conversations.rendering.follow_ups import follow_ups
from conversations.rendering.fragments import Stream, answer_html, messages, toast_html, turn_html
from conversations.turn_tree import TurnTree
from conversations.turns import broker, lifecycle
from conversations.turns.coalesce import join_deltas
from conversations.web import contexts
from ragsite.accounts import stream_auth
from ragsite.db import DATABASE_UNAVAILABLE, database_unavailable_message, in_database

logger = logging.getLogger(__name__)

# What a page sends to learn whether the connection is alive, and what it gets.
PING, PONG = "ping", "."
ACTIONS = ("ask", "stop", "regenerate", "continue", "edit", "resume")
MAX_MESSAGE_CHARACTERS = 200_000
SIGNED_OUT = 4401
NOT_FOUND = 4404
FOREIGN_ORIGIN = 4403


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One page's connection to one session. Turns don't depend on it: they continue when it is closed."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the connection; cancel all listening tasks when it ends."""
        self._listeners: dict[int, asyncio.Task[None]] = {}
        self._shown: set[int] = set()  # turns that this connection put on the page
        self._leaf: int | None = None  # the last turn of the branch that the page shows
        self._newest: int | None = None  # the newest turn that the page knows of; None until it is sent
        self._has_branches = False
        self._groups: list[str] = []
        self._grant: stream_auth.Grant | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._grant is not None:
                stream_auth.watch.discard(self._grant)
            await self._stop_listening()

    async def connect(self) -> None:
        """Accept the session's owner, if the request's origin is this site."""
        self.user = self.scope["user"]
        self.session_id: int = self.scope["url_route"]["kwargs"]["session_id"]
        wanted = parse_qs(self.scope["query_string"].decode("latin-1")).get("language", [settings.LANGUAGE_CODE])[0]
        try:
            self.language = get_supported_language_variant(wanted)
        except LookupError:
            self.language = settings.LANGUAGE_CODE
        if not self._is_same_origin():
            await self.close(FOREIGN_ORIGIN)
            return
        try:
            await in_database(access.get_session, self.user, self.session_id)
        except Http404:
            await self.close(NOT_FOUND)
        else:
            self._groups = [session_group(self.session_id), owner_group(self.user.pk)]
            for group in self._groups:
                await self.channel_layer.group_add(group, self.channel_name)
            self._grant = stream_auth.Grant(self.user.pk, self.user.password, self.scope["session"].session_key or "")
            self._grant.when_lost = self._end
            stream_auth.watch.add(self._grant)
            await self.accept()

    def _is_same_origin(self) -> bool:
        """Return whether the request's origin is this site's scheme and host, or trusted.

        Browsers always send an origin; other clients may send none, which is accepted.
        """
        headers: dict[bytes, bytes] = dict(self.scope["headers"])
        by_tls = self.scope.get("scheme") == "wss" or (
            settings.BEHIND_TLS and headers.get(b"x-forwarded-proto", b"").strip().lower() == b"https"
        )
        own = f"{'https' if by_tls else 'http'}://{headers.get(b'host', b'').decode('latin-1')}"
        origin = headers.get(b"origin", b"").decode("latin-1")
        return not origin or origin == own or origin in settings.CSRF_TRUSTED_ORIGINS

    async def disconnect(self, code: int) -> None:
        """Stop listening; the turns continue."""
        for group in self._groups:
            await self.channel_layer.group_discard(group, self.channel_name)
        await self._stop_listening()

    async def signed_out(self, message: dict[str, Any]) -> None:
        """Close the connection because its sign-in has ended."""
        await self._stop_listening()
        await self.close(SIGNED_OUT)

    def _end(self) -> None:
        news = self.channel_layer.send(self.channel_name, {"type": "signed.out"})
        self._ending = asyncio.ensure_future(news)  # kept, so that it isn't collected before it ends

    async def session_changed(self, message: dict[str, Any]) -> None:
        """Show the session's new title and its place in the list."""
        with override(self.language):
            await self._send(await in_database(contexts.row_of, self.user, self.session_id))

    async def list_changed(self, message: dict[str, Any]) -> None:
        """Show the row of a session in which an answer has ended, or has been seen.

        A page that follows the answer is sent the row after it.
        """
        changed = message["session_id"]
        if message["ended"] and changed == self.session_id:
            return
        with override(self.language), suppress(*DATABASE_UNAVAILABLE):
            await self._send(await in_database(contexts.row_of, self.user, changed, self.session_id))

    async def session_deleted(self, message: dict[str, Any]) -> None:
        """Notify that the session was deleted; its text stays on the page, since there may be no other copy."""
        with override(self.language):
            await self._notice("deleted")

    async def session_restored(self, message: dict[str, Any]) -> None:
        """Remove the notice of deletion."""
        with override(self.language):
            await self._notice()
            await self.session_changed(message)

    async def session_asked(self, message: dict[str, Any]) -> None:
        """Show a question asked on another page or through the API, or notify that there is one."""
        if self._newest is not None and message["turn_id"] not in self._shown:
            with override(self.language), suppress(Http404, *DATABASE_UNAVAILABLE):
                await self._catch_up()

    async def session_file(self, message: dict[str, Any]) -> None:
        """Update or remove a file's chip; while the file is processed, the chip polls for itself."""
        with override(self.language), suppress(Http404, *DATABASE_UNAVAILABLE):
            chip = await in_database(self._chip, message["document_id"])
            # Sent separately: htmx drops the whole message if the page lacks its target.
            await self._send(f'<li id="chat-file-{message["document_id"]}" hx-swap-oob="delete"></li>')
            if chip:
                await self._send(chip)

    def _chip(self, document_id: int) -> str:
        session = access.get_session(self.user, self.session_id)
        document = chat_files.files_of(session).filter(pk=document_id).first()
        return "" if document is None else contexts.file_chip(self.user, session, document)

    async def session_scope(self, message: dict[str, Any]) -> None:
        """Send the key of the session's scope and assistant; a page that shows another one fetches the new state."""
        with suppress(Http404, *DATABASE_UNAVAILABLE):
            asked = await in_database(
                lambda: contexts.composer_context(self.user, access.get_session(self.user, self.session_id))["asked"]
            )
            context = {"session_id": self.session_id, "asked": asked}
            await self._send(render_to_string("conversations/_scope_news.html", context))

    async def session_summarised(self, message: dict[str, Any]) -> None:
        """Let the page fetch the new summary of the branch that it shows."""
        await self._send(render_to_string("conversations/_summary_news.html", {"session_id": self.session_id}))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle a form; errors are shown in a toast."""
        form: Any = None
        if text_data and len(text_data) <= MAX_MESSAGE_CHARACTERS:
            with suppress(ValueError, RecursionError):
                form = json.loads(text_data)
        if not isinstance(form, dict):
            form = {}
        if form.get("action") == PING:
            return await self._send(PONG)
        with override(self.language):
            if form.get("action") not in ACTIONS:
                return await self._toast(_("This page is out of date. Please reload it."))
            try:
                if await in_database(stream_auth.is_signed_in, self.user, self.scope["session"].session_key):
                    await self._act(form)
                else:
                    await self.close(SIGNED_OUT)
            except lifecycle.TurnRefused as refusal:
                await self._refuse(form, refusal.message)
            except (Http404, KeyError, ValueError):
                await self._refuse(form, _("This is no longer there. Please reload the page."))
            except DATABASE_UNAVAILABLE:
                logger.warning("The database is unavailable")
                await self._refuse(form, database_unavailable_message())

    async def _act(self, form: dict[str, Any]) -> None:
        match form["action"]:
            case "ask":
                await self._ask(form)
            case "stop":
                wanted = _optional_id(form.get("message_id"))
                for message_id in [wanted] if wanted else list(self._listeners):
                    await lifecycle.stop_turn(self.user, message_id)
            case "regenerate":
                message_id, request_id = _id(form["message_id"]), _uuid(form.get("request_id"))
                document_id = _optional_id(form.get("document_id"))
                again = lifecycle.regenerate(self.user, message_id, self.language, request_id, document_id)
                await self._branch(await again)
            case "continue":
                message_id, request_id = _id(form["message_id"]), _uuid(form.get("request_id"))
                await self._branch(await lifecycle.continue_answer(self.user, message_id, self.language, request_id))
            case "edit":
                question, request_id = str(form["question"]), _uuid(form.get("request_id"))
                edited = lifecycle.edit(self.user, _id(form["turn_id"]), question, self.language, request_id)
                await self._branch(await edited)
            case "resume":
                await self._resume(form)

    async def _resume(self, form: dict[str, Any]) -> None:
        """Bring a page up to date that has just connected, and follow only the answers it shows as unfinished.

        `seen` contains these answers and their last event, as "message:seq …". `leaf` is the page's last turn and
        `newest` the newest turn of the session that it knows of; newer questions are shown. A page that reconnects
        (`again`) also gets the list of chats, and its composer's news since `files` (ids) and `asked` (a key).
        """
        await self._stop_listening()
        if "leaf" in form:
            self._leaf, self._newest = _optional_id(form["leaf"]), _optional_id(form.get("newest")) or 0
        if form.get("again"):
            await self._send(await in_database(contexts.list_of, self.user, self.session_id))
            if "asked" in form:
                files = [int(number) for number in str(form.get("files", "")).split()[: chat_files.MOST_FILES]]
                asked = str(form["asked"])
                for news in await in_database(
                    lambda: contexts.composer_news(
                        self.user, access.get_session(self.user, self.session_id), files, asked
                    )
                ):
                    await self._send(news)
        for item in str(form.get("seen", "")).split()[:20]:
            message_id, seq = (int(number) for number in item.split(":"))
            message = await in_database(access.get_message, self.user, message_id)
            page = await self._page(message.turn_id, message_id)
            if page.answer.last_seq != seq:
                await self._send(_replacing(answer_html(page)))
            await self._attend(page)
        if "leaf" in form:
            await self._catch_up()

    async def _ask(self, form: dict[str, Any]) -> None:
        request_id = _uuid(form.get("request_id")) or uuid.uuid4()
        shown = _optional_id(form.get("parent_turn_id"))
        ask = lifecycle.Ask(
            session_id=self.session_id,
            question=str(form["question"]),
            parent_turn_id=shown,
            from_newest=True,
            request_id=request_id,
            language=self.language,
            use_filter=_flag(form.get("use_insert_block")),
            top_n=_optional_id(form.get("rerank_top_n")),
            choices=Choices(
                assistant_id=_optional_id(form.get("assistant")),
                model=str(form.get("model_id") or ""),
                filter_model=str(form.get("insert_block_llm_id") or ""),
                thinking=_flag(form.get("thinking")),
                mode=str(form.get("mode") or ""),
                search_mode=str(form.get("search_mode") or ""),
                k=_optional_id(form.get("k")),
            ),
        )
        started = await lifecycle.start_turn(self.user, ask)
        await in_database(drafts.forget_sent, self.session_id, ask.question, request_id)
        if started.turn_id in self._shown:  # another device has sent the same queued question
            await self._send(f'<article id="pending-{request_id}" hx-swap-oob="delete"></article>')
            return
        if started.parent_turn_id != shown:
            # Another page asked something in the meantime: missing turns appear above the question.
            await self._branch(started)
            await self._notice("continued_elsewhere")
            return
        if started.existing:
            page = await self._page(started.turn_id, started.assistant_message_id)
        else:  # immediately, without querying the database for a turn that has just begun
            page = AnswerPage.begun(started, lifecycle.validated_question(ask.question))
        html = turn_html(page)
        self._shown.add(page.turn_id)
        if form.get("pending"):  # the page already shows an optimistic copy
            html = _replacing(html, f"pending-{request_id}")
        else:
            html = format_html('<div hx-swap-oob="beforeend:#turns">{}</div>', contexts.safe(html))
        self._leaf = self._newest = page.turn_id
        # As one message: a page that has switched to another branch in the meantime ignores all of it.
        await self._send(html + contexts.parent_html(page.turn_id) + self._said(_("Answering")))
        await self._attend(page)

    async def _page(self, turn_id: int, message_id: int) -> AnswerPage:
        answer = await broker.snapshot(message_id)
        return await in_database(self._load, turn_id, answer)

    def _load(self, turn_id: int, answer: Answer) -> AnswerPage:
        session = access.get_session(self.user, self.session_id)
        view = queries.turn_view(session, turn_id)
        if view is None:
            raise Http404
        return AnswerPage.of(view, answer)

    async def _branch(self, started: lifecycle.Started) -> None:
        """Show the branch that a turn opens, and follow only its answers: its own and any asked on another page."""
        if started.turn_id in self._shown:
            return
        html, unfinished = await in_database(contexts.turns_of, self.user, self.session_id, started.turn_id)
        asked = {page.turn_id: page.message_id for page in unfinished} | {started.turn_id: started.assistant_message_id}
        pages = [await self._page(turn_id, message_id) for turn_id, message_id in asked.items()]
        self._shown.update(asked)
        self._leaf = self._newest = started.turn_id
        await self._stop_listening()
        await self._send(_replacing(html) + contexts.parent_html(started.turn_id) + self._said(_("Answering")))
        for page in pages:
            await self._send(_replacing(answer_html(page)))
            await self._attend(page)
        self._has_branches = True
        await self._map_branches()

    async def _map_branches(self) -> None:
        """Update the map of the branches, if there are several, unless it is open."""
        if self._has_branches:
            await self._send(await in_database(contexts.branches_html, self.user, self.session_id, self._leaf))

    async def _catch_up(self) -> None:
        """Append newer turns to the branch that the page shows, and notify of turns in other branches."""
        session, turns = await in_database(self._turns)
        known, self._newest = self._newest or 0, max(turns.parent, default=0)
        if self._leaf is not None and self._leaf not in turns.parent:
            return  # its turns have expired
        self._has_branches = len(turns.leaves()) > 1
        path = turns.branch(self._leaf) if self._leaf is not None or self._newest > known else []
        missing = path[path.index(self._leaf) + 1 :] if self._leaf is not None else path
        if missing:
            await self._append(session, turns, missing)
        if self._newest > known and self._newest not in path:
            await self._notice("elsewhere", turn_id=self._newest)
            await self._map_branches()

    async def _append(self, session: ChatSession, turns: TurnTree, missing: list[int]) -> None:
        """Append turns to the page, and follow their answers."""
        place = f"afterend:#turn-{self._leaf}" if self._leaf is not None else "beforeend:#turns"
        self._leaf = missing[-1]
        self._shown.update(missing)
        pages = await in_database(lambda: [AnswerPage.of(view) for view in queries.views(session, turns, missing)])
        pages = [await self._page(page.turn_id, page.message_id) if page.streaming else page for page in pages]
        html = "".join([await in_database(turn_html, page) for page in pages])
        # As one message: a page that has switched to another branch in the meantime ignores all of it.
        said = _("Asked on another page: %(question)s") % {"question": pages[-1].asked} if pages else ""
        appended = format_html('<div hx-swap-oob="{}">{}</div>', place, contexts.safe(html))
        await self._send(appended + contexts.parent_html(missing[-1]) + self._said(said))
        for page in pages:
            if page.streaming:
                await self._attend(page)
        if pages and not pages[-1].streaming:
            await self._after(pages[-1])

    def _turns(self) -> tuple[ChatSession, TurnTree]:
        session = access.get_session(self.user, self.session_id)
        return session, queries.tree(session)

    async def _attend(self, page: AnswerPage) -> None:
        """Follow an answer; if it has already ended, update what its end changes."""
        if not page.streaming:
            await self._after(page)
            return
        known = self._listeners.get(page.message_id)
        if known and not known.done():
            return

        def ended(task: asyncio.Task[None]) -> None:
            if self._listeners.get(page.message_id) is task:
                del self._listeners[page.message_id]
            if not task.cancelled() and task.exception() is not None:
                logger.error("Following message %s failed", page.message_id, exc_info=task.exception())

        task = asyncio.create_task(self._follow(page))
        self._listeners[page.message_id] = task
        task.add_done_callback(ended)

    async def _follow(self, page: AnswerPage) -> None:
        """Send an answer's events as they come, to its end, combining text that comes faster than a page needs it."""
        stream, due = Stream(page), 0.0
        with override(self.language):
            async with aclosing(broker.follow(page.message_id, page.answer.last_seq)) as batches:
                async for events in batches:
                    if (early := due - time.monotonic()) > 0:
                        await asyncio.sleep(early)
                    if isinstance(events[-1], DoneEvent):
                        with suppress(*DATABASE_UNAVAILABLE):  # the end is sent in any case
                            await in_database(self._complete, page)
                    news = join_deltas(events)
                    for message in messages(frame for event in news for frame in stream.feed(event)):
                        await self._send(message)
                    if isinstance(news[-1], Delta | ThinkEvent):
                        due = time.monotonic() + DELTA_INTERVAL
                    if isinstance(events[-1], DoneEvent):
                        await self._after(page)

    def _complete(self, page: AnswerPage) -> None:
        """Update what the events of a turn don't contain: the model that wrote it, and its siblings."""
        session = access.sessions(self.user).filter(pk=self.session_id).first()
        view = queries.turn_view(session, page.turn_id) if session is not None else None
        if view is not None:
            page.model, page.action = view.turn.model, view.turn.action
            page.siblings, page.position = tuple(view.siblings), view.position
            page.for_staff = may_change_models(self.user)

    async def _after(self, page: AnswerPage) -> None:
        """Update what an answer changes elsewhere on the page: its chat's row in the list, and the title."""
        html = await in_database(contexts.row_of, self.user, self.session_id)
        await self._send(html + self._said(page.line))
        if page.turn_id == self._leaf:
            offered = await in_database(follow_ups, self.user, page)
            context = {"follow_ups": offered, "session": {"pk": self.session_id}, "oob": True}
            await self._send(render_to_string("conversations/_follow_ups.html", context))
            await self._map_branches()

    async def _stop_listening(self) -> None:
        tasks = list(self._listeners.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _refuse(self, form: dict[str, Any], message: str) -> None:
        """Show the reason, and let the page put the question back into the composer."""
        refused = str(form.get("request_id") or "")
        await self._send(render_to_string("conversations/_refused.html", {"request_id": refused}))
        await self._toast(message)

    async def _notice(self, kind: str = "", **context: Any) -> None:
        """Show a notice above the composer (`elsewhere`, `continued_elsewhere` or `deleted`), or remove it."""
        context |= {"kind": kind, "session_id": self.session_id}
        await self._send(render_to_string("conversations/_notice.html", context))

    async def _toast(self, message: str) -> None:
        await self._send(toast_html(message))

    async def _send(self, html: str) -> None:
        await self.send(text_data=html)

    def _said(self, text: str) -> str:
        return format_html('<div hx-swap-oob="innerHTML:#announcer">{}</div>', text)


def _replacing(html: str, target: str = "") -> str:
    """Return an element as a fragment that replaces the element with its own id, or `target`."""
    first, _space, rest = html.strip().partition(" ")
    return f'{first} hx-swap-oob="{f"outerHTML:#{target}" if target else "true"}" {rest}'


def _id(value: Any) -> int:
    """Parse an id from a form; raises `ValueError` if it isn't one."""
    return int(str(value))


def _optional_id(value: Any) -> int | None:
    return _id(value) if value else None


def _flag(value: Any) -> bool | None:
    """Parse a boolean from a form; None if it is neither."""
    return {"true": True, "false": False}.get(str(value).lower())


def _uuid(value: Any) -> uuid.UUID | None:
    return uuid.UUID(str(value)) if value else None

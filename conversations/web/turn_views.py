"""The chat's pages for single turns: asking without scripts, sources, traces and feedback."""

import uuid
from collections import defaultdict
from collections.abc import Awaitable
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations import access, queries, services
from conversations.citations.supporting_sentences import grounds
from conversations.inbox import drafts
from conversations.models import Feedback, Message, Turn
from conversations.rendering import markdown
from conversations.rendering.answer import AnswerPage
from conversations.rendering.trace import steps
from conversations.sharing import export, notes
from conversations.turns import broker, lifecycle
from knowledge import access as knowledge_access
from knowledge.highlights import Marks, sentences_of
from ragsite.db import in_database
from ragsite.exceptions import Refused
from ragsite.requests import absolute, is_htmx, number_in, refusal
from retrieval.web.question_views import offer, render_offer


@login_required
@require_POST
async def ask(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask without scripts: the next page refreshes itself until the answer is complete."""
    question = lifecycle.Ask(
        session_id=pk,
        question=request.POST.get("question", ""),
        parent_turn_id=number_in(request, "parent_turn_id"),
        from_newest=True,
        language=_language(),
    )
    user = await request.auser()

    async def asked() -> lifecycle.Started:
        started = await lifecycle.start_turn(user, question)
        await in_database(drafts.forget_sent, pk, question.question, question.request_id)
        return started

    return await _begin(request, asked(), pk)


@login_required
@require_POST
async def regenerate(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer a question again, without scripts; with `document_id`, from one of the documents that it may mean."""
    user = await request.auser()
    session_id = (await in_database(access.get_message, user, pk)).turn.session_id
    document_id = number_in(request, "document_id")
    again = lifecycle.regenerate(user, pk, _language(), _request_id(request), document_id)
    return await _begin(request, again, session_id)


@login_required
@require_POST
async def continue_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the rest of a cut answer, without scripts."""
    user = await request.auser()
    session_id = (await in_database(access.get_message, user, pk)).turn.session_id
    return await _begin(request, lifecycle.continue_answer(user, pk, _language(), _request_id(request)), session_id)


@login_required
@require_POST
async def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop a session's running answers, without scripts."""
    user = await request.auser()
    session = await in_database(access.get_session, user, pk)
    running = Message.objects.filter(turn__session=session, status=Message.Status.STREAMING)
    async for message in running:
        await lifecycle.stop_turn(user, message.pk)
    return redirect("session", pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
async def edit_question(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form for editing a question, and ask the new one as a sibling."""
    user = await request.auser()
    page = await in_database(_page, user, pk)
    if request.method == "POST":
        asked = lifecycle.edit(user, pk, request.POST.get("question", ""), _language(), _request_id(request))
        return await _begin(request, asked, page.session_id)
    context = {"page": page, "max_question": settings.MAX_QUESTION_CHARACTERS, "request_id": uuid.uuid4()}
    template = "conversations/_edit.html" if is_htmx(request) else "conversations/edit.html"
    # The base template queries the signed-in user.
    return await in_database(render, request, template, context)


@login_required
@require_GET
def question(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a question unchanged, after editing was cancelled."""
    page = _page(request.user, pk)
    if not is_htmx(request):
        return redirect(_place(page.session_id, pk))
    return render(request, "conversations/_question.html", {"page": page})


@login_required
@require_GET
def citation(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show a source of an answer: the quotation, and the passage in its document if it still exists.

    For someone else's answer, only sources that the viewer can read are shown.
    """
    message = access.get_message(request.user, pk, traced=True)
    # Sources can be followed as soon as they are sent; they are stored at a checkpoint, or with the end.
    writing = message.status == Message.Status.STREAMING
    answer = async_to_sync(broker.snapshot)(message.pk) if writing else None
    page = AnswerPage.of(_view(message.turn), answer)
    readable = knowledge_access.readable_chunks(request.user).select_related("document")
    if message.turn.session.owner_id != request.user.pk:
        within = set(readable.filter(pk__in=[card.chunk_id for card in page.cards]).values_list("pk", flat=True))
        page.answer.citations = [item for item in page.answer.citations if item["chunk_id"] in within]
    card = next((card for card in page.cards if card.number == number), None)
    if card is None:
        raise Http404(_("This answer has no such source."))
    chunks = {chunk.pk: chunk for chunk in readable.filter(pk__in=card.joined or [card.chunk_id])}
    best, address = chunks.get(card.chunk_id or 0), ""
    if best is not None:
        # The passage, with the sentences that support the claims about it to be highlighted.
        sentences = [(chunk.pk, at, text) for chunk in chunks.values() for at, text in enumerate(sentences_of(chunk))]
        said: dict[int, set[int]] = defaultdict(set)
        for found in grounds(page.claims(number), [text for _id, _at, text in sentences]):
            chunk_id, at, _text = sentences[found]
            said[chunk_id].add(at)
        address = reverse("passage", args=[best.pk]) + Marks(best.pk, card.joined, said).query()
    context = {
        "page": page,
        "card": card,
        "passage": address,
        "others": page.cards,
    }
    return _aside(request, "citation", context)


@login_required
@require_GET
def trace(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the trace of an answer to its owner and to staff who can view others' turns."""
    traced = access.traced_messages(request.user).select_related("turn__assistant_version__assistant")
    message = get_object_or_404(traced, turn_id=pk, role=Message.Role.ASSISTANT)
    turn = message.turn
    context = {
        "page": AnswerPage.of(_view(message.turn)),
        "turn": turn,
        "steps": steps(turn, request.user),
        "before": turn.parent_turn_id,
        "after": turn.children.order_by("-created_at", "-id").values_list("pk", flat=True).first(),
    }
    return _aside(request, "trace", context)


@login_required
@require_GET
def copied_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Return an answer for the clipboard: as Markdown with its list of sources, and the same as HTML."""
    message = access.get_message(request.user, pk)
    view = _view(message.turn)
    addresses = {
        source.index: absolute(request, reverse("citation", args=[pk, source.index])) for source in view.citations
    }
    text = export.answer(view, absolute(request, "/").rstrip("/"), addresses)
    # Only links from the sources are kept, as on the page.
    trusted = "\n".join([view.question.content, *addresses.values(), *(source.snippet for source in view.citations)])
    return JsonResponse({"text": text, "html": markdown.render(text, markdown.Context(trusted_text=trusted))})


@login_required
@require_http_methods(["GET", "POST"])
def save_note(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the knowledge bases in which an answer can be saved as a document, and save it in one (`knowledge_base`)."""
    message = access.get_message(request.user, pk)
    if request.method == "GET":
        context = {"message": message, "bases": knowledge_access.editable(request.user).order_by("name")}
        template = "conversations/note.html" + ("#popover" if is_htmx(request) else "")
        return render(request, template, context | {"in_popover": is_htmx(request)})
    base = knowledge_access.get_editable_knowledge_base(request.user, number_in(request, "knowledge_base") or 0)
    try:
        added = notes.save_note(request.user, message, base, absolute(request, "/").rstrip("/"))
    except Refused as refused:
        if is_htmx(request):
            return refusal(refused.message)
        messages.error(request, refused.message)
        return redirect(_place(message.turn.session_id, message.turn_id))
    said = _("“{base}” already contains this.") if added.already_here else _("“{name}” was saved to “{base}”.")
    said = said.format(name=added.document.name, base=base.name)
    if not is_htmx(request):
        messages.success(request, said)
        return redirect(_place(message.turn.session_id, message.turn_id))
    toast = render_to_string("partials/toast.html", {"text": said, "kind": "success"})
    return HttpResponse(format_html('<div hx-swap-oob="beforeend:#toasts">{}</div>', mark_safe(toast)))


@login_required
@require_http_methods(["GET", "POST"])
def feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """Give feedback (`value` 1 or -1, with `reason` and `comment`), or remove it (0).

    After a value alone, and on GET (except with `?closed`), the form for a reason and a comment is shown.
    """
    message = access.get_message(request.user, pk)
    place, posted = _place(message.turn.session_id, message.turn_id), request.POST
    has_comment = "comment" in posted
    if posted.get("value") in ("1", "-1"):
        reason, comment = posted.get("reason", ""), posted.get("comment", "")
        try:
            services.give_feedback(request.user, message, int(posted["value"]), reason, comment)
        except ValueError as error:
            return HttpResponse(str(error), status=409)
    elif request.method == "POST":
        services.remove_feedback(request.user, message)
    page = AnswerPage.of(_view(message.turn))
    in_chat = is_htmx(request)
    if not in_chat and (request.method == "POST" or not page.feedback):
        return redirect(place)
    context = {
        "page": page,
        "in_chat": in_chat,
        "back": place,
        "reasons": Feedback.Reason.choices,
        "comment_characters": Feedback.COMMENT_CHARACTERS,
        "asking": page.feedback and not has_comment and "closed" not in request.GET,
        "focus": request.method == "GET",
        "saved": has_comment or "closed" in request.GET,
    }
    return render(request, "conversations/_thumbs.html" if in_chat else "conversations/feedback.html", context)


@login_required
@require_GET
def add_to_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the question sets that an answered question can be added to; its cited passages count as relevant."""
    message = access.get_message(request.user, pk)
    page = AnswerPage.of(_view(message.turn))
    cited, also_read = ([card.chunk_id for card in cards if card.chunk_id] for cards in (page.cited, page.also_read))
    return render_offer(request, offer(request.user, page.question, [*cited, *also_read], cited))


async def _begin(request: HttpRequest, starting: Awaitable[lifecycle.Started], session_id: int) -> HttpResponse:
    try:
        started = await starting
    except lifecycle.TurnRefused as refusal:
        messages.error(request, refusal.message)
        return redirect("session", pk=session_id)
    return redirect(_place(session_id, started.turn_id))


def _place(session_id: int, turn_id: int) -> str:
    return f"{reverse('session', args=[session_id])}?turn={turn_id}#turn-{turn_id}"


def _page(user: Any, turn_id: int) -> AnswerPage:
    return AnswerPage.of(_view(get_object_or_404(Turn, pk=turn_id, session__in=access.sessions(user))))


def _view(turn: Turn) -> queries.TurnView:
    view = queries.turn_view(turn.session, turn.pk)
    if view is None:
        raise Http404
    return view


def _aside(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    """Render a template in the chat's drawer, or as a page of its own without scripts."""
    context |= {"aside": f"conversations/_{name}.html"}
    template = "conversations/_drawer.html" if is_htmx(request) else "conversations/aside.html"
    return render(request, template, context)


def _request_id(request: HttpRequest) -> uuid.UUID | None:
    """Return the form's request id, which prevents asking twice if it is sent twice; None if it has none."""
    try:
        return uuid.UUID(request.POST.get("request_id", ""))
    except ValueError:
        return None


def _language() -> str:
    return get_language() or settings.LANGUAGE_CODE

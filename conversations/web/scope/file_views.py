"""The files of a chat on its page: put in, shown while they are read, removed, kept in a base."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from conversations import access
from conversations.files import chat_files
from conversations.models import ChatSession
from conversations.web import contexts
from knowledge import access as knowledge_access
from knowledge.ingestion import ingestion
from knowledge.models import Document
from knowledge.queries import seconds_silent
from ragsite.exceptions import Refused
from ragsite.requests import is_htmx, number_in, refusal


@login_required
@require_POST
def attach(request: HttpRequest, pk: int) -> HttpResponse:
    """Take in files for a chat. The page's script sends one and gets its chip; without script it is a plain form."""
    session = access.get_session(request.user, pk)
    chips: list[HttpResponse] = []
    for file in request.FILES.getlist("file"):
        try:
            added = chat_files.attach(request.user, session, file.name or "", file)
        except Refused as refused:
            if is_htmx(request):
                code = {"too_large": 413, "storage_full": 413, "too_many": 409, "disk_full": 507}.get(refused.code, 415)
                return refusal(refused.message, code)
            messages.error(request, refused.message)
        else:
            chips.append(_chip(request, session, added.document))
    return HttpResponse([chip.content for chip in chips]) if is_htmx(request) else redirect("session", pk=pk)


@login_required
@require_GET
def file(request: HttpRequest, pk: int, document_id: int) -> HttpResponse:
    """Return a file's chip as it stands; those of unfinished files ask for themselves again."""
    session = access.get_session(request.user, pk)
    document = chat_files.files_of(session).filter(pk=document_id).first()
    if document is None:
        return HttpResponse()  # it is gone, and so goes its chip
    if seconds_silent(document) is not None:
        ingestion.requeue_stalled()
    return _chip(request, session, document)


@login_required
@require_POST
def remove_file(request: HttpRequest, pk: int, document_id: int) -> HttpResponse:
    """Take a file out of a chat; its chip goes."""
    chat_files.remove(access.get_session(request.user, pk), document_id)
    return HttpResponse() if is_htmx(request) else redirect("session", pk=pk)


@login_required
@require_POST
def retry_file(request: HttpRequest, pk: int, document_id: int) -> HttpResponse:
    """Read a file again."""
    session = access.get_session(request.user, pk)
    document = chat_files.retry(session, document_id)
    return _chip(request, session, document) if is_htmx(request) else redirect("session", pk=pk)


@login_required
@require_POST
def keep_file(request: HttpRequest, pk: int, document_id: int) -> HttpResponse:
    """Move a file of a chat into the knowledge base that was chosen; its chip goes, and what is asked may be more."""
    session = access.get_session(request.user, pk)
    document = chat_files.get_file(session, document_id)
    if (chosen := number_in(request, "knowledge_base")) is None:
        return refusal(_("Choose a knowledge base to keep it in."), 422)
    base = knowledge_access.get_editable_knowledge_base(request.user, chosen)
    said = _("“{name}” was saved to “{base}”.").format(name=document.name, base=base.name)
    try:
        chat_files.keep(session, document.pk, base)
    except Refused as refused:
        if is_htmx(request):
            return refusal(refused.message)
        messages.error(request, refused.message)
        return redirect("session", pk=pk)
    if not is_htmx(request):
        messages.success(request, said)
        return redirect("session", pk=pk)
    context = contexts.composer_context(request.user, session) | {"oob": True}
    toast = render_to_string("partials/toast.html", {"text": said, "kind": "success"})
    toasts = format_html('<div hx-swap-oob="beforeend:#toasts">{}</div>', mark_safe(toast))
    return HttpResponse(render_to_string("conversations/_scope.html", context, request) + toasts)


def _chip(request: HttpRequest, session: ChatSession, document: Document) -> HttpResponse:
    return render(request, "conversations/_file.html", contexts.files_context(request.user, session, document))

"""What a chat asks, as chosen on its page: bases or documents, and of them those in a folder, with tags and fields."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from conversations import access, services
from conversations.models import ChatSession
from conversations.web import contexts
from knowledge import access as knowledge_access
from knowledge import queries
from knowledge.labels import OPERATORS, LabelError, is_date, read_value
from ragsite.requests import ids, is_htmx, refusal

# Documents, folders and tags that are offered at once.
MOST_FOUND = 8


@login_required
@require_http_methods(["GET", "POST"])
def choose_scope(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask only what is chosen from now on: bases, or the documents of before where none is; neither means all.

    A button adds a document, a folder or a tag, or takes something out; GET is a page for all of it, without scripts,
    and for htmx the line under the composer as it stands.
    """
    session = access.get_session(request.user, pk)
    if request.method == "GET" and not is_htmx(request):
        context = contexts.composer_context(request.user, session) | _found(request, session)
        return render(request, "conversations/scope.html", context)
    try:
        if request.method == "POST":
            _choose(request, session)
    except LabelError as error:
        if is_htmx(request):
            return refusal(str(error), 422)
        messages.error(request, str(error))
    if is_htmx(request):
        return render(request, "conversations/_scope.html", contexts.composer_context(request.user, session))
    return redirect("choose-scope" if "stay" in request.POST else "session", pk=pk)


@login_required
@require_GET
def find_scope(request: HttpRequest, pk: int) -> HttpResponse:
    """List the documents, folders and tags that hold the words of `?q=`, to be added to what a chat asks."""
    session = access.get_session(request.user, pk)
    return render(request, "conversations/_found.html", {"session": session} | _found(request, session))


def _choose(request: HttpRequest, session: ChatSession) -> None:
    given = request.POST
    bases, documents = (ids(given.getlist(name)) for name in ("knowledge_base", "document"))
    tags, metadata, folder = list(session.tags), dict(session.metadata), session.folder
    if added := ids(given.getlist("add_document")):
        bases, documents = [], [*documents, *added]
    bases = [pk for pk in bases if pk not in ids(given.getlist("drop_base"))]
    documents = [pk for pk in documents if pk not in ids(given.getlist("drop_document"))]
    tags += given.getlist("add_tag")
    tags = [tag for tag in tags if tag not in given.getlist("drop_tag")]
    folder = "" if "drop_folder" in given else given.get("add_folder", folder)
    for name in given.getlist("drop_field"):
        metadata.pop(name, None)
    field, sign, value = (given.get(name, "").strip() for name in ("field", "sign", "value"))
    if field and value and sign in OPERATORS:
        before = metadata.get(field)
        metadata[field] = (dict(before) if isinstance(before, Mapping) else {}) | {sign: _typed(field, value)}
    if "everything" in given:
        bases, documents, tags, metadata, folder = [], [], [], {}, ""
    services.set_scope(request.user, session, bases, documents, (tags, metadata), folder)


def _typed(field: str, text: str) -> Any:
    """Return what was typed as what it looks like: a number, true or false, a date, or a text."""
    for kind in ("number", "boolean"):
        try:
            return read_value(field, text, kind)
        except LabelError:
            continue
    return read_value(field, text, "date" if is_date(text) else "text")


def _found(request: HttpRequest, session: ChatSession) -> dict[str, Any]:
    words = request.GET.get("q", "").replace("\0", "").strip()[:200]
    documents = knowledge_access.searchable_documents(request.user)
    shown = queries.search_documents(documents, words) if words else documents.none()
    chosen = session.documents.values("pk")
    return {
        "words": words,
        "found_documents": shown.exclude(pk__in=chosen).select_related("knowledge_base").order_by("-pk")[:MOST_FOUND],
        "found_tags": [
            tag for tag in queries.tags_of(documents, words, MOST_FOUND + len(session.tags)) if tag not in session.tags
        ][:MOST_FOUND],
        "found_folders": [
            folder for folder in queries.folders_of(documents, words, MOST_FOUND + 1) if folder != session.folder
        ][:MOST_FOUND],
        "field_names": queries.field_names_of(documents),
    }

"""Pages for sharing chats: links, shared chats and exports."""

import uuid
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from conversations import access
from conversations.api.sharing import exported
from conversations.rendering.shared_answer import shared_answers
from conversations.sharing import export, links
from knowledge import access as knowledge_access
from ragsite.requests import absolute, is_htmx, number_in, refusal


@login_required
@require_http_methods(["GET", "POST"])
def share(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a session's links and exports; create a link to the branch up to `parent_turn_id`, or to the newest turn."""
    session = access.get_session(request.user, pk)
    turn_id = number_in(request, "parent_turn_id")
    context: dict[str, Any] = {"session": session, "turn_id": turn_id, "has_turns": session.turns.exists()}
    if request.method == "POST":
        try:
            context["made"] = links.create_link(session, turn_id)
        except links.NothingToShare:
            return refusal(_("There is nothing to share yet. Ask something first."))
    context["links"] = _with_address(request, access.share_links(request.user).filter(session=session))
    if not is_htmx(request):
        return render(request, "conversations/share.html", context)
    part = "links" if request.method == "POST" else "popover"
    return render(request, f"conversations/share.html#{part}", context)


@login_required
@require_POST
def revoke_link(request: HttpRequest, uuid: uuid.UUID) -> HttpResponse:
    """Revoke a link permanently."""
    link = access.get_share_link(request.user, uuid)
    links.revoke(link)
    if not is_htmx(request):
        return redirect("share-links")
    return HttpResponse()


@login_required
@require_GET
def share_links(request: HttpRequest) -> HttpResponse:
    """List all active links of the user."""
    made = _with_address(request, access.share_links(request.user))
    return render(request, "conversations/share_links.html", {"links": made})


@login_required
@require_GET
def knowledge_base_links(request: HttpRequest, pk: int) -> HttpResponse:
    """List the active links that quote a base, for its owner, without their URLs."""
    base = knowledge_access.get_owned_knowledge_base(request.user, pk)
    context = {"base": base, "role": "owner", "is_owner": True, "links": links.links_quoting(base)}
    return render(request, "conversations/knowledge_base_links.html", context)


@login_required
@require_POST
def revoke_quoting_link(request: HttpRequest, pk: int, uuid: uuid.UUID) -> HttpResponse:
    """Revoke another user's link that quotes a base of the user."""
    base = knowledge_access.get_owned_knowledge_base(request.user, pk)
    links.revoke(links.get_link_quoting(base, uuid))
    return redirect("knowledge-base-links", pk)


@never_cache
@require_safe  # link previews request its headers first
def shared(request: HttpRequest, uuid: uuid.UUID) -> HttpResponse:
    """Show a shared branch to anyone who has its link; never to search engines."""
    link = access.get_shared(uuid)
    answers, session = shared_answers(link), link.session
    # An automatic name, such as "New chat 3", says nothing.
    title = Truncator(answers[0].asked).chars(80) if session.title_is_automatic and answers else session.name
    context = {"session": session, "title": title, "link": link, "answers": answers}
    response = render(request, "conversations/shared.html", context)
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response


@login_required
@require_GET
def export_markdown(request: HttpRequest, pk: int) -> HttpResponse:
    """Download one branch as Markdown: through `?turn=`, or the newest."""
    session = access.get_session(request.user, pk)
    text = export.markdown(session, number_in(request, "turn"), absolute(request, "/").rstrip("/"))
    return export.as_file(HttpResponse(text, content_type="text/markdown; charset=utf-8"), session, "md")


@login_required
@require_GET
def export_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Download all branches as data."""
    session = access.get_session(request.user, pk)
    response = JsonResponse(exported(session), json_dumps_params={"ensure_ascii": False, "indent": 2})
    return export.as_file(response, session, "json")


def _with_address(request: HttpRequest, made: Any) -> list[dict[str, Any]]:
    return [{"link": link, "url": absolute(request, reverse("shared", args=[link.pk]))} for link in made]

"""Installing the site as an app: its manifest, its page without a network, and what other apps share with it."""

import hashlib
import json

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from conversations import services
from conversations.files import chat_files
from conversations.inbox import drafts
from knowledge.web.files import upload_rules
from ragsite.exceptions import Refused
from ragsite.site_settings.config import config

# The page's background in the light theme, `--bg` in `static/css/tokens.css`.
BACKGROUND = "#fcfbfa"
# The files of the page without a network, besides the page.
OFFLINE_FILES = ("css/offline.css", "icon.svg")


@require_GET
def manifest(request: HttpRequest) -> JsonResponse:
    """Return the web app manifest: name, icons, and what can be shared with the site."""
    icons = [
        {"src": static(f"icons/{name}.png"), "sizes": size, "type": "image/png", "purpose": purpose}
        for name, size, purpose in (
            ("icon-192", "192x192", "any"),
            ("icon-512", "512x512", "any"),
            ("maskable-512", "512x512", "maskable"),
        )
    ]
    accepted = [f".{extension}" for extension in upload_rules()["extensions"]]
    described = {
        "id": "/",
        "name": config.SITE_NAME,
        "short_name": config.SITE_NAME,
        "start_url": reverse("chat"),
        "scope": "/",
        "display": "standalone",
        "background_color": BACKGROUND,
        "theme_color": BACKGROUND,
        "icons": icons,
        "share_target": {
            "action": reverse("share-target"),
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {
                "title": "title",
                "text": "text",
                "url": "url",
                "files": [{"name": "file", "accept": accepted}],
            },
        },
    }
    response = JsonResponse(
        described, content_type="application/manifest+json", json_dumps_params={"ensure_ascii": False}
    )
    response["Cache-Control"] = "public, max-age=3600"
    return response


@require_GET
def service_worker(request: HttpRequest) -> HttpResponse:
    """Return the service worker, which is replaced when the page without a network has changed."""
    files = [static(name) for name in OFFLINE_FILES]
    version = hashlib.sha256("".join([_offline_page(), *files]).encode()).hexdigest()[:16]
    context = {"version": version, "page": reverse("offline"), "files": json.dumps(files)}
    script = render_to_string("ragsite/service_worker.js", context)
    return HttpResponse(script, content_type="text/javascript", headers={"Cache-Control": "no-cache"})


@require_GET
def offline(request: HttpRequest) -> HttpResponse:
    """Return the page that the service worker shows without a network, in both languages, with nothing private."""
    return HttpResponse(_offline_page())


def _offline_page() -> str:
    return render_to_string("ragsite/offline.html", {"site_name": config.SITE_NAME})


@require_GET
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon, for browsers that request it without reading a page."""
    return redirect(static("favicon.ico"))


@csrf_exempt
@login_required
@require_http_methods(["GET", "POST"])
def share_target(request: HttpRequest) -> HttpResponse:
    """Open a new chat with what another app shares: text in the composer, unsent, and files as files of the chat.

    The system sends the form, so it has no CSRF token. Instead, its `Sec-Fetch-Site`, which only the browser can set,
    must say that no page of another site sent it. After signing in, what was shared is lost.
    """
    if request.method == "GET":
        return redirect("chat")
    if request.headers.get("Sec-Fetch-Site") not in ("none", "same-origin"):
        raise PermissionDenied(_("Only apps on your device can share something with this site."))
    session = services.empty_session(request.user)
    shared = [request.POST.get(name, "").strip() for name in ("title", "text", "url")]
    lines = [text for place, text in enumerate(shared) if text and not any(text in other for other in shared[:place])]
    drafts.keep(session.pk, "\n".join(lines))
    for file in request.FILES.getlist("file"):
        try:
            chat_files.attach(request.user, session, file.name or "", file)
        except Refused as refused:
            messages.error(request, refused.message)
    return redirect("session", pk=session.pk)

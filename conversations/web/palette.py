"""The command palette: chats, documents, knowledge bases and pages by their names."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from conversations import queries
from knowledge import access as knowledge_access
from knowledge.queries import contains

# The most results of each kind.
MOST_CHATS, MOST_DOCUMENTS, MOST_BASES = 6, 5, 4


@dataclass(frozen=True, slots=True)
class Command:
    """A page to open, or with `posts` a form to send there; `more` tells it from others of the same name."""

    name: str
    address: str
    icon: str
    more: str = ""
    posts: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Results of one kind."""

    name: str
    commands: list[Command]


@login_required
@require_GET
def palette(request: HttpRequest) -> HttpResponse:
    """List what the words of `?q=` may mean; without any, the newest chats and all pages."""
    words = queries.split_words(request.GET.get("q", ""))
    chats = queries.search_sessions(request.user, " ".join(words), archived=None if words else False)[:MOST_CHATS]
    groups = [
        Group(_("Chats"), [Command(chat.name, reverse("session", args=[chat.pk]), "message-square") for chat in chats]),
        Group(_("Documents"), list(_documents(request.user, words)) if words else []),
        Group(_("Knowledge bases"), list(_bases(request.user, words)) if words else []),
        Group(_("Actions and pages"), [each for each in _pages(request.user) if _matches(each, words)]),
    ]
    context = {"groups": [group for group in groups if group.commands], "words": " ".join(words)}
    return render(request, "conversations/_palette.html", context)


def _documents(user: Any, words: list[str]) -> Iterator[Command]:
    named = Q()
    for word in words:
        named &= contains("title", word) | contains("original_filename", word)
    found = knowledge_access.searchable_documents(user).filter(named).select_related("knowledge_base")
    for document in found.order_by("-created_at")[:MOST_DOCUMENTS]:
        yield Command(document.name, reverse("document", args=[document.pk]), "file", document.knowledge_base.name)


def _bases(user: Any, words: list[str]) -> Iterator[Command]:
    named = Q()
    for word in words:
        named &= contains("name", word)
    for base in knowledge_access.readable(user).filter(named).order_by("name")[:MOST_BASES]:
        yield Command(base.name, reverse("knowledge-base", args=[base.pk]), "library")


def _pages(user: Any) -> Iterator[Command]:
    """Yield the actions and pages that a user may open."""
    yield Command(_("New chat"), reverse("new-session"), "square-pen", posts=True)
    for name, route, icon in (
        (_("Knowledge bases"), "knowledge", "library"),
        (_("Playground"), "playground", "flask-conical"),
        (_("Evaluation"), "evaluation", "chart-line"),
        (_("Account"), "account", "settings"),
        (_("Saved prompts"), "saved-prompts", "text-quote"),
        (_("Remembered facts"), "memory", "notebook-pen"),
        (_("Shared links"), "share-links", "link"),
        (_("Labels"), "labels", "tag"),
    ):
        yield Command(name, reverse(route), icon)
    if user.is_staff and user.has_perm("conversations.change_assistant"):
        yield Command(_("Assistants"), reverse("assistants"), "bot")
    if user.has_perm("conversations.add_modelprofile"):
        yield Command(_("Connect a model"), _model_page(), "plug")
    if user.is_staff:
        yield Command(_("Administration"), reverse("admin:index"), "shield")


def _model_page() -> str:
    for route in ("connect-model", "admin:conversations_modelprofile_set_up", "admin:conversations_modelprofile_add"):
        try:
            return reverse(route)
        except NoReverseMatch:
            continue
    return reverse("admin:index")


def _matches(command: Command, words: list[str]) -> bool:
    return all(word.casefold() in command.name.casefold() for word in words)

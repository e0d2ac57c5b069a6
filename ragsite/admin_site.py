"""The administration as a whole: its first page, and the order in which its lists stand."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

# The lists by what one comes for, not by where the code lies; what is named nowhere stands in the last section.
SECTIONS: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    (
        "people",
        _("People and what they may"),
        (
            "auth.User", "auth.Group", "ragsite.Invitation", "ragsite.Limit", "ragsite.ApiToken",
            "mfa.Authenticator", "ragsite.AuditEntry",
        ),
    ),
    (
        "models",
        _("Models and prompts"),
        (
            "conversations.ModelProfile", "retrieval.RegisteredModel", "conversations.PromptTemplate",
            "conversations.Assistant", "conversations.AssistantVersion", "conversations.Rehearsal",
            "conversations.TokenCalibration", "ragsite.SettingChange",
        ),
    ),
    (
        "conversations",
        _("Conversations"),
        (
            "conversations.ChatSession", "conversations.Turn", "conversations.Message", "conversations.Feedback",
            "conversations.Citation", "conversations.TraceStep", "conversations.ContextEntry",
            "conversations.ShareLink", "conversations.MemorySwitch",
        ),
    ),
    (
        "knowledge",
        _("Knowledge"),
        (
            "knowledge.KnowledgeBase", "knowledge.Document", "knowledge.Chunk", "knowledge.Picture",
            "knowledge.Membership",
        ),
    ),
    (
        "quality",
        _("Question sets and runs"),
        (
            "retrieval.EvaluationSet", "retrieval.EvaluationQuestion", "retrieval.EvaluationRun",
            "retrieval.EvaluationResult",
        ),
    ),
)  # fmt: skip


class AdminSite(admin.AdminSite):
    """Django's, with figures on its first page and the lists in sections."""

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show what happens on the site, then the lists."""
        figures = import_string(settings.ADMIN_FIRST_PAGE)(request)
        return super().index(request, figures | (extra_context or {}))

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the lists in sections; those of one app, where it is asked for, as they are."""
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        rows = {row["model"]._meta.label: row for app in apps for row in app["models"]}
        found = []
        for key, name, labels in SECTIONS:
            if models := [rows.pop(label) for label in labels if label in rows]:
                found.append(_section(key, name, models))
        if rows:
            found.append(_section("works", _("Inside the site"), list(rows.values())))
        return found


def _section(key: str, name: Any, models: list[Any]) -> dict[str, Any]:
    return {"name": name, "app_label": key, "app_url": "", "has_module_perms": True, "models": models}

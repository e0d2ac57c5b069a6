"""Prompts in the admin: an edit creates a version, and an old one can be activated again."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.admin.forms import PromptTemplateForm
from conversations.models import Message, PromptTemplate, Turn
from conversations.prompts import templates, versions
from ragsite.admin_base import ModelAdmin, shortened

# Number of turns to choose from for a preview.
_PREVIEW_TURNS = 30


@dataclass(frozen=True, slots=True)
class PreviewTurn:
    """A turn to choose from, shown by its question."""

    pk: int
    label: str


@admin.register(PromptTemplate)
class PromptTemplateAdmin(ModelAdmin):
    """Admin for prompts. Saving adds a version and activates it; old versions are kept and can be activated again."""

    form = PromptTemplateForm
    change_form_template = "admin/conversations/prompttemplate/change_form.html"
    list_display = ["purpose", "language", "version", "active", "written", "begins", "created_at"]
    list_filter = ["active", "shipped", "purpose", "language"]
    search_fields = ["system", "user"]
    actions = ["use"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Make the purpose and language of an existing version read-only."""
        return ["purpose", "language", "version", "active", "written", "created_at"] if obj else []

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the version's details before its texts."""
        shown = ["version", "active", "written", "created_at"] if obj else []
        return ["purpose", "language", *shown, "system", "user"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PromptTemplate]:
        """Annotate each version with the newest default."""
        family = PromptTemplate.objects.filter(purpose=OuterRef("purpose"), language=OuterRef("language"), shipped=True)
        newest = Subquery(family.order_by("-version").values("version")[:1])
        rows: QuerySet[PromptTemplate] = super().get_queryset(request).annotate(newest_default=newest)
        return rows

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Deny deleting prompts, since past answers were written with them."""
        return False

    def get_urls(self) -> list[Any]:
        """Add the preview, before the pattern of a prompt's page, which would match too."""
        view = self.admin_site.admin_view(self.preview)
        return [path("preview/", view, name="conversations_prompttemplate_preview"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Offer the newest turns for a preview to users who can read them."""
        turns = None
        if request.user.has_perm("conversations.view_turn"):
            asked = Message.objects.filter(turn=OuterRef("pk"), role=Message.Role.USER).values("content")[:1]
            newest = Turn.objects.order_by("-created_at", "-pk").annotate(asked=Subquery(asked))
            rows = newest.values_list("pk", "asked")[:_PREVIEW_TURNS]
            turns = [PreviewTurn(pk, f"#{pk} {shortened(question or '', 90)}") for pk, question in rows]
        return super().render_change_form(request, context | {"preview_turns": turns}, *args, **kwargs)

    def preview(self, request: HttpRequest) -> HttpResponse:
        """Show the messages that the form's texts would produce for a stored turn."""
        from conversations.prompts.preview import preview  # imports all of search, which would slow down the start

        allowed = self.has_view_permission(request) and request.user.has_perm("conversations.view_turn")
        if not allowed or request.method != "POST":
            raise PermissionDenied
        data = request.POST
        purpose = data.get("purpose") or data.get("preview_purpose") or ""
        language = data.get("language") or data.get("preview_language") or "en"
        chosen = data.get("preview_turn", "")
        turn = get_object_or_404(Turn, pk=int(chosen) if chosen.isdecimal() else 0)
        texts = data.get("system", ""), data.get("user", "")
        context: dict[str, Any] = {"errors": list(templates.problems(purpose, *texts).values())}
        if purpose in templates.VARIABLES and language in ("en", "zh"):
            prompt = templates.as_set(templates.Prompt(*texts, 0), purpose, language)
            context["preview"] = preview(purpose, prompt, turn, language, request.user)
        return render(request, "admin/conversations/prompttemplate/_preview.html", context)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save the texts as a new version, and continue with that one."""
        if change and not {"system", "user"} & set(form.changed_data):
            return
        saved = versions.save_version(obj.purpose, obj.language, obj.system, obj.user)
        obj.pk, obj.version, obj.active = saved.pk, saved.version, saved.active
        obj.created_at = saved.created_at

    @admin.display(description=gettext_lazy("written"), ordering="shipped")
    def written(self, template: PromptTemplate) -> str:
        """Show the author, and the newer default version, if there is one."""
        by = _("shipped") if template.shipped else _("on this site")
        newest: int = getattr(template, "newest_default", None) or 0
        if not template.active or newest <= template.version:
            return by
        return _("%(by)s; a newer default is available (version %(version)d)") % {"by": by, "version": newest}

    @admin.display(description=gettext_lazy("system prompt"))
    def begins(self, template: PromptTemplate) -> SafeString:
        """Show the beginning of the prompt in a fixed number of lines, so that all rows have the same height."""
        return format_html('<div class="three-lines">{}</div>', shortened(template.system, 160))

    @admin.action(description=gettext_lazy("Use this version"), permissions=["change"])
    def use(self, request: HttpRequest, queryset: QuerySet[PromptTemplate]) -> None:
        """Activate each selected version for its purpose and language."""
        families = list(queryset.values_list("purpose", "language"))
        if len(families) != len(set(families)):
            self.message_user(request, _("Choose one version per purpose and language."), messages.ERROR)
            return
        for template in queryset:
            self.message_user(request, _("In use: %(name)s") % {"name": versions.activate(template)})

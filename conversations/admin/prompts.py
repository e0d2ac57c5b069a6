"""Prompts in the admin: an edit makes a version, an old one can be taken up again."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import prompt_versions
from conversations.admin.forms import PromptTemplateForm
from conversations.models import PromptTemplate
from ragsite.admin_base import ModelAdmin, shortened


@admin.register(PromptTemplate)
class PromptTemplateAdmin(ModelAdmin):
    """Saving an edit adds a version and makes it the one in use; old versions stay and can be taken up again."""

    form = PromptTemplateForm
    list_display = ["purpose", "language", "version", "active", "begins", "created_at"]
    list_filter = ["active", "purpose", "language"]
    search_fields = ["system", "user"]
    actions = ["use"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """A version keeps its purpose and language."""
        return ["purpose", "language", "version", "active", "created_at"] if obj else []

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show what the version is before its texts."""
        shown = ["version", "active", "created_at"] if obj else []
        return ["purpose", "language", *shown, "system", "user"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: past answers were written with these."""
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the texts as a new version, which the page then shows."""
        if change and not {"system", "user"} & set(form.changed_data):
            return
        saved = prompt_versions.save_version(obj.purpose, obj.language, obj.system, obj.user)
        obj.pk, obj.version, obj.active = saved.pk, saved.version, saved.active
        obj.created_at = saved.created_at

    @admin.display(description=gettext_lazy("system prompt"))
    def begins(self, template: PromptTemplate) -> str:
        """Show how the prompt begins."""
        return shortened(template.system, 80)

    @admin.action(description=gettext_lazy("Use this version"), permissions=["change"])
    def use(self, request: HttpRequest, queryset: QuerySet[PromptTemplate]) -> None:
        """Make each chosen version the active one of its purpose and language."""
        families = list(queryset.values_list("purpose", "language"))
        if len(families) != len(set(families)):
            self.message_user(request, _("Choose one version per purpose and language."), messages.ERROR)
            return
        for template in queryset:
            self.message_user(request, _("In use: %(name)s") % {"name": prompt_versions.activate(template)})

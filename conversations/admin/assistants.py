"""Assistants in the admin, with the same form as on their own pages; an edit creates a version."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from conversations.assistants.forms import AssistantForm
from conversations.models import Assistant, AssistantVersion, Rehearsal
from ragsite.admin_base import ModelAdmin, RecordAdmin, column, pretty_json


@admin.register(Assistant)
class AssistantAdmin(ModelAdmin):
    """Admin for assistants: access to them and how they answer."""

    form = AssistantForm
    list_display = ["name", "description", "is_default", "enabled", "everyone", "created_at"]
    list_filter = ["enabled", "everyone"]
    search_fields = ["name", "description"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form for the current user; its fields are created dynamically, not declared."""
        form = super().get_form(request, obj, change, **kwargs | {"fields": AssistantForm.Meta.fields})
        return type("Form", (form,), {"user": request.user})

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show access and sources first, and the assistant's own models and settings in collapsed sections."""
        fields = self.get_form(request, obj)(instance=obj).fields
        options = [name for name in fields if name.startswith("option_")]
        models = [name for name in fields if name.startswith("model_")]
        answering = ["knowledge_bases", "pipeline", "greeting", "questions"]
        if not options:  # for users with view permission only
            return [(None, {"fields": AssistantForm.Meta.fields})]
        return [
            (None, {"fields": [name for name in AssistantForm.Meta.fields if name in fields]}),
            (gettext_lazy("How it answers"), {"fields": answering}),
            (gettext_lazy("Models and prompts"), {"fields": [*models, "prompts"], "classes": ["collapse"]}),
            (gettext_lazy("Setting overrides"), {"fields": options, "classes": ["collapse"]}),
        ]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Deny deleting the default assistant."""
        return super().has_delete_permission(request, obj) and not (obj is not None and obj.is_default)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the version together with the assistant."""
        super().save_related(request, form, formsets, change)
        form.save_version(request.user)


@admin.register(AssistantVersion)
class AssistantVersionAdmin(RecordAdmin):
    """Read-only admin for the versions of assistants."""

    list_display = ["assistant", "number", "user", "created_at"]
    list_filter = ["assistant"]
    list_select_related = ["assistant", "user"]
    fields = ["assistant", "number", "user", "created_at", "says"]
    readonly_fields = ["says"]

    says = column(gettext_lazy("configuration"), lambda version: pretty_json(version.configuration))


@admin.register(Rehearsal)
class RehearsalAdmin(RecordAdmin):
    """Read-only admin for rehearsals of assistants and their runs."""

    list_display = ["assistant", "version", "user", "created_at"]
    list_filter = ["assistant"]
    list_select_related = ["assistant", "user"]
    fields = ["assistant", "version", "user", "created_at", "run", "beside", "says"]
    readonly_fields = ["says"]

    says = column(gettext_lazy("configuration"), lambda rehearsal: pretty_json(rehearsal.configuration))

"""The site's saved prompts in the admin; those of users are private."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from conversations.models import SavedPrompt
from ragsite.admin_base import ModelAdmin


@admin.register(SavedPrompt)
class SavedPromptAdmin(ModelAdmin):
    """Admin for prompts that everyone can insert into the composer."""

    list_display = ["title", "changed_at"]
    fields = ["title", "text"]
    search_fields = ["title", "text"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedPrompt]:
        """Exclude the prompts of users."""
        prompts: QuerySet[SavedPrompt] = super().get_queryset(request).filter(owner=None)
        return prompts

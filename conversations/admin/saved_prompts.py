"""The prompts of the whole site, in the admin; those of people are theirs alone."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from conversations.models import SavedPrompt
from ragsite.admin_base import ModelAdmin


@admin.register(SavedPrompt)
class SavedPromptAdmin(ModelAdmin):
    """What everyone may put into the composer."""

    list_display = ["title", "changed_at"]
    fields = ["title", "text"]
    search_fields = ["title", "text"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedPrompt]:
        """Leave out people's own."""
        prompts: QuerySet[SavedPrompt] = super().get_queryset(request).filter(owner=None)
        return prompts

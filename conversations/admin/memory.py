"""What the site learns and remembers, in the admin: how models count, and how much it remembers, never what."""

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from conversations.models import MemorySwitch, TokenCalibration
from ragsite.admin_base import ModelAdmin, ReadOnly, RecordAdmin, column, rounded


@admin.register(TokenCalibration)
class TokenCalibrationAdmin(ReadOnly, ModelAdmin):
    """How many tokens a model makes of one of ours. Deleting a row has it learned anew."""

    list_display = ["model", rounded(TokenCalibration, "factor"), "samples", "updated_at"]
    fields = readonly_fields = ("model", rounded(TokenCalibration, "factor"), "samples", "updated_at")
    search_fields = ["model"]


@admin.register(MemorySwitch)
class MemorySwitchAdmin(RecordAdmin):
    """The people whose memory is on, and their numbers of facts. The facts themselves are not shown."""

    list_display = ["user", "enabled", "facts"]
    fields = readonly_fields = ("user", "enabled", "facts")
    list_filter = ["enabled"]
    list_select_related = ["user"]
    search_fields = ["user__username"]

    facts = column(gettext_lazy("facts"), lambda switch: switch.fact_count, ordering="fact_count")

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemorySwitch]:
        """Count the facts along."""
        switches: QuerySet[MemorySwitch] = (
            super().get_queryset(request).annotate(fact_count=Count("user__memory_facts"))
        )
        return switches

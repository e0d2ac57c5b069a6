"""Admin for token calibrations and memory switches; remembered facts are counted, but never shown."""

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from conversations.models import MemorySwitch, TokenCalibration
from ragsite.admin_base import ModelAdmin, ReadOnly, RecordAdmin, column, rounded


@admin.register(TokenCalibration)
class TokenCalibrationAdmin(ReadOnly, ModelAdmin):
    """Tokens of a model per estimated token. Deleting a row restarts the calibration."""

    list_display = ["model", rounded(TokenCalibration, "factor"), "samples", "updated_at"]
    fields = readonly_fields = ("model", rounded(TokenCalibration, "factor"), "samples", "updated_at")
    search_fields = ["model"]


@admin.register(MemorySwitch)
class MemorySwitchAdmin(RecordAdmin):
    """Users with memory on, and how many facts they have. The facts themselves aren't shown."""

    list_display = ["user", "enabled", "facts"]
    fields = readonly_fields = ("user", "enabled", "facts")
    list_filter = ["enabled"]
    list_select_related = ["user"]
    search_fields = ["user__username"]

    facts = column(gettext_lazy("facts"), lambda switch: switch.fact_count, ordering="fact_count")

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemorySwitch]:
        """Annotate the number of facts."""
        switches: QuerySet[MemorySwitch] = (
            super().get_queryset(request).annotate(fact_count=Count("user__memory_facts"))
        )
        return switches

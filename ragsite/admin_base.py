"""What the apps' admin classes share: records that are looked at, never edited."""

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline


class RecordAdmin(ModelAdmin):
    """Records of what happened: no adding, no editing, and deleting only along with what they belong to."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: records make themselves."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: editing would falsify history."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse on the record's own pages; allow when its session or user is being deleted by someone who may."""
        match = request.resolver_match
        own = f"{self.opts.app_label}_{self.opts.model_name}_"
        if match is None or (match.url_name or "").startswith(own):
            return False
        return super().has_delete_permission(request, obj)


class RecordInline(TabularInline):
    """Records shown on the page of what they belong to."""

    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: records make themselves."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: editing would falsify history."""
        return False


def pretty_json(data: Any) -> SafeString:
    """Return JSON-safe data as indented, escaped text that keeps its lines."""
    return format_html("<pre>{}</pre>", json.dumps(data, ensure_ascii=False, indent=2))


def link_to(obj: Model | None) -> SafeString | str:
    """Return a link to the admin's page of an object, or a dash for none."""
    if obj is None:
        return "–"
    meta = obj._meta
    return format_html(
        '<a href="{}">{}</a>', reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[obj.pk]), obj
    )


def shortened(text: str, length: int = 100) -> str:
    """Return the text on one line, cut to a length in characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"

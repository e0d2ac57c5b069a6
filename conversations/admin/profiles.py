"""Model profiles in the admin: setting up and testing them; keys are write-only."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.admin.forms import ModelProfileForm
from conversations.admin.model_setup.views import SetUp, may_set_up
from conversations.models import ModelProfile
from conversations.prompts import profiles
from ragsite.admin_base import ModelAdmin


@admin.register(ModelProfile)
class ModelProfileAdmin(ModelAdmin):
    """Admin for the models of each purpose; keys are write-only."""

    form = ModelProfileForm
    change_list_template = "admin/conversations/modelprofile/change_list.html"
    list_display = ["purpose", "model", "base_url", "has_key", "temperature", "max_tokens", "enabled", "offered"]
    list_filter = ["purpose", "enabled"]
    search_fields = ["model", "base_url"]
    actions = ["test"]
    fieldsets = [
        (None, {"fields": ["purpose", "enabled", "offered", "base_url", "own_network", "model", "key", "remove_key"]}),
        (
            gettext_lazy("Generation"),
            {"fields": ["temperature", "max_tokens", "context_window", "thinking", "concurrency"]},
        ),
        (gettext_lazy("Prices"), {"fields": ["input_price", "output_price"]}),
        (gettext_lazy("Timeouts in seconds"), {"fields": ["connect_timeout", "idle_timeout", "total_timeout"]}),
    ]

    def get_urls(self) -> list[URLPattern]:
        """Add the pages that connect a model."""
        return [*SetUp(self).urls(), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Add whether the user can connect a model."""
        return super().changelist_view(request, {"may_set_up": may_set_up(request.user)} | (extra_context or {}))

    @admin.display(description=gettext_lazy("key"))
    def has_key(self, profile: ModelProfile) -> str:
        """Show whether a key is stored; a missing one is no error, since self-hosted servers usually need none."""
        if profile.encrypted_key:
            return _("stored")
        return _("none needed") if profile.own_network else _("none stored")

    @admin.action(description=gettext_lazy("Test selected profiles"), permissions=["change"])
    def test(self, request: HttpRequest, queryset: QuerySet[ModelProfile]) -> None:
        """Test each profile and show the result."""
        for profile in queryset:
            self._try(request, profile)

    def save_model(self, request: HttpRequest, obj: ModelProfile, form: Any, change: bool) -> None:
        """Show which model search still uses, since saving a profile for embedding doesn't change it."""
        super().save_model(request, obj, form, change)
        if obj.enabled and obj.purpose == ModelProfile.Purpose.EMBEDDING:
            self.message_user(request, profiles.what_search_uses(obj), messages.INFO)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """Test after saving, if requested."""
        return self._tested(request, obj) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Test after saving, if requested."""
        return self._tested(request, obj) or super().response_change(request, obj)

    def _tested(self, request: HttpRequest, profile: ModelProfile) -> HttpResponse | None:
        if "_test" not in request.POST:
            return None
        self._try(request, profile)
        return HttpResponseRedirect(reverse("admin:conversations_modelprofile_change", args=[profile.pk]))

    def _try(self, request: HttpRequest, profile: ModelProfile) -> None:
        outcome = async_to_sync(profiles.try_profile)(profile)
        self.message_user(request, outcome.message, messages.SUCCESS if outcome.works else messages.ERROR)

"""Base classes of the apps' admin: the site with its first page and sections, and read-only records."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db import connections
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

# The number of rows from which the count of an unfiltered table is estimated, since counting reads all rows.
LARGE = 50_000
# Models by topic rather than by app; models that aren't listed are in the last section.
SECTIONS: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    (
        "people",
        _("People and permissions"),
        (
            "auth.User", "auth.Group", "knowledge.Invitation", "ragsite.Limit", "ragsite.ApiToken",
            "mfa.Authenticator", "ragsite.AuditEntry",
        ),
    ),
    (
        "models",
        _("Models and prompts"),
        (
            "conversations.ModelProfile", "retrieval.RegisteredModel", "conversations.PromptTemplate",
            "conversations.SavedPrompt", "conversations.Assistant", "conversations.AssistantVersion",
            "conversations.Rehearsal", "conversations.TokenCalibration", "ragsite.SettingChange",
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


@dataclass(frozen=True, slots=True)
class Page:
    """An admin page that isn't a model's change list, listed after the model `after`; if empty, in the last section."""

    name: str  # of its URL pattern
    title: Any
    route: str
    view: Callable[[HttpRequest], HttpResponseBase]
    permission: str
    after: str


_pages: list[Page] = []


def add_page(page: Page) -> None:
    """Add a page to the admin, for staff with its permission; for modules that register model admins."""
    _pages.append(page)


class EstimatingPaginator(Paginator[Any]):
    """A paginator that uses the database's estimate as the count of a large table, unless it is filtered."""

    is_estimate = False

    @cached_property
    def count(self) -> int:
        """Return the number of rows, or an estimate of it."""
        rows: Any = self.object_list
        if not (rows.query.where or rows.query.distinct or rows.query.combinator):
            with connections[rows.db].cursor() as cursor:
                table = connections[rows.db].ops.quote_name(rows.model._meta.db_table)
                cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [table])
                estimate = int(cursor.fetchone()[0])
            if estimate >= LARGE:
                self.is_estimate = True
                return estimate
        return int(super().count)


class _ChangeList(ChangeList):
    """Django's change list without a count of results in an unfiltered list."""

    def get_results(self, request: HttpRequest) -> None:
        """Use the number of results of an unfiltered list as the number of rows."""
        super().get_results(request)
        if not self.query and not self.get_filters_params():
            self.full_result_count = self.result_count


class ModelAdmin(admin.ModelAdmin[Any]):
    """Django's class for lists of any length; it doesn't count the whole table for a filtered list."""

    paginator = EstimatingPaginator
    show_full_result_count = False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return the class of the change list."""
        return _ChangeList

    def page_name(self, obj: Any) -> str:
        """Return the heading of a row's page."""
        return str(obj)

    def render_change_form(
        self,
        request: HttpRequest,
        context: Any,
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        """Set the subtitle to the row's name."""
        subtitle = {"subtitle": self.page_name(obj)} if obj is not None else {}
        return super().render_change_form(request, context | subtitle, add, change, form_url, obj)


class AdminSite(admin.AdminSite):
    """Django's admin site with figures on its first page and models in sections."""

    enable_nav_sidebar = False  # replaced by templates/admin/lists.html

    def get_urls(self) -> list[Any]:
        """Add the pages that aren't change lists."""
        return [path(page.route, self.admin_view(page.view), name=page.name) for page in _pages] + super().get_urls()

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add the section and the list that a page belongs to."""
        context = super().each_context(request)
        for section in context["available_apps"]:
            for row in section["models"]:
                if row["admin_url"] and request.path.startswith(row["admin_url"]):
                    is_list = request.path == row["admin_url"] and request.method == "GET"
                    context["here"] = {"section": section, "list": row, "is_list": is_list}
        return context

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show the site's activity, then the models."""
        context = import_string(settings.ADMIN_FIRST_PAGE)(request)
        return super().index(request, context | (extra_context or {}))

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the models in sections; for a single app, Django's own list."""
        if app_label is not None:
            return super().get_app_list(request, app_label)
        # Django's list isn't reused, since sorting it translates the names again for each comparison.
        apps = self._build_app_dict(request).values()
        rows = {row["model"]._meta.label: row for app in apps for row in app["models"]}
        pages: dict[str, list[dict[str, Any]]] = {}
        for page in _pages:
            if request.user.has_perm(page.permission):
                url = reverse(f"admin:{page.name}")
                row = {"name": page.title, "object_name": page.name, "admin_url": url, "view_only": True}
                pages.setdefault(page.after, []).append(row)
        found = []
        for key, name, labels in SECTIONS:
            models = []
            for label in labels:
                if label in rows:
                    models.append(rows.pop(label))
                models += pages.get(label, [])
            if models:
                found.append(_section(key, name, models))
        if rest := [*rows.values(), *pages.get("", [])]:
            found.append(_section("works", _("System"), rest))
        return found


def _section(key: str, name: Any, models: list[Any]) -> dict[str, Any]:
    return {"name": name, "app_label": key, "app_url": "", "has_module_perms": True, "models": models}


class ReadOnly:
    """A mixin that prevents adding and editing, but not deleting."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False."""
        return False


class RecordAdmin(ReadOnly, ModelAdmin):
    """Records of events, which can't be edited and are deleted only with the object they belong to."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False on the record's own pages; elsewhere, it is deleted with its session or user."""
        match = request.resolver_match
        own = f"{self.opts.app_label}_{self.opts.model_name}_"
        if match is None or (match.url_name or "").startswith(own):
            return False
        return super().has_delete_permission(request, obj)


class RecordInline(ReadOnly, admin.TabularInline[Any, Any]):
    """Records shown on the page of the object they belong to."""

    extra = 0
    can_delete = False
    show_change_link = True


class ValuesFilter(admin.AllValuesFieldListFilter):
    """A filter by the existing values, with a label for rows without a value."""

    def choices(self, changelist: Any) -> Any:
        """Add labels to the choices."""
        for choice in super().choices(changelist):
            yield choice | {"display": self.label(str(choice["display"])) or _("none")}

    def label(self, value: str) -> str:
        """Return the label of a value."""
        return value


def work_page(request: HttpRequest, template: str, context: dict[str, Any], *, working: bool) -> HttpResponse:
    """Return a page, part of which is polled while `working`; when the work is done, the page is reloaded."""
    response = TemplateResponse(request, template, context | {"working": working})
    if request.htmx and not working:  # type: ignore[attr-defined]
        response["HX-Refresh"] = "true"
    return response


def pretty_json(data: Any, digits: int | None = None) -> SafeString:
    """Return JSON-safe data as indented, escaped, preformatted text, with fractions rounded to significant `digits`."""

    def short(text: str) -> float:
        number = float(text)
        before = math.floor(math.log10(abs(number))) + 1 if number else 1
        return round(number, max(0, (digits or 0) - before))

    if digits is not None:
        data = json.loads(json.dumps(data), parse_float=short)
    return format_html('<pre tabindex="0">{}</pre>', json.dumps(data, ensure_ascii=False, indent=2))


def token_counts(usage: dict[str, Any]) -> str:
    """Return the numbers of tokens that models read and wrote, or a dash if no model was called."""
    read, written = (int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
    return (
        gettext("%(read)s read, %(written)s written") % {"read": f"{read:,}", "written": f"{written:,}"}
        if read
        else "–"
    )


def link_to(obj: Model | None) -> SafeString | str:
    """Return a link to an object's admin page, or a dash for None."""
    if obj is None:
        return "–"
    meta = obj._meta
    return format_html(
        '<a href="{}">{}</a>', reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[obj.pk]), obj
    )


def column(
    description: Any, show: Callable[[Any], Any], *, ordering: str | None = None, boolean: bool | None = None
) -> Any:
    """Return a column or read-only field with the values of `show`, to be assigned in an admin class.

    The description is stored on `show`, so each column needs a function of its own.
    """
    return staticmethod(admin.display(show, description=description, ordering=ordering, boolean=boolean))


def rounded(model: type[Model], name: str) -> Any:
    """Return a column with a number rounded to four decimal places, ordered by the exact number."""
    field: Any = model._meta.get_field(name)

    @admin.display(description=field.verbose_name, ordering=name)
    def shown(record: Any) -> str:
        return f"{getattr(record, name):.4f}"

    shown.__name__ = f"{name}_rounded"
    return shown


def shortened(text: str, length: int = 100) -> str:
    """Return the text on one line, truncated to `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"

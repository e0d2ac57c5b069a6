"""Admin classes of the site's own models, and the admin's titles."""

import csv
import json
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import admin as auth
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django_q.admin import FailAdmin, QueueAdmin, TaskAdmin
from django_q.models import Failure, OrmQ, Schedule, Success, Task

from ragsite.admin_base import ModelAdmin, ReadOnly, RecordAdmin, column
from ragsite.audit.log import record
from ragsite.backup import admin as backups  # noqa: F401
from ragsite.models import ApiToken, AuditEntry, Limit, SettingChange
from ragsite.words.labels import VERBS

admin.site.index_title = _("Overview")

# Allauth has pages of its own for its models; the admin doesn't show secrets and sessions.
for model in (EmailAddress, SocialAccount, SocialApp, SocialToken, UserSession, Authenticator):
    admin.site.unregister(model)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly, ModelAdmin):
    """API tokens and their owners; deleting one revokes it. Only owners create tokens, and keys can't be shown."""

    # A key is shown once, to its owner, on the account page or by `create_token`.
    list_display = ["name", "user", "created_at", "last_used_at"]
    list_filter = ["created_at", "last_used_at"]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    fields = ["name", "user", "created_at", "last_used_at"]
    readonly_fields = ["user", "created_at", "last_used_at"]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Set the title: Django's "Select %s to view" would lack a space before "API" in Chinese."""
        return super().changelist_view(request, {"title": gettext("API tokens")} | (extra_context or {}))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Set the title, as in the list."""
        title = {"title": gettext("View API token")}
        return super().change_view(request, object_id, form_url, title | (extra_context or {}))


@admin.register(SettingChange)
class SettingChangeAdmin(RecordAdmin):
    """Changes of settings: who, when, and the values before and after."""

    list_display = ["changed_at", "name", "before", "after", "username"]
    list_filter = ["changed_at"]
    search_fields = ["name", "username"]
    fields = ["changed_at", "name", "before", "after", "username"]


@admin.register(Authenticator)
class AuthenticatorAdmin(ReadOnly, ModelAdmin):
    """Second factors; deleting those of a user who has lost them allows sign-in with the password alone."""

    # People set up their own.
    list_display = ["user", "type", "created_at", "last_used_at"]
    list_filter = ["type", "created_at"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
    fields = ["user", "type", "created_at", "last_used_at"]
    readonly_fields = ["user", "type", "created_at", "last_used_at"]


# Translations of the words that the audit log stores in English; words that aren't listed are shown unchanged.
AUDIT_WORDS = {
    "added": pgettext_lazy("audit", "added"),
    "changed": pgettext_lazy("audit", "changed"),
    "removed": pgettext_lazy("audit", "removed"),
    "used": pgettext_lazy("audit", "used"),
    "elsewhere": _("on another device"),
    "own data": _("own data"),
    "backup": _("backup"),
    "second factor": _("second factor"),
    "people": _("people"),
    "groups": _("groups"),
    "permissions": _("permissions"),
    "fields": _("fields"),
    "role": _("role"),
    "base_role": _("role in the knowledge base"),
    "knowledge_base": _("knowledge base"),
    "base": _("knowledge base"),
    "format": _("format"),
    "purposes": _("purposes"),
    "endpoint": _("endpoint"),
    "before": _("before"),
    "after": _("after"),
    "documents": _("documents"),
    "address": _("address"),
    "invited_by": _("invited by"),
    "why": _("why"),
    "unverified address": _(
        "the password was removed when the user signed in through the provider, "
        "because the e-mail address was never verified here"
    ),
    "member": _("member"),
    "curator": _("curator"),
    "administrator": _("administrator"),
    "viewer": _("viewer"),
    "editor": _("editor"),
    **VERBS,
    "move": pgettext_lazy("audit", "move"),
    "tag": pgettext_lazy("audit", "add tags"),
    "untag": pgettext_lazy("audit", "remove tags"),
    "describe": pgettext_lazy("audit", "set fields"),
    "retry": pgettext_lazy("audit", "retry"),
    "reingest": pgettext_lazy("audit", "read again"),
    "totp": _("authenticator app"),
    "webauthn": _("passkey or security key"),
    "recovery_codes": _("recovery codes"),
}
# Details whose values are words of `AUDIT_WORDS`; the values of others are names that people chose.
_WORDED = ("what", "kind", "role", "base_role", "why")
# Objects without a name, which the log stores under these English words.
CALLED = {"to this site": _("to this site"), "audit log": _("audit log")}


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordAdmin):
    """The audit log: who did what, when and from where."""

    list_display = ["at", "actor_name", "action", "kind", "called", "summary", "address"]
    list_filter = ["action", "at"]
    date_hierarchy = "at"
    search_fields = ["actor_name", "object_name", "address"]
    fields = ["at", "actor_name", "action", "kind", "object_id", "called", "summary", "address"]
    readonly_fields = ["kind", "called", "summary"]
    change_list_template = "admin/ragsite/auditentry/change_list.html"

    called = column(_("what"), lambda row: str(CALLED.get(row.object_name, row.object_name)), ordering="object_name")

    @admin.display(description=_("kind"), ordering="object_type")
    def kind(self, entry: AuditEntry) -> str:
        """Return the verbose name of the object's model."""
        model = _model_of(entry)
        return str(model._meta.verbose_name) if model is not None else entry.object_type

    @admin.display(description=_("details"))
    def summary(self, entry: AuditEntry) -> str:
        """Return the details as text, beginning with the change; fields and values are shown by their labels."""
        model = _model_of(entry)
        names = {field.attname: field.verbose_name for field in model._meta.concrete_fields} if model else {}
        parts = []
        for key, value in sorted(entry.details.items(), key=lambda each: each[0] != "what"):  # the database orders keys
            if value == []:
                continue
            values = list(map(str, value if isinstance(value, list) else [value]))
            known: dict[str, Any] = AUDIT_WORDS if key in _WORDED else {}
            if key == "fields":
                known = names
            if key == "purposes" and model is not None:
                known = dict(model._meta.get_field("purpose").flatchoices)  # type: ignore[union-attr]
            elif key == "names" and entry.details.get("kind") == "second factor":
                known = AUDIT_WORDS
            elif key == "names" and entry.details.get("kind") == "permissions":
                known = {each: _permission(each) for each in values}
            words = ", ".join(str(known.get(each, each)) for each in values)
            named = gettext("%(name)s: %(value)s") % {"name": AUDIT_WORDS.get(key, key), "value": words}
            parts.append(words if key in ("what", "kind", "names") else named)
        return " · ".join(parts)

    def get_urls(self) -> list[URLPattern]:
        """Add the URL of the export."""
        export = self.admin_site.admin_view(self.export)
        return [path("export/", export, name="ragsite_auditentry_export"), *super().get_urls()]

    def export(self, request: HttpRequest) -> HttpResponse:
        """Return the filtered entries, newest first, as CSV for spreadsheets."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        entries = self.get_changelist_instance(request).get_queryset(request)
        response = HttpResponse(
            "\ufeff", content_type="text/csv; charset=utf-8"
        )  # Excel detects the encoding by the byte-order mark
        response["Content-Disposition"] = f'attachment; filename="audit-{timezone.localdate()}.csv"'
        table = csv.writer(response)
        columns = ["at", "actor_name", "action", "object_type", "object_id", "object_name", "details", "address"]
        table.writerow(columns)
        for at, *cells in entries.values_list(*columns).iterator(chunk_size=2000):
            texts = [cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False) for cell in cells]
            # Spreadsheets would interpret text that begins like this as a formula.
            table.writerow([at.isoformat(), *("'" + text if text[:1] in tuple("=+-@\t\r") else text for text in texts)])
        record(AuditEntry.Action.EXPORTED, name="audit log", request=request)
        return response


admin.site.unregister(Group)


def _limit(name: str) -> Any:
    """Return a column with a limit of groups, empty for groups without one."""
    field: Any = Limit._meta.get_field(name)
    return column(
        field.verbose_name, lambda group: getattr(getattr(group, "limit", None), name, None), ordering=f"limit__{name}"
    )


@admin.register(Group)
class GroupAdmin(auth.GroupAdmin):
    """Groups of people, with the number of members and their limits."""

    list_display = ["name", "people", "questions_per_day", "tokens_per_month", "storage_mb"]
    list_select_related = ["limit"]
    fieldsets = [
        (
            None,
            {
                "fields": ["name", "permissions"],
                "description": _(
                    "Add people to a group on their own pages, share knowledge bases with it on their Members pages, "
                    "and set its limits under Limits. The permissions below are for staff; most groups need none."
                ),
            },
        )
    ]

    people = column(_("people"), lambda group: group.people_count, ordering="people_count")
    questions_per_day = _limit("questions_per_day")
    tokens_per_month = _limit("tokens_per_month")
    storage_mb = _limit("storage_mb")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        """Annotate the number of members."""
        groups: QuerySet[Group] = super().get_queryset(request)
        return groups.annotate(people_count=Count("user"))


@admin.register(Limit)
class LimitAdmin(ModelAdmin):
    """Limits of people and groups."""

    list_display = ["__str__", "user", "group", "questions_per_day", "tokens_per_month", "storage_mb"]
    list_select_related = ["user", "group"]
    search_fields = ["user__username", "group__name"]
    autocomplete_fields = ["user", "group"]
    fieldsets = [
        (
            None,
            {
                "fields": ["user", "group", "questions_per_day", "tokens_per_month", "storage_mb"],
                "description": _(
                    "Applies to one person or to every member of a group. If a field is empty, the limits of the "
                    "person's groups apply, then the site's settings."
                ),
            },
        )
    ]


# Tasks can be viewed, resubmitted and deleted, but not added or edited.
class _SucceededAdmin(ReadOnly, ModelAdmin, TaskAdmin):  # type: ignore[misc]
    """Successful tasks, without the name of the cluster, since there is only one."""

    list_display = ["name", "func", "group", "started", "stopped", "took"]
    list_filter = ["started"]

    took = column(_("seconds"), lambda task: f"{task.time_taken():.1f}")


class _FailedAdmin(ReadOnly, ModelAdmin, FailAdmin):  # type: ignore[misc]
    """Failed tasks, with their error messages."""

    list_display = ["name", "func", "group", "started", "stopped", "short_result"]
    list_filter = ["started"]


class _QueuedAdmin(ReadOnly, ModelAdmin, QueueAdmin):  # type: ignore[misc]
    """Tasks that are waiting, or being processed until their lock expires."""

    list_display = ["name", "func", "group", "lock", "task_id"]
    list_filter = ["lock"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Leave out empty fields, such as the group."""
        return [name for name in QueueAdmin.fields if not (callable(value := getattr(obj, name)) and not value())]

    def page_name(self, obj: Any) -> str:
        """Return the task's name; the row itself has none."""
        return str(obj.name())


for task, task_admin in ((Success, _SucceededAdmin), (Failure, _FailedAdmin), (OrmQ, _QueuedAdmin)):
    admin.site.unregister(task)
    admin.site.register(task, task_admin)

admin.site.unregister(Schedule)


@admin.register(Schedule)
class ScheduleAdmin(ModelAdmin):
    """Scheduled tasks, with their next run and the result of the last."""

    list_display = ["name", "func", "how_often", "runs_left", "next_run", "last_run", "succeeded"]
    search_fields = ["name", "func"]
    exclude = ["cron"]  # needs a package that the site doesn't install

    runs_left = column(
        _("runs left"), lambda row: gettext("unlimited") if row.repeats < 0 else str(row.repeats), ordering="repeats"
    )
    succeeded = column(_("succeeded"), lambda schedule: schedule.ran_well, ordering="ran_well", boolean=True)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Schedule]:
        """Annotate the last run."""
        last = Task.objects.filter(id=OuterRef("task"))
        schedules: QuerySet[Schedule] = (
            super()
            .get_queryset(request)
            .annotate(ran_at=Subquery(last.values("stopped")), ran_well=Subquery(last.values("success")))
        )
        return schedules

    @admin.display(description=_("how often"), ordering="schedule_type")
    def how_often(self, schedule: Any) -> str:
        """Return how often it runs."""
        if schedule.schedule_type != Schedule.MINUTES:
            return str(schedule.get_schedule_type_display())
        count = schedule.minutes or 1
        return gettext("Every minute") if count == 1 else gettext("Every %(count)d minutes") % {"count": count}

    @admin.display(description=_("last run"), ordering="ran_at")
    def last_run(self, schedule: Any) -> SafeString | None:
        """Return a link to the result of the last run."""
        if schedule.ran_at is None:
            return None
        name = "success" if schedule.ran_well else "failure"
        address = reverse(f"admin:django_q_{name}_change", args=[schedule.task])
        return format_html('<a href="{}">{}</a>', address, localize(timezone.localtime(schedule.ran_at)))


def _model_of(entry: AuditEntry) -> type[Model] | None:
    try:
        return apps.get_model(entry.object_type) if entry.object_type else None
    except LookupError:  # the model no longer exists
        return None


def _permission(name: str) -> str:
    """Return a description of a permission such as `conversations.add_assistant`, or its name if unknown."""
    app, _dot, codename = name.partition(".")
    verb, _line, kind = codename.partition("_")
    try:
        return f"{apps.get_model(app, kind)._meta.verbose_name}: {AUDIT_WORDS.get(verb, verb)}"
    except (LookupError, ValueError):  # the model no longer exists, or the entry is in an older format
        return name

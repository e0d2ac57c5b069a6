"""Admin labels that the site's models don't define, listed here so that they are translated with the rest."""

from typing import Any

from django.apps import apps
from django.utils.translation import gettext, gettext_noop, pgettext_lazy
from django.utils.translation import gettext_lazy as _

# Labels of fields without a verbose name, by the name that Django derives.
FIELDS = {
    "active": _("active"),
    "alt": _("caption"),
    "analysed to": _("analysed up to passage"),
    "assistant": _("assistant"),
    "base url": _("base URL"),
    "beside": _("run of the current version"),
    "char end": _("last character"),
    "char start": _("first character"),
    "chunk": _("chunk"),
    "chunks": _("chunks"),
    "content": _("content"),
    "created at": _("created"),
    "dimension": _("dimensions"),
    "document": _("document"),
    "document frequency": _("documents containing it"),
    "file": _("file"),
    "finished at": _("finished"),
    "heading path": _("heading path"),
    "heartbeat at": _("last heartbeat"),
    "height": _("height"),
    "is slow": _("slow to read"),
    "kind": _("kind"),
    "knowledge base": _("knowledge base"),
    "languages": _("languages"),
    "last seq": _("last event"),
    "last used at": _("last used"),
    "lead": _("lead"),
    "model": _("model"),
    "ordinal": _("position"),
    "page": _("page"),
    "page from": _("first page"),
    "page to": _("last page"),
    "picture": _("picture"),
    "provider": pgettext_lazy("of models", "provider"),
    "hidden": _("hidden"),
    "reads scans": _("scans are read"),
    "run": _("run"),
    "sha256": _("SHA-256"),
    "started at": _("started"),
    "table columns": _("columns of the table"),
    "table rows": _("rows of the table"),
    "term": _("term"),
    "token count": _("tokens"),
    "type": _("type"),
    "user": _("user"),
    "uuid": _("link"),
    "version": _("version"),
    "width": _("width"),
}

# Singular and plural names of models whose packages use code names or title case.
MODELS = {
    "django_q.Failure": (_("failed task"), _("failed tasks")),
    "django_q.OrmQ": (_("queued task"), _("queued tasks")),
    "django_q.Schedule": (_("scheduled task"), _("scheduled tasks")),
    "django_q.Success": (_("successful task"), _("successful tasks")),
    "django_q.Task": (_("task"), _("tasks")),
    "mfa.Authenticator": (_("second factor"), _("second factors")),
    "usersessions.UserSession": (_("signed-in device"), _("signed-in devices")),
}

# Labels of fields whose packages use title case.
TITLES = {
    "django_q.OrmQ.lock": _("locked until"),
    "django_q.Schedule.next_run": _("next run"),
    "django_q.Schedule.schedule_type": _("schedule type"),
    "django_q.Task.started": _("started"),
    "django_q.Task.stopped": _("finished"),
}

# Messages of Django and django-q that aren't translated, or not well.
OF_OTHERS = (
    gettext_noop(":"),  # after the label of a field
    gettext_noop("Add %s"),
    gettext_noop("Change %s"),
    gettext_noop("View %s"),
    gettext_noop("Add %(name)s"),
    gettext_noop("Add another %(verbose_name)s"),
    gettext_noop("Add another %(model)s"),
    gettext_noop("Select %s to change"),
    gettext_noop("Select %s to view"),
    gettext_noop("Change history: %s"),
    gettext_noop(" By %(filter_title)s "),
    gettext_noop("After you’ve created a user, you’ll be able to edit more user options."),
    gettext_noop("%(name)s with ID “%(key)s” doesn’t exist. Perhaps it was deleted?"),
    gettext_noop("email address"),
    gettext_noop("Function"),
    gettext_noop("Result"),
    gettext_noop("Queue options"),
    gettext_noop("Prevent any cluster from pulling until"),
    gettext_noop("Signed serialized task package (do not edit manually)."),
    gettext_noop("Resubmit selected tasks to queue"),
    gettext_noop("Number of minutes for the Minutes type"),
    gettext_noop("Hook"),
    gettext_noop("Arguments"),
    gettext_noop("Keyword arguments"),
    gettext_noop("Cluster"),
    gettext_noop("Cluster key"),
    gettext_noop("Attempt count"),
    gettext_noop("Task id"),
    gettext_noop("Task"),
    gettext_noop("Payload"),
    gettext_noop("Cron"),
    gettext_noop("Intended date kwarg"),
    gettext_noop("Short result"),
    gettext_noop("32-character task identifier."),
    gettext_noop("Optional human-readable name for lookup and display."),
    gettext_noop("Dotted import path to the callable, e.g. myapp.tasks.job."),
    gettext_noop("Optional dotted path to a callback that receives the task result."),
    gettext_noop("Pickled positional arguments (tuple)."),
    gettext_noop("Pickled keyword arguments (dict)."),
    gettext_noop("Pickled return value or error payload."),
    gettext_noop("Optional group id to aggregate related tasks."),
    gettext_noop("Name of the cluster that executed this task."),
    gettext_noop("When the worker started executing the task."),
    gettext_noop("When the worker finished (success or failure)."),
    gettext_noop("False if the task raised an exception or timed out."),
    gettext_noop("How many times execution was attempted."),
    gettext_noop("Optional label to identify this schedule in the admin."),
    gettext_noop("e.g. module.tasks.function"),
    gettext_noop("e.g. module.tasks.result_function"),
    gettext_noop("How often this task should be enqueued."),
    gettext_noop("When this schedule runs next (stored in UTC)."),
    gettext_noop("Name of the target cluster"),
)

# The actions of permissions; the audit log uses the same words.
VERBS = {
    "view": pgettext_lazy("audit", "view"),
    "add": pgettext_lazy("audit", "add"),
    "change": pgettext_lazy("audit", "change"),
    "delete": pgettext_lazy("audit", "delete"),
    "curate": pgettext_lazy("audit", "manage all"),
}


def label() -> None:
    """Set labels of models and fields, of permissions (stored in English), and of group memberships.

    Migrations aren't affected, since they use the models' own definitions.
    """
    for model in apps.get_models():
        fields: list[Any] = [*model._meta.fields, *model._meta.many_to_many]
        for field in fields:
            if field._verbose_name is None and field.verbose_name in FIELDS:
                field.verbose_name = FIELDS[field.verbose_name]
    for name, (one, several) in MODELS.items():
        meta: Any = apps.get_model(name)._meta
        meta.verbose_name, meta.verbose_name_plural = one, several
    for name, verbose_name in TITLES.items():
        model_name, _dot, field_name = name.rpartition(".")
        titled: Any = apps.get_model(model_name)._meta.get_field(field_name)
        titled.verbose_name = verbose_name
    permissions: Any = apps.get_model("auth.Permission")
    permissions.__str__ = _permission
    user: Any = apps.get_model("auth.User")
    group: Any = apps.get_model("auth.Group")
    entry: Any = apps.get_model("admin.LogEntry")
    original = entry.get_change_message
    entry.get_change_message = lambda entry: gettext(original(entry))  # also translates messages stored as text
    membership, granted = user.groups.through, group.permissions.through
    membership.__str__, granted.__str__ = lambda row: str(row.user), lambda row: str(row.permission)
    membership._meta.verbose_name = _("membership of a group")
    membership._meta.verbose_name_plural = _("memberships of groups")
    granted._meta.verbose_name = _("permission of a group")
    granted._meta.verbose_name_plural = _("permissions of groups")


def _permission(permission: Any) -> str:
    verb = permission.codename.partition("_")[0]
    return f"{permission.content_type} | {VERBS.get(verb, permission.name)}"

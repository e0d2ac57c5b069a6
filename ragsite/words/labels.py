"""Labels of the administration that no model of ours gives: they are named here to be translated with the rest."""

from typing import Any

from django.apps import apps
from django.utils.translation import gettext, gettext_noop, pgettext_lazy
from django.utils.translation import gettext_lazy as _

# Of fields without a label of their own, which Django calls by their names.
FIELDS = {
    "active": _("active"),
    "alt": _("caption"),
    "analysed to": _("counted up to passage"),
    "assistant": _("assistant"),
    "base url": _("base URL"),
    "beside": _("run of the version in use"),
    "char end": _("last character"),
    "char start": _("first character"),
    "chunk": _("chunk"),
    "chunks": _("chunks"),
    "content": _("content"),
    "created at": _("created"),
    "dimension": _("dimensions"),
    "document": _("document"),
    "document frequency": _("documents with it"),
    "file": _("file"),
    "finished at": _("finished"),
    "heading path": _("heading path"),
    "heartbeat at": _("last sign of work"),
    "height": _("height"),
    "is slow": _("takes long to read"),
    "kind": _("kind"),
    "knowledge base": _("knowledge base"),
    "languages": _("languages"),
    "last seq": _("last event"),
    "last used at": _("last used"),
    "lead": _("words before it"),
    "model": _("model"),
    "ordinal": _("position"),
    "page": _("page"),
    "page from": _("first page"),
    "page to": _("last page"),
    "picture": _("picture"),
    "provider": pgettext_lazy("of models", "provider"),
    "put away": _("put away"),
    "reads scans": _("has its scans read"),
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

# Of models that their packages call by their code's names, or as titles: one of them, and several.
MODELS = {
    "django_q.Failure": (_("failed task"), _("failed tasks")),
    "django_q.OrmQ": (_("queued task"), _("queued tasks")),
    "django_q.Schedule": (_("scheduled task"), _("scheduled tasks")),
    "django_q.Success": (_("successful task"), _("successful tasks")),
    "django_q.Task": (_("task"), _("tasks")),
    "mfa.Authenticator": (_("second factor"), _("second factors")),
    "usersessions.UserSession": (_("signed-in device"), _("signed-in devices")),
}

# Of fields whose packages write them as titles, which stand within sentences here.
TITLES = {
    "django_q.OrmQ.lock": _("locked until"),
    "django_q.Schedule.next_run": _("next run"),
    "django_q.Schedule.schedule_type": _("schedule type"),
    "django_q.Task.started": _("started"),
    "django_q.Task.stopped": _("finished"),
}

# What Django and django-q say in English where the reader's language is another, or stiffly.
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

# What a permission lets one do; the audit log has the same words.
VERBS = {
    "view": pgettext_lazy("audit", "view"),
    "add": pgettext_lazy("audit", "add"),
    "change": pgettext_lazy("audit", "change"),
    "delete": pgettext_lazy("audit", "delete"),
    "curate": pgettext_lazy("audit", "manage all"),
}


def label() -> None:
    """Label what has no label or an odd one, permissions, which the database has in English, and what is in groups.

    Migrations don't notice, as they go by what the models say themselves.
    """
    for model in apps.get_models():
        fields: list[Any] = [*model._meta.fields, *model._meta.many_to_many]
        for field in fields:
            if field._verbose_name is None and field.verbose_name in FIELDS:
                field.verbose_name = FIELDS[field.verbose_name]
    for name, (one, several) in MODELS.items():
        meta: Any = apps.get_model(name)._meta
        meta.verbose_name, meta.verbose_name_plural = one, several
    for name, words in TITLES.items():
        of, _dot, field_name = name.rpartition(".")
        titled: Any = apps.get_model(of)._meta.get_field(field_name)
        titled.verbose_name = words
    permissions: Any = apps.get_model("auth.Permission")
    permissions.__str__ = _permission
    user: Any = apps.get_model("auth.User")
    group: Any = apps.get_model("auth.Group")
    entry: Any = apps.get_model("admin.LogEntry")
    told = entry.get_change_message
    entry.get_change_message = lambda entry: gettext(told(entry))  # what is kept in words, too
    in_group, may = user.groups.through, group.permissions.through
    in_group.__str__, may.__str__ = lambda row: str(row.user), lambda row: str(row.permission)
    in_group._meta.verbose_name = _("membership of a group")
    in_group._meta.verbose_name_plural = _("memberships of groups")
    may._meta.verbose_name, may._meta.verbose_name_plural = _("permission of a group"), _("permissions of groups")


def _permission(permission: Any) -> str:
    verb = permission.codename.partition("_")[0]
    return f"{permission.content_type} | {VERBS.get(verb, permission.name)}"

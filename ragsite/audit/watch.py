"""Record sign-ins and changes of models in the audit log, by signals, whatever page or program causes them."""

from collections.abc import Collection
from functools import partial
from typing import Any

from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save

from ragsite.audit.log import has_request, record
from ragsite.audit.models import AuditEntry

Action = AuditEntry.Action
_BEFORE = "_audited_before"


def model(
    kind: type[Model],
    action: AuditEntry.Action,
    *,
    only: Collection[str] = (),
    ignored: Collection[str] = (),
    added: bool = True,
    removed: AuditEntry.Action | None = None,
) -> None:
    """Record what users do with a model, with the names of changed fields but never their values.

    The fields are `only` those given, or all but those `ignored`. Cascading deletions are not recorded, nor are changes
    by commands and migrations.
    """

    def is_watched(name: str) -> bool:
        return name in only if only else name not in ignored

    def before(sender: type[Model], instance: Model, **kwargs: Any) -> None:
        if instance.pk is not None and has_request() and not kwargs.get("raw"):
            names = [field.attname for field in kind._meta.concrete_fields if is_watched(field.name)]
            setattr(instance, _BEFORE, kind._base_manager.filter(pk=instance.pk).values(*names).first())

    def saved(sender: type[Model], instance: Model, created: bool, **kwargs: Any) -> None:
        if not has_request() or kwargs.get("raw"):
            return
        known: dict[str, Any] = instance.__dict__.pop(_BEFORE, None) or {}
        if created:
            if added:
                record(action, instance, what="added")
            return
        fields = [name for name, value in known.items() if getattr(instance, name) != value]
        if fields:
            record(action, instance, what="changed", fields=fields)

    def gone(sender: type[Model], instance: Model, origin: Any = None, **kwargs: Any) -> None:
        began = getattr(origin, "model", type(origin))
        if has_request() and began in (kind, type(None)):
            record(removed or action, instance, what="removed")

    uid = f"audit.{kind._meta.label}.{action}"
    pre_save.connect(before, sender=kind, weak=False, dispatch_uid=uid)
    post_save.connect(saved, sender=kind, weak=False, dispatch_uid=uid)
    if removed is not None or added:
        post_delete.connect(gone, sender=kind, weak=False, dispatch_uid=uid)


def people() -> None:
    """Record sign-ins, and changes of accounts and groups."""
    user_logged_in.connect(_signed_in, dispatch_uid="audit.signed_in")
    user_logged_out.connect(_signed_out, dispatch_uid="audit.signed_out")
    user_login_failed.connect(_sign_in_failed, dispatch_uid="audit.sign_in_failed")
    model(User, Action.ACCOUNT, ignored=("last_login", "date_joined"), removed=Action.DELETED)
    model(Group, Action.GROUP)
    for signal, what in (
        (authenticator_added, "added"),
        (authenticator_removed, "removed"),
        (authenticator_reset, "changed"),
    ):
        signal.connect(partial(_second_factor, what), weak=False, dispatch_uid=f"audit.second_factor.{what}")
    for through in (User.groups.through, Group.permissions.through, User.user_permissions.through):
        m2m_changed.connect(_related, sender=through, dispatch_uid=f"audit.{through.__name__}")


def _signed_in(sender: Any, request: Any, user: User, **kwargs: Any) -> None:
    record(Action.SIGNED_IN, actor=user, request=request)


def _signed_out(sender: Any, request: Any, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        record(Action.SIGNED_OUT, actor=user, request=request)


def _sign_in_failed(sender: Any, credentials: Any, request: Any = None, **kwargs: Any) -> None:
    """Record the account, if it exists, but not the text typed, which may be a password in the wrong field."""
    typed = str(credentials.get("username") or credentials.get("email") or "").replace("\x00", "")
    user = User.objects.filter(username__iexact=typed).first() if typed else None
    record(Action.SIGN_IN_FAILED, user, request=request)


def _second_factor(what: str, *, user: User, authenticator: Any, **kwargs: Any) -> None:
    """Record which kind of second factor was added, removed or reset."""
    record(Action.ACCOUNT, user, what=what, kind="second factor", names=[str(authenticator.type)])


def _related(sender: Any, instance: Any, action: str, reverse: bool, model: Any, pk_set: Any, **kwargs: Any) -> None:
    """Record who was added to or removed from a group, and which permissions were granted or revoked."""
    what = {"post_add": "added", "post_remove": "removed", "pre_clear": "removed"}.get(action)
    if what is None or not has_request():
        return
    if pk_set is None:  # the relation is cleared
        own = "permissions" if isinstance(instance, Group) else "user_permissions"
        field = {Group: "groups", Permission: own}.get(model, "user_set")
        pk_set = getattr(instance, field).values_list("pk", flat=True)
    found = model._base_manager.filter(pk__in=list(pk_set))
    if model is Permission:  # stored by codename, and shown in the reader's language
        names = sorted(f"{app}.{name}" for app, name in found.values_list("content_type__app_label", "codename"))
    else:
        names = sorted(str(each) for each in found)
    if names:
        kind = {User: "people", Group: "groups"}.get(model, "permissions")
        of = Action.ACCOUNT if isinstance(instance, User) else Action.GROUP
        record(of, instance, what=what, kind=kind, names=names)

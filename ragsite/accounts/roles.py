"""The role that a person has on the whole site: member, curator or administrator.

Roles are Django's own flags and permissions, so that the administration and other people's code see them as they are:
an administrator is a superuser of the staff, a curator has `CURATOR_PERMISSIONS`. Staff with a choice of permissions
of their own stay what Django makes of them, and count here as what else they are.
"""

from django.contrib.auth.models import Permission, User
from django.db import models, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ragsite.audit.log import record
from ragsite.audit.models import AuditEntry

CURATE = "knowledge.curate_knowledgebase"
CURATOR_PERMISSIONS = (
    CURATE,
    "conversations.view_assistant",
    "conversations.add_assistant",
    "conversations.change_assistant",
    "conversations.delete_assistant",
)


class Role(models.TextChoices):
    """A member asks and has knowledge bases; a curator manages all of them; an administrator all of the site."""

    MEMBER = "member", _("Member")
    CURATOR = "curator", _("Curator")
    ADMINISTRATOR = "administrator", _("Administrator")


# Where a role is chosen, what it may do is said with it.
ROLES_EXPLAINED = [
    (Role.MEMBER, _("Member: asks, and has knowledge bases of their own")),
    (Role.CURATOR, _("Curator: also manages all knowledge bases and the assistants")),
    (Role.ADMINISTRATOR, _("Administrator: also manages people, models and settings")),
]


def role_of(user: User) -> Role:
    """Return the role of a person."""
    if user.is_superuser:
        return Role.ADMINISTRATOR
    return Role.CURATOR if user.has_perm(CURATE) else Role.MEMBER


def is_last_administrator(user: User) -> bool:
    """Return whether the site would have no active administrator without this person."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    return user.is_superuser and user.is_active and not others.exists()


@transaction.atomic
def assign(user: User, role: Role) -> None:
    """Give a person a role and take the other ones away; permissions of no role are left."""
    record(AuditEntry.Action.ROLE, user, role=role.value)
    user.is_superuser = user.is_staff = role == Role.ADMINISTRATOR
    user.save(update_fields=["is_superuser", "is_staff"])
    named = Q()
    for name in CURATOR_PERMISSIONS:
        app, codename = name.split(".")
        named |= Q(content_type__app_label=app, codename=codename)
    if role == Role.CURATOR:
        user.user_permissions.add(*Permission.objects.filter(named))
    else:
        user.user_permissions.remove(*user.user_permissions.filter(named))

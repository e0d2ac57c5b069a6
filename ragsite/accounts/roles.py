"""A user's role on the whole site: member, curator or administrator.

Roles are Django's own flags and permissions, so that the admin and third-party code understand them: an administrator
is a superuser and staff, a curator has `CURATOR_PERMISSIONS`. Other staff permissions don't affect the role.
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
    """Members ask and own knowledge bases; curators manage all of them; administrators manage the whole site."""

    MEMBER = "member", _("Member")
    CURATOR = "curator", _("Curator")
    ADMINISTRATOR = "administrator", _("Administrator")


# Choices of a role with what it may do, for forms.
ROLES_EXPLAINED = [
    (Role.MEMBER, _("Member: asks questions and has their own knowledge bases")),
    (Role.CURATOR, _("Curator: also manages all knowledge bases and assistants")),
    (Role.ADMINISTRATOR, _("Administrator: also manages people, models and settings")),
]


def role_of(user: User) -> Role:
    """Return a user's role."""
    if user.is_superuser:
        return Role.ADMINISTRATOR
    return Role.CURATOR if user.has_perm(CURATE) else Role.MEMBER


def is_last_administrator(user: User) -> bool:
    """Return whether this user is the only active administrator."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    return user.is_superuser and user.is_active and not others.exists()


@transaction.atomic
def assign(user: User, role: Role) -> None:
    """Give a user a role and remove the others; permissions that belong to no role are kept."""
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

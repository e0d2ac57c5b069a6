"""Invitations, from creation to use.

A link works once, until it expires or is revoked, and only while its creator may still create it: administrators may
create any, owners of a knowledge base those to that base. Using it never takes anything away from an existing account.

The address in an invitation counts as confirmed for the account created with it in two cases. Either the link came from
the mail sent to that address: that link carries a proof which the link shown to the creator lacks. Or an administrator
created it, who may give any account any address anyway, and so vouches for the recipient. The owner of a base vouches
for nobody: they could enter someone else's address, use the link themselves, and get what others share with that
person. The addresses of an existing account don't change.
"""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import override

from knowledge import access
from knowledge.models import Invitation, KnowledgeBase, Membership
from ragsite.accounts.roles import Role, assign
from ragsite.audit.log import explain, record
from ragsite.exceptions import Refused
from ragsite.models import AuditEntry
from ragsite.requests import absolute
from ragsite.site_settings.config import config, refresh

DAYS, MOST_DAYS = 7, 90
# The session key of the digest of the invitation that a visitor is about to use.
_SESSION = "invitation"


class InvitationRefused(Refused):
    """An invitation can't be created or used.

    Codes: unknown, used, revoked, expired, withdrawn (its creator may no longer invite), not_for_you, is_owner,
    not_allowed.
    """


def may_invite(user: User, base: KnowledgeBase | None) -> bool:
    """Return whether someone may invite people to the site (`base` None), or to a base and thereby to the site."""
    if not user.is_active:
        return False
    if user.is_superuser:
        return True
    refresh()
    return base is not None and bool(config.OWNERS_INVITE) and access.owned(user).filter(pk=base.pk).exists()


@transaction.atomic
def invite(
    user: User,
    *,
    base: KnowledgeBase | None = None,
    base_role: str = Membership.Role.VIEWER,
    email: str = "",
    role: str = Role.MEMBER,
    groups: Iterable[Group] = (),
    days: int = DAYS,
) -> tuple[Invitation, str]:
    """Create an invitation; return it with its key, which isn't stored. Raises `InvitationRefused("not_allowed")`."""
    groups = list(groups)
    if not may_invite(user, base) or ((role != Role.MEMBER or groups) and not user.is_superuser):
        raise InvitationRefused("not_allowed", _("You are not allowed to create this invitation."))
    key = secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        digest=_digest(key),
        made_by=user,
        email=email.strip(),
        role=role,
        knowledge_base=base,
        base_role=base_role,
        expires_at=timezone.now() + timedelta(days=days),
    )
    made.groups.set(groups)
    record(AuditEntry.Action.INVITED, made, what="added", **_audit_details(made))
    return made, key


def send(request: HttpRequest, invitation: Invitation, link: str) -> bool:
    """Mail the link if the invitation has an address and the site sends mail; return whether it was sent."""
    if not (settings.EMAIL_HOST and invitation.email):
        return False
    link = f"{link}?mailed={_mail_proof(invitation)}"
    context = {"invitation": invitation, "link": link, "base": invitation.knowledge_base, "site_name": config.SITE_NAME}
    return bool(get_adapter(request).send_mail("knowledge/email/invitation", invitation.email, context))


def address(request: HttpRequest, key: str) -> str:
    """Return the link for a key."""
    return absolute(request, reverse("invitation", args=[key]))


def invitations_to(base: KnowledgeBase) -> QuerySet[Invitation]:
    """Return the invitations to a knowledge base that can still be used, newest first."""
    open_ones = Invitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return open_ones.filter(knowledge_base=base).select_related("made_by", "knowledge_base")


def revoke(invitation: Invitation) -> bool:
    """Revoke an invitation; return whether it was open."""
    unused = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)
    closed = bool(unused.update(revoked_at=timezone.now()))
    if closed:
        record(AuditEntry.Action.INVITED, invitation, what="removed", **_audit_details(invitation))
    return closed


def find(key: str) -> Invitation:
    """Return the invitation with a key if it can be used; raises `InvitationRefused`."""
    return _usable(Invitation.objects.filter(digest=_digest(key)))


def used_by(key: str, user: Any) -> Invitation | None:
    """Return the invitation with a key if this person has used it."""
    found = Invitation.objects.filter(digest=_digest(key), used_by=user.pk)
    return found.select_related("knowledge_base").first()


def hold(request: HttpRequest, invitation: Invitation) -> None:
    """Remember a visitor's invitation in the session while they sign in or up through a provider."""
    request.session[_SESSION] = invitation.digest


def held(request: HttpRequest) -> Invitation | None:
    """Return the invitation in a visitor's session if it can be used."""
    digest = getattr(request, "session", {}).get(_SESSION)
    if not digest:
        return None
    try:
        return _usable(Invitation.objects.filter(digest=digest))
    except InvitationRefused:
        return None


def is_invited(request: HttpRequest, email: str = "") -> bool:
    """Return whether a visitor with this address from a provider may create an account with their invitation."""
    invitation = held(request)
    return invitation is not None and invitation.email.casefold() in ("", email.casefold())


def is_for(invitation: Invitation, user: User) -> bool:
    """Return whether an invitation is for this user."""
    if not invitation.email:
        return True
    addresses = EmailAddress.objects.filter(user=user, email__iexact=invitation.email)
    return user.email.casefold() == invitation.email.casefold() or addresses.exists()


@transaction.atomic
def accept(invitation: Invitation, user: User, *, is_new: bool = False, proof: str = "") -> None:
    """Grant a user the access of an invitation, once; raises `InvitationRefused`.

    A new account also gets the role, and its address is confirmed by the `proof` of the mailed link or if an
    administrator created the invitation. An existing role in the base is never lowered, and its owner gets none.
    """
    invitation = _usable(Invitation.objects.select_for_update(of=("self",)).filter(pk=invitation.pk))
    if not is_new and not is_for(invitation, user):
        message = _("This invitation is for {email}. Sign in with the account that has this address.")
        raise InvitationRefused("not_for_you", message.format(email=invitation.email))
    base = invitation.knowledge_base
    if base is not None and base.owner_id == user.pk:
        raise InvitationRefused("is_owner", _("You own this knowledge base. Send the link to someone else."))
    if is_new:
        explain(AuditEntry.Action.ACCOUNT, user, invited_by=invitation.made_by.get_username())
        if invitation.role != Role.MEMBER:
            assign(user, Role(invitation.role))
        vouched = invitation.made_by.is_superuser or constant_time_compare(proof, _mail_proof(invitation))
        # Addresses of accounts created in the admin may differ in case, which signing up doesn't check.
        if vouched and not User.objects.filter(email__iexact=user.email).exclude(pk=user.pk).exists():
            for address in EmailAddress.objects.filter(user=user, email__iexact=invitation.email):
                address.set_verified()
    user.groups.add(*invitation.groups.all())
    if base is not None:
        shared, _made = Membership.objects.get_or_create(
            knowledge_base=base, user=user, defaults={"role": invitation.base_role}
        )
        if invitation.base_role == Membership.Role.EDITOR and shared.role != invitation.base_role:
            shared.role = invitation.base_role
            shared.save(update_fields=["role"])
    Invitation.objects.filter(pk=invitation.pk).update(used_at=timezone.now(), used_by=user)
    record(AuditEntry.Action.INVITED, invitation, actor=user, what="used", **_audit_details(invitation))


def accept_held(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    """Use the invitation in the session for an account just created through a provider; receives `user_signed_up`.

    If only the invitation allowed signing up, and someone else has used it meanwhile, the account is deleted.
    """
    if kwargs.get("sociallogin") is None or not (digest := request.session.pop(_SESSION, None)):
        return
    try:
        invitation = _usable(Invitation.objects.filter(digest=digest))
        if invitation.email.casefold() in ("", user.email.casefold()):
            accept(invitation, user, is_new=True)
    except InvitationRefused as refusal:
        refresh()
        if not settings.OIDC_SIGN_UP and config.SIGN_UP != "open":
            user.delete()
            raise PermissionDenied(refusal.message) from None


def _usable(found: QuerySet[Invitation]) -> Invitation:
    invitation = found.select_related("made_by", "knowledge_base").first()
    if invitation is None:
        raise InvitationRefused("unknown", _("There is no such invitation. Check that you copied the whole link."))
    by = invitation.made_by.get_full_name() or invitation.made_by.get_username()
    messages = {
        Invitation.State.USED: _(
            "This invitation has already been used. Each works only once; ask {name} for another one."
        ),
        Invitation.State.REVOKED: _("This invitation was revoked. Ask {name} for a new one."),
        Invitation.State.EXPIRED: _("This invitation has expired. Ask {name} for a new one."),
    }
    if invitation.state in messages:
        raise InvitationRefused(invitation.state.value, messages[invitation.state].format(name=by))
    if not may_invite(invitation.made_by, invitation.knowledge_base):
        raise InvitationRefused(
            "withdrawn",
            _("This invitation no longer works: {name} is no longer allowed to invite people.").format(name=by),
        )
    return invitation


def _audit_details(invitation: Invitation) -> dict[str, Any]:
    """Return the details of an invitation for the audit log, in English, whatever the current language."""
    base = invitation.knowledge_base
    with override("en"):
        details: dict[str, Any] = {"name": str(invitation), "role": invitation.role}
    if base is not None:
        details |= {"knowledge_base": base.name, "base_role": invitation.base_role}
    return details


def _mail_proof(invitation: Invitation) -> str:
    return salted_hmac("knowledge.invitations.mailed", invitation.digest, algorithm="sha256").hexdigest()


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()

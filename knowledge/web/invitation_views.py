"""Views of invitations: creating and revoking them, and the page of a link."""

from typing import Any

from allauth.account.utils import complete_signup
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from knowledge import access, queries
from knowledge.invitations import invitations
from knowledge.models import Invitation, KnowledgeBase, Membership
from knowledge.web.views import base_context
from ragsite.accounts.forms import SignUpForm

_DAYS = [(1, gettext_lazy("for a day")), (7, gettext_lazy("for a week")), (30, gettext_lazy("for a month"))]


class InvitationForm(forms.Form):
    """An invitation to a knowledge base."""

    email = forms.EmailField(
        label=gettext_lazy("E-mail address (optional)"),
        required=False,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Membership.Role.choices)
    days = forms.TypedChoiceField(label=gettext_lazy("Valid"), choices=_DAYS, coerce=int, initial=invitations.DAYS)


class InvitedForm(SignUpForm):
    """The sign-up form of an invited person, with the invitation's address if it has one."""

    def __init__(self, invitation: Invitation, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.invitation = invitation
        self.fields["username"].widget.attrs |= {"autofocus": True, "autocapitalize": "none", "spellcheck": "false"}
        if invitation.email:
            self.fields["email"].initial, self.fields["email"].disabled = invitation.email, True
            self.fields["email"].label = _("E-mail address")

    def clean(self) -> dict[str, Any]:
        """Ask an invited person who has an account to sign in."""
        data: dict[str, Any] = super().clean()
        if self.account_already_exists and self.invitation.email:
            raise forms.ValidationError(
                _("There is already an account with this address. Sign in to accept the invitation.")
            )
        return data


@login_required
@require_http_methods(["GET", "POST"])
def invite_to_base(request: HttpRequest, pk: int) -> HttpResponse:
    """Create an invitation link to a base, which is shown only once, and mailed if the site sends mail."""
    base = access.get_owned_knowledge_base(request.user, pk)
    assert isinstance(request.user, User)
    context: dict[str, Any] = {"may_invite": invitations.may_invite(request.user, base)}
    form = InvitationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            made, key = invitations.invite(
                request.user, base=base, base_role=data["role"], email=data["email"], days=data["days"]
            )
        except invitations.InvitationRefused as refusal:
            form.add_error(None, refusal.message)
        else:
            link = invitations.address(request, key)
            context |= {"made": made, "link": link, "mailed": invitations.send(request, made, link)}
            form = InvitationForm()
    context |= base_context(request, base) | {"form": form, "invitations": invitations.invitations_to(base)}
    return render(request, "knowledge/invitations.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def revoke_invitation(request: HttpRequest, pk: int, invitation_id: int) -> HttpResponse:
    """Revoke an invitation link to a base."""
    base = access.get_owned_knowledge_base(request.user, pk)
    if invitations.revoke(queries.get_invitation(base, invitation_id)):
        messages.success(request, _("The link no longer works."))
    return redirect("knowledge-base-invitations", pk)


@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, key: str) -> HttpResponse:
    """Let a visitor with the link create an account, or accept the invitation with their own."""
    try:
        found = invitations.find(key)
        if request.method == "POST" and request.user.is_authenticated:
            invitations.accept(found, request.user)
            messages.success(request, _("Welcome to “{name}”.").format(name=found.knowledge_base or _("this site")))
            return _lead_to(found.knowledge_base)
        if not request.user.is_authenticated:
            return _newcomer(request, found)
    except invitations.InvitationRefused as refusal:
        # Someone who has used the link themselves is redirected to the base.
        mine = invitations.used_by(key, request.user) if request.user.is_authenticated else None
        if mine is not None:
            return _lead_to(mine.knowledge_base)
        status = {"unknown": 404, "not_for_you": 403, "is_owner": 409}.get(refusal.code, 410)
        refused = {"message": refusal.message}
        return _private(render(request, "knowledge/invitation_refused.html", refused, status=status))
    context = {"invitation": found, "base": found.knowledge_base, "is_for": invitations.is_for(found, request.user)}
    return _private(render(request, "knowledge/invitation.html", context))


def _newcomer(request: HttpRequest, found: Invitation) -> HttpResponse:
    """Let a new user choose a name and a password, or sign up through a provider."""
    form = InvitedForm(found, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            user, response = form.try_save(request)
            if user is not None:
                invitations.accept(found, user, is_new=True, proof=request.GET.get("mailed", ""))
        if user is None:  # the address has an account, which only a mail to it may reveal
            sent: HttpResponse = response
            return sent
        target = _lead_to(found.knowledge_base)["Location"]
        signed_in: HttpResponse = complete_signup(request, user, None, target)
        return signed_in
    invitations.hold(request, found)
    context = {"invitation": found, "base": found.knowledge_base, "form": form, "here": request.get_full_path()}
    return _private(render(request, "knowledge/invitation.html", context, status=422 if form.errors else 200))


def _lead_to(base: KnowledgeBase | None) -> HttpResponse:
    return redirect("knowledge-base", base.pk) if base is not None else redirect("chat")


def _private(response: HttpResponse) -> HttpResponse:
    """Keep the URL, which contains the key, from search engines; the site's referrer policy hides it from other sites.

    A policy of sending no referrer at all would make browsers send the form without an origin, which is refused.
    """
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response

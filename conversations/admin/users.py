"""Users in the admin. Deleting a user deletes their chats, and asks what to do with their knowledge bases."""

from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    AdminUserCreationForm,
    SetUnusablePasswordMixin,
    UserChangeForm,
)
from django.contrib.auth.models import Permission, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_POST

from knowledge import services
from knowledge.models import Document
from ragsite.accounts.roles import CURATE, ROLES_EXPLAINED, Role, assign, is_last_administrator, role_of
from ragsite.admin_base import column
from ragsite.requests import absolute

_EXPERT = ("is_staff", "is_superuser", "user_permissions")


class RoleForm(forms.Form):
    """The field for a user's role on the site."""

    role = forms.ChoiceField(
        label=gettext_lazy("Role"), choices=ROLES_EXPLAINED, widget=forms.RadioSelect, required=False
    )


class BasesForm(forms.Form):
    """What happens to the knowledge bases of deleted users."""

    DELETE, HAND_OVER = "delete", "hand_over"
    bases = forms.ChoiceField(
        label=gettext_lazy("Their knowledge bases"),
        choices=[
            (HAND_OVER, gettext_lazy("Transfer to another person")),
            (DELETE, gettext_lazy("Delete, with all their documents")),
        ],
        widget=forms.RadioSelect,
    )
    heir = forms.ModelChoiceField(label=gettext_lazy("New owner"), queryset=User.objects.none(), required=False)

    def __init__(self, user: User, actor: Any, *args: Any) -> None:
        super().__init__(*args)
        self.actor = actor
        others = User.objects.filter(is_active=True).exclude(pk=user.pk).order_by("username")
        self.fields["heir"].queryset = others  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Require a new owner if the bases are transferred, and permission for the chosen action."""
        data = super().clean() or self.cleaned_data
        chosen = data.get("bases")
        if chosen == self.HAND_OVER and data.get("heir") is None:
            self.add_error("heir", _("Choose a new owner for the knowledge bases."))
        needed = {self.HAND_OVER: "knowledge.change_knowledgebase", self.DELETE: "knowledge.delete_knowledgebase"}
        if chosen in needed and not self.actor.has_perm(needed[chosen]):
            self.add_error("bases", _("You may not do this with knowledge bases."))
        return data


class PersonForm(RoleForm, UserChangeForm[User]):
    """A user with their role on the site; the last administrator can't lose theirs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].initial = role_of(self.instance)

    def clean(self) -> dict[str, Any]:
        """Ensure that the site keeps an administrator."""
        data = super().clean() or self.cleaned_data
        stays = data.get("is_active", self.instance.is_active) and (
            data["role"] == Role.ADMINISTRATOR
            if "role" in self.changed_data and data.get("role")
            else data.get("is_superuser", self.instance.is_superuser)
        )
        if not stays and is_last_administrator(User.objects.get(pk=self.instance.pk)):
            raise ValidationError(_("This is the last administrator. Make someone else an administrator first."))
        return data


class NewPersonForm(RoleForm, AdminUserCreationForm[User]):
    """A new user, who sets their password with a link, or for whom an administrator sets one."""

    usable_password = forms.ChoiceField(
        label=gettext_lazy("Password"),
        choices=[
            ("false", gettext_lazy("They set it themselves, with a link that you send them")),
            ("true", gettext_lazy("Set one now")),
        ],
        initial="false",
        widget=forms.RadioSelect,
        help_text=gettext_lazy("The link is shown after saving; no mail is needed. It works once, within three days."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].initial = Role.MEMBER


class PasswordForm(AdminPasswordChangeForm):  # type: ignore[type-arg]
    """Django's form with translatable help: the original is assembled in English when the module is imported."""

    usable_password_help_text = lazy(format_html, SafeString)(
        # Django's script shows the element with this id while "disabled" is selected.
        '{}<ul id="id_unusable_warning" class="messagelist"><li class="warning">{}</li></ul>',
        SetUnusablePasswordMixin.usable_password_help_text,
        gettext_lazy("If disabled, the current password for this user will be lost."),
    )


admin.site.unregister(User)


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User]):
    """Admin for users, who are deleted one at a time because each deletion asks about their knowledge bases."""

    form = PersonForm
    add_form = NewPersonForm
    change_password_form = PasswordForm
    add_fieldsets = [
        (None, {"fields": ["username"]}),
        (gettext_lazy("Personal info"), {"fields": ["first_name", "last_name", "email"]}),
        (gettext_lazy("Permissions"), {"fields": ["role", "groups"]}),
        (gettext_lazy("Sign-in"), {"fields": ["usable_password", "password1", "password2"]}),
    ]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        (gettext_lazy("Personal info"), {"fields": ["first_name", "last_name", "email"]}),
        (gettext_lazy("Permissions"), {"fields": ["is_active", "role", "groups"]}),
        (gettext_lazy("Advanced"), {"classes": ["collapse"], "fields": [*_EXPERT]}),
        (gettext_lazy("Important dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    list_display = ["username", "email", "role", "groups_shown", "is_active", "last_login"]
    list_filter = ["is_active", "is_superuser", "is_staff", "groups"]

    groups_shown = column(gettext_lazy("groups"), lambda user: _(", ").join(group.name for group in user.groups.all()))

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Annotate whether a permission of their own makes a user a curator."""
        app, codename = CURATE.split(".")
        own = Permission.objects.filter(user=OuterRef("pk"), content_type__app_label=app, codename=codename)
        return super().get_queryset(request).annotate(curates=Exists(own)).prefetch_related("groups")

    @admin.display(description=gettext_lazy("Role"))
    def role(self, obj: Any) -> str:
        """Show the role of a user in the list."""
        if obj.is_superuser:
            return str(Role.ADMINISTRATOR.label)
        return str(Role.CURATOR.label if obj.curates else Role.MEMBER.label)

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Hide fields that the current user can't assign: the role, and the groups of a new user."""
        fieldsets = super().get_fieldsets(request, obj)
        if request.user.is_superuser:
            return fieldsets
        withheld = {"role"} if obj is not None else {"role", "groups"}
        return [
            (name, options | {"fields": fields})
            for name, options in fieldsets
            if (fields := [field for field in options["fields"] if field not in withheld])
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Let only administrators grant administrators' rights; dates are always read-only."""
        readonly = [*super().get_readonly_fields(request, obj), "last_login", "date_joined"]
        return readonly if request.user.is_superuser else [*readonly, *_EXPERT, "groups"]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Assign the selected role after the permissions were saved, since the role may set some."""
        super().save_related(request, form, formsets, change)
        if request.user.is_superuser and "role" in form.changed_data and form.cleaned_data["role"]:
            assign(form.instance, Role(form.cleaned_data["role"]))

    def response_add(self, request: HttpRequest, obj: User, post_url_continue: str | None = None) -> HttpResponse:
        """Redirect to the link to share if there is no password; Django's second page isn't needed."""
        if IS_POPUP_VAR in request.POST:
            return super().response_add(request, obj, post_url_continue)
        if not obj.has_usable_password():
            self.message_user(request, _("The user %(name)s was added.") % {"name": obj}, messages.SUCCESS)
            return self.password_link(request, str(obj.pk), added=True)
        return admin.ModelAdmin.response_add(self, request, obj, post_url_continue)

    def get_actions(self, request: HttpRequest) -> Any:
        """Remove the bulk deletion."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def get_urls(self) -> list[Any]:
        """Add the page with a link to set a new password."""
        view = self.admin_site.admin_view(require_POST(self.password_link))
        return [path("<path:object_id>/password-link/", view, name="auth_user_password_link"), *super().get_urls()]

    def password_link(self, request: HttpRequest, object_id: str, *, added: bool = False) -> HttpResponse:
        """Create a link for setting a new password, to share if the site can't send e-mail."""
        user = self.get_object(request, unquote(object_id))
        acts_for = user is not None and (request.user.is_superuser or not user.is_superuser)
        if user is None or not acts_for or not self.has_change_permission(request, user):
            raise PermissionDenied
        key = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
        link = absolute(request, reverse("account_reset_password_from_key", kwargs=key))
        self.log_change(request, user, gettext_noop("Made a link to set a new password."))
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "original": user,
            "link": link,
            "title": _("Link to set a new password"),
            "added": added,
        }
        return TemplateResponse(request, "admin/auth/user/password_link.html", context)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Ask what to do with the knowledge bases, then delete the user."""
        user = self.get_object(request, unquote(object_id))
        if user is not None and is_last_administrator(user):
            messages.error(request, _("This is the last administrator. Make someone else an administrator first."))
            return HttpResponseRedirect(reverse("admin:auth_user_change", args=[user.pk]))
        if (
            user is None
            or not self.has_delete_permission(request, user)
            or not user.knowledge_bases.filter(of_chat=False).exists()
        ):
            return super().delete_view(request, object_id, extra_context)
        form = self._form(request, user)
        if request.method == "POST" and not form.is_valid():
            for errors in form.errors.values():
                messages.error(request, str(errors[0]))
            return HttpResponseRedirect(request.get_full_path())
        return super().delete_view(request, object_id, {"form": form} | (extra_context or {}))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count related objects instead of listing them: a user's documents can have countless passages."""
        user = objs[0]
        documents = Document.objects.filter(knowledge_base__owner=user).count()
        chats, bases = user.chat_sessions.count(), user.knowledge_bases.filter(of_chat=False).count()
        counted = (
            (chats, ngettext("%(count)d chat", "%(count)d chats", chats)),
            (bases, ngettext("%(count)d knowledge base", "%(count)d knowledge bases", bases)),
            (documents, ngettext("%(count)d document", "%(count)d documents", documents)),
        )
        lines = [str(user), *(words % {"count": count} for count, words in counted if count)]
        lacking = chats and not request.user.has_perm("conversations.delete_chatsession")
        counts = {_("sessions"): chats, _("knowledge bases"): bases, _("documents"): documents}
        return lines, counts, {_("sessions")} if lacking else set(), []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Transfer the knowledge bases or delete them with their files; then delete the user and their data."""
        form = self._form(request, obj)
        heir = form.cleaned_data["heir"] if form.is_valid() and form.cleaned_data["bases"] == form.HAND_OVER else None
        with transaction.atomic():
            for base in list(obj.knowledge_bases.select_related("owner")):
                if heir is not None and not base.of_chat:
                    services.transfer_ownership(base, heir)
                else:
                    services.delete_knowledge_base(base)
            obj.delete()

    def _form(self, request: HttpRequest, user: User) -> BasesForm:
        return BasesForm(user, request.user, request.POST if request.method == "POST" else None)

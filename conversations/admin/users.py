"""Users in the admin: who leaves takes their chats along, and what becomes of their knowledge bases is asked."""

from typing import TYPE_CHECKING, Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from knowledge import services
from knowledge.models import Document
from ragsite.public_url import absolute

if TYPE_CHECKING:
    BaseUserAdmin = DjangoUserAdmin[User]
else:
    BaseUserAdmin = DjangoUserAdmin


class BasesForm(forms.Form):
    """What happens to the knowledge bases of deleted users."""

    DELETE, HAND_OVER = "delete", "hand_over"
    bases = forms.ChoiceField(
        label=gettext_lazy("Their knowledge bases"),
        choices=[
            (HAND_OVER, gettext_lazy("are handed over to another person")),
            (DELETE, gettext_lazy("are deleted, with all their documents")),
        ],
        widget=forms.RadioSelect,
    )
    heir = forms.ModelChoiceField(label=gettext_lazy("To whom"), queryset=User.objects.none(), required=False)

    def __init__(self, user: User, actor: Any, *args: Any) -> None:
        super().__init__(*args)
        self.actor = actor
        others = User.objects.filter(is_active=True).exclude(pk=user.pk).order_by("username")
        self.fields["heir"].queryset = others  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Ask for the other person, and for the permission to do what was chosen."""
        data = super().clean() or self.cleaned_data
        chosen = data.get("bases")
        if chosen == self.HAND_OVER and data.get("heir") is None:
            self.add_error("heir", _("Say to whom the knowledge bases are handed over."))
        needed = {self.HAND_OVER: "knowledge.change_knowledgebase", self.DELETE: "knowledge.delete_knowledgebase"}
        if chosen in needed and not self.actor.has_perm(needed[chosen]):
            self.add_error("bases", _("You may not do this with knowledge bases."))
        return data


admin.site.unregister(User)


@admin.register(User)
class UserAdmin(BaseUserAdmin):
    """Users are deleted one at a time, since of each it is asked what becomes of their knowledge bases."""

    def get_actions(self, request: HttpRequest) -> Any:
        """Leave out the deletion of many at once."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def get_urls(self) -> list[Any]:
        """Add the link to a new password."""
        view = self.admin_site.admin_view(require_POST(self.password_link))
        return [path("<path:object_id>/password-link/", view, name="auth_user_password_link"), *super().get_urls()]

    def password_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make a link by which the person sets a new password, to be passed on where no mail is sent."""
        user = self.get_object(request, unquote(object_id))
        acts_for = user is not None and (request.user.is_superuser or not user.is_superuser)
        if user is None or not acts_for or not self.has_change_permission(request, user):
            raise PermissionDenied
        key = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
        link = absolute(request, reverse("account_reset_password_from_key", kwargs=key))
        self.log_change(request, user, "Made a link to set a new password.")
        context = self.admin_site.each_context(request) | {"original": user, "link": link, "title": _("New password")}
        return TemplateResponse(request, "admin/auth/user/password_link.html", context)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Ask what becomes of the bases, then delete."""
        user = self.get_object(request, unquote(object_id))
        if user is None or not self.has_delete_permission(request, user) or not user.knowledge_bases.exists():
            return super().delete_view(request, object_id, extra_context)
        form = self._form(request, user)
        if request.method == "POST" and not form.is_valid():
            for errors in form.errors.values():
                messages.error(request, str(errors[0]))
            return HttpResponseRedirect(request.get_full_path())
        return super().delete_view(request, object_id, {"form": form} | (extra_context or {}))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count what goes along instead of listing it: a user's documents have passages without number."""
        user = objs[0]
        documents = Document.objects.filter(knowledge_base__owner=user).count()
        chats, bases = user.chat_sessions.count(), user.knowledge_bases.count()
        lines = [
            str(user),
            ngettext("%(count)d chat", "%(count)d chats", chats) % {"count": chats},
            ngettext("%(count)d knowledge base", "%(count)d knowledge bases", bases) % {"count": bases},
            ngettext("%(count)d document", "%(count)d documents", documents) % {"count": documents},
        ]
        lacking = chats and not request.user.has_perm("conversations.delete_chatsession")
        counts = {_("sessions"): chats, _("knowledge bases"): bases, _("documents"): documents}
        return lines, counts, {_("sessions")} if lacking else set(), []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Hand the bases over or delete them, files and all; then the user goes with what is theirs."""
        form = self._form(request, obj)
        heir = form.cleaned_data["heir"] if form.is_valid() and form.cleaned_data["bases"] == form.HAND_OVER else None
        with transaction.atomic():
            for base in list(obj.knowledge_bases.select_related("owner")):
                if heir is not None:
                    services.transfer_ownership(base, heir)
                else:
                    services.delete_knowledge_base(base)
            obj.delete()

    def _form(self, request: HttpRequest, user: User) -> BasesForm:
        return BasesForm(user, request.user, request.POST if request.method == "POST" else None)

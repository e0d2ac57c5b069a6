"""Knowledge bases and documents for administrators."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from knowledge import services
from knowledge.invitations import invitations
from knowledge.models import Chunk, Document, Invitation, KnowledgeBase, Membership, Picture
from ragsite.accounts.roles import ROLES_EXPLAINED
from ragsite.admin_base import ModelAdmin, ReadOnly, RecordAdmin, ValuesFilter, column, link_to


class IngestedAdmin(ReadOnly, ModelAdmin):
    """A read-only admin for objects created by ingestion."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: these objects are deleted with their document."""
        return False


class MembershipInline(admin.TabularInline[Membership, KnowledgeBase]):
    """The people and groups that a base is shared with."""

    model = Membership
    extra = 0
    autocomplete_fields = ["user", "group"]


def _counted(objs: Any, documents: QuerySet[Document]) -> tuple[list[str], dict[str, int], set[str], list[str]]:
    """Return what `get_deleted_objects` returns, with counts of the documents and passages that are deleted too."""
    passages = Chunk.objects.filter(document__in=documents).count()
    counts = {str(_("documents")): documents.count(), str(_("passages")): passages}
    return [str(each) for each in objs], counts, set(), []


@admin.register(KnowledgeBase)
class KnowledgeBaseAdmin(ModelAdmin):
    """Bases with the number of their documents."""

    list_display = ["name", "owner", "visibility", "document_count", "chunk_size", "created_at"]
    list_filter = ["visibility", "created_at"]
    search_fields = ["name", "description", "owner__username"]
    autocomplete_fields = ["owner"]
    list_select_related = ["owner"]
    inlines = [MembershipInline]

    document_count = column(_("documents"), lambda base: base.documents_here, ordering="documents_here")

    def get_queryset(self, request: HttpRequest) -> QuerySet[KnowledgeBase]:
        """Annotate the number of documents, and exclude the bases of files in chats."""
        bases: QuerySet[KnowledgeBase] = super().get_queryset(request).filter(of_chat=False)
        return bases.annotate(documents_here=Count("documents"))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count related objects; listing them would also check the permission to delete passages, which nobody has."""
        return _counted(objs, Document.objects.filter(knowledge_base__in=objs))

    def delete_model(self, request: HttpRequest, obj: KnowledgeBase) -> None:
        """Delete files and index rows too."""
        services.delete_knowledge_base(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[KnowledgeBase]) -> None:
        """Delete files and index rows too."""
        for base in queryset:
            services.delete_knowledge_base(base)


@admin.register(Document)
class DocumentAdmin(ModelAdmin):
    """Documents and the state of their ingestion, with actions to read them again and to cancel."""

    list_display = [
        "original_filename",
        "title",
        "knowledge_base",
        "status",
        "progress",
        "pages",
        "error_code",
        "created_at",
    ]
    list_filter = ["status", ("error_code", ValuesFilter), "media_type", ("language", ValuesFilter), "created_at"]
    search_fields = ["original_filename", "title", "folder", "knowledge_base__name", "sha256", "error"]
    list_select_related = ["knowledge_base"]
    date_hierarchy = "created_at"
    actions = ["reingest", "cancel"]
    readonly_fields = ["base_page", "download", "passages", "error_message", "notice"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: documents are added by uploading them."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Document | None = None) -> list[str]:
        """Make all fields read-only, since the workers manage the state."""
        return [*self.readonly_fields, *(field.name for field in Document._meta.fields)]

    def get_fields(self, request: HttpRequest, obj: Document | None = None) -> list[Any]:
        """Show the most important fields first."""
        first = [
            "original_filename",
            "folder",
            "title",
            "base_page",
            "status",
            "stage",
            "progress",
            "error_code",
            "error_message",
            "notice",
        ]
        hidden = {"id", "file", "error", "notices", "knowledge_base"}
        rest = [field.name for field in Document._meta.fields if field.name not in {*first, *hidden}]
        return [*first, "passages", "download", *rest]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Hide the save buttons, since nothing can be changed."""
        unsaved = {"show_save": False, "show_save_and_continue": False}
        return super().change_view(request, object_id, form_url, unsaved | (extra_context or {}))

    @admin.display(description=_("knowledge base"))
    def base_page(self, document: Document) -> str:
        """Link to the base; that of a chat has no page in the admin."""
        base = document.knowledge_base
        return str(base) if base.of_chat else link_to(base)

    @admin.display(description=_("passages"))
    def passages(self, document: Document) -> str:
        """Link to the document's chunks."""
        url = f"{reverse('admin:knowledge_chunk_changelist')}?document__id__exact={document.pk}"
        return format_html('<a href="{}">{}</a>', url, document.chunks.count())

    @admin.display(description=_("file"))
    def download(self, document: Document) -> str:
        """Link to the file, which only readers of the base may download."""
        if not document.file:
            return "–"
        return format_html('<a href="{}?download">{}</a>', reverse("document-file", args=[document.pk]), document)

    @admin.action(description=_("Read the selected documents again"), permissions=["change"])
    def reingest(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Queue the documents."""
        count = sum(services.reingest_document(document) for document in queryset)
        text = ngettext("{n} document was queued.", "{n} documents were queued.", count)
        messages.success(request, text.format(n=count))

    @admin.action(description=_("Cancel the ingestion of the selected documents"), permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Cancel ingestions that are waiting or running."""
        count = sum(services.cancel_document(document) for document in queryset)
        text = ngettext("{n} ingestion was cancelled.", "{n} ingestions were cancelled.", count)
        messages.success(request, text.format(n=count))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count related objects, as for knowledge bases."""
        return _counted(objs, Document.objects.filter(pk__in=[document.pk for document in objs]))

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        """Delete files and index rows too."""
        services.delete_document(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Delete files and index rows too."""
        services.delete_documents(queryset)


@admin.register(Chunk)
class ChunkAdmin(IngestedAdmin):
    """Passages, which can be looked up."""

    list_display = ["id", "document", "ordinal", "kind", "heading", "page_from", "token_count"]
    list_filter = ["kind"]
    search_fields = ["=document__original_filename", "=id"]
    list_select_related = ["document"]

    def page_name(self, obj: Chunk) -> str:
        """Return the file and the number of the passage in it."""
        return f"{obj.document} · {obj.ordinal}"


@admin.register(Picture)
class PictureAdmin(IngestedAdmin):
    """Pictures extracted from documents."""

    list_display = ["id", "document", "page", "alt", "width", "height"]
    search_fields = ["=document__original_filename", "alt"]
    list_select_related = ["document"]
    exclude = ["file"]


@admin.register(Membership)
class MembershipAdmin(ModelAdmin):
    """The people and groups that bases are shared with."""

    list_display = ["knowledge_base", "user", "group", "role", "created_at"]
    list_filter = ["role"]
    search_fields = ["knowledge_base__name", "user__username", "group__name"]
    autocomplete_fields = ["knowledge_base", "user", "group"]
    list_select_related = ["knowledge_base", "user", "group"]


_RECORDED = ["made_by", "created_at", "expires_at", "revoked_at", "used_at", "used_by"]


class InvitationForm(forms.ModelForm[Invitation]):
    """The form of an invitation link and the access that it grants."""

    days = forms.IntegerField(
        label=_("Valid for (days)"), min_value=1, max_value=invitations.MOST_DAYS, initial=invitations.DAYS
    )

    class Meta:
        """Everything that an administrator may grant."""

        model = Invitation
        fields = ["email", "role", "groups", "knowledge_base", "base_role"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "role" in self.fields:  # it is missing from the page of an existing invitation
            self.fields["role"].choices = ROLES_EXPLAINED  # type: ignore[attr-defined]


@admin.register(Invitation)
class InvitationAdmin(RecordAdmin):
    """Invitations to the site and to bases; administrators create them, and revoke open ones."""

    # A link that was sent can't be changed. Revoked ones stay listed until their base or their creator is deleted.
    form = InvitationForm
    list_display = ["__str__", "state_shown", "role", "groups_shown", "made_by", "used_by", "expires_at"]
    list_filter = ["role", "created_at", "used_at"]
    list_select_related = ["made_by", "used_by", "knowledge_base"]
    search_fields = ["email", "made_by__username", "used_by__username", "knowledge_base__name"]
    autocomplete_fields = ["knowledge_base"]
    filter_horizontal = ["groups"]
    actions = ["revoke_links"]

    state_shown = column(_("State"), lambda invitation: str(invitation.state.label))
    groups_shown = column(_("groups"), lambda invitation: ", ".join(group.name for group in invitation.groups.all()))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        """Prefetch the groups for the list."""
        return super().get_queryset(request).prefetch_related("groups")

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> Any:
        """Show the state of an existing invitation."""
        return [*InvitationForm.Meta.fields, "days"] if obj is None else [*InvitationForm.Meta.fields, *_RECORDED]

    def get_readonly_fields(self, request: HttpRequest, obj: Invitation | None = None) -> Any:
        """Make all fields of an existing invitation read-only."""
        return [] if obj is None else [*InvitationForm.Meta.fields, *_RECORDED]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow only administrators; owners invite people on the pages of their bases."""
        return bool(request.user.is_active and request.user.is_superuser)

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        """Create the invitation, and keep its link for the page that shows it."""
        assert isinstance(request.user, User)
        data = form.cleaned_data
        invitation, key = invitations.invite(
            request.user,
            base=data["knowledge_base"],
            base_role=data["base_role"],
            email=data["email"],
            role=data["role"],
            groups=data["groups"],
            days=data["days"],
        )
        for field in Invitation._meta.concrete_fields:
            setattr(obj, field.attname, getattr(invitation, field.attname))
        shown: Any = obj
        shown.link = invitations.address(request, key)
        shown.mailed = invitations.send(request, invitation, shown.link)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Do nothing: the groups were saved with the invitation."""

    def response_add(self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None) -> HttpResponse:
        """Show the link, which can't be shown again."""
        same = {
            "role": obj.role,
            "groups": ",".join(request.POST.getlist("groups")),
            "knowledge_base": obj.knowledge_base_id or "",
            "base_role": obj.base_role,
            "days": request.POST["days"],
        }
        context = self.admin_site.each_context(request) | {
            "original": obj,
            "title": _("Invitation"),
            "another": f"{reverse('admin:knowledge_invitation_add')}?{urlencode(same)}",
        }
        return TemplateResponse(request, "admin/knowledge/invitation/link.html", context)

    @admin.action(description=_("Revoke"), permissions=["add"])
    def revoke_links(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        """Revoke the selected links."""
        count = sum(invitations.revoke(invitation) for invitation in queryset)
        message = ngettext("%(count)d invitation was revoked.", "%(count)d invitations were revoked.", count)
        messages.success(request, message % {"count": count})

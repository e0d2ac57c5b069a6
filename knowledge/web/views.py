"""Views of knowledge bases: the list, a base with its documents, its settings and members."""

from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import Group, User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from knowledge import access, explanations, queries, services
from knowledge.ingestion import ingestion
from knowledge.invitations import invitations
from knowledge.labels import LabelError, tags_in
from knowledge.many import bulk, intake
from knowledge.many.table import KINDS, Totals, View
from knowledge.models import BulkJob, Document, KnowledgeBase
from knowledge.parsing import registry
from knowledge.web import files
from knowledge.web.forms import GroupForm, KnowledgeBaseForm, MemberForm, NewKnowledgeBaseForm
from ragsite.exceptions import Refused
from ragsite.language.sentences import join_sentences
from ragsite.requests import ids, is_htmx

PER_PAGE = 50
_REFUSALS_SHOWN = 10
_STATES = {
    "failed": gettext_lazy("Failed"),
    "working": gettext_lazy("In progress"),
    "cancelled": gettext_lazy("Cancelled"),
    "ready": gettext_lazy("Ready"),
}
# The columns of the table: label, order ("" for none) and CSS class.
_COLUMNS = [
    (gettext_lazy("Name"), "name", ""),
    (gettext_lazy("State"), "state", "state-column"),
    (gettext_lazy("Pages"), "pages", "number"),
    (gettext_lazy("Passages"), "", "number"),
    (gettext_lazy("Added"), "added", ""),
]
# The bulk actions of the page, with the message about the result.
_BULK: dict[str, Promise] = {
    BulkJob.Action.RETRY: gettext_lazy("Documents to be read again: {count} of {total}."),
    BulkJob.Action.REINGEST: gettext_lazy("Documents to be read again: {count} of {total}."),
    BulkJob.Action.DELETE: gettext_lazy("Documents deleted: {count} of {total}."),
    BulkJob.Action.MOVE: gettext_lazy("Documents moved: {count} of {total}."),
    BulkJob.Action.TAG: gettext_lazy("Documents tagged: {count} of {total}."),
    BulkJob.Action.UNTAG: gettext_lazy("Documents with tags removed: {count} of {total}."),
    BulkJob.Action.DESCRIBE: gettext_lazy("Documents changed: {count} of {total}."),
}


@login_required
@require_http_methods(["GET", "POST"])
def knowledge(request: HttpRequest) -> HttpResponse:
    """Show the readable bases as cards; POST creates a new one.

    With a question as `answers`, only the bases to which the user may add a document that answers it.
    """
    form = NewKnowledgeBaseForm(request.POST or None, initial={"visibility": KnowledgeBase.Visibility.PRIVATE})
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_knowledge_base(request.user, **form.cleaned_data)
        except Refused as refusal:
            form.add_error("name", refusal.message)
        else:
            return redirect("knowledge-base", made.pk)
    bases: list[Any] = list(queries.knowledge_bases(request.user))
    if answers := request.GET.get("answers", "").strip():
        bases = [base for base in bases if base.role != "viewer"]
    mine = [base for base in bases if base.owner_id == request.user.pk]
    shared = [base for base in bases if base.owner_id != request.user.pk and base.is_at_hand]
    others = [base for base in bases if base.owner_id != request.user.pk and not base.is_at_hand]
    context = {"mine": mine, "shared": shared, "others": others, "form": form, "answers": answers}
    return render(request, "knowledge/list.html", context, status=422 if form.errors else 200)


@login_required
@require_GET
def knowledge_base(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a base's documents; for htmx only the table, filtered or paged, or the notice above it."""
    base = access.get_knowledge_base(request.user, pk)
    ingestion.requeue_stalled()
    view, totals = View.read(request.GET.dict()), Totals.of(base)
    # The page's documents are fetched by id, so that only their passages are counted.
    numbers = view.order(view.narrow(base.documents.all())).values_list("pk", flat=True)
    paginator = Paginator(numbers, PER_PAGE)
    if not view.is_narrowed:
        paginator.count = totals.documents  # already counted
    page = paginator.get_page(request.GET.get("page"))
    shown = queries.with_chunk_count(Document.objects.filter(pk__in=page.object_list))
    page.object_list = list(view.order(shown))  # type: ignore[arg-type]
    context = base_context(request, base) | {
        "page": page,
        "words": view.words,
        "view": view,
        "totals": totals,
        "states": [(state, _STATES[state], count) for state, count in totals.states.items() if count],
        "kinds_here": [(kind, KINDS[kind][0], count) for kind, count in totals.kinds.items()],
        "tags": sorted(totals.tags.items(), key=lambda item: (-item[1], item[0])),
        "crumbs": [*accumulate(view.folder.split("/"), "{}/{}".format)] if view.folder else [],
        "folders": totals.within(view.folder),
        "columns": _COLUMNS,
        "targets": access.editable(request.user).exclude(pk=base.pk).order_by("name"),
        "job": base.bulk_jobs.filter(user_id=access.key(request.user), status__in=BulkJob.UNFINISHED).first(),
        "kinds": registry.kinds(),
        "extensions": registry.extensions(),
        "upload_rules": files.upload_rules() | {"title": explanations.TITLES["unsupported"]},
    }
    if context["can_edit"] and (left := services.room(base.owner_id)) is not None:
        full_title = explanations.TITLES["storage_full"]
        context["upload_rules"] |= {"room": left.size, "full": left.message, "full_title": full_title}
    target = request.htmx.target or "" if request.htmx else ""  # type: ignore[attr-defined]
    partial = {"documents": "#table", "language-notice": "#notice"}.get(target, "")
    return render(request, f"knowledge/knowledge_base.html{partial}", context)


@login_required
@require_POST
def bulk_documents(request: HttpRequest, pk: int) -> HttpResponse:
    """Run a bulk action on the selected documents, or with `all` on those that match the filters in the URL."""
    base = access.get_editable_knowledge_base(request.user, pk)
    view = View.read(request.GET.dict())
    wanted = base.documents.all()
    if "all" in request.POST:
        wanted = view.narrow(wanted)
    else:
        wanted = wanted.filter(pk__in=ids(request.POST.getlist("document")[:PER_PAGE]))
    chosen = list(wanted.order_by().values_list("pk", flat=True))
    action, target = request.POST.get("action", ""), request.POST.get("target", "")
    if action not in _BULK:
        return HttpResponseBadRequest()
    back = f"{reverse('knowledge-base', args=[base.pk])}?{urlencode(view.fields)}"
    if not chosen:
        messages.error(request, _("No documents are selected."))
        return redirect(back)
    if action == BulkJob.Action.DELETE and "confirmed" not in request.POST:
        return _confirm_bulk(request, chosen, "all" in request.POST, back)
    other = access.get_editable_knowledge_base(request.user, int(target)) if target.isdecimal() else None
    try:
        tags = tags_in(request.POST.get("tags", ""))
        job = bulk.start(request.user, base, action, chosen, target=other, tags=tags)
    except (Refused, LabelError) as refusal:
        messages.error(request, str(refusal))
    else:
        if job.status not in BulkJob.UNFINISHED:
            messages.info(request, join_sentences(_outcome(job), *_reasons(job)))
    return redirect(back)


@login_required
@require_GET
def bulk_job(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the progress of a bulk job; once it has ended, the page is reloaded."""
    job = access.get_bulk_job(request.user, pk)
    if job.status in BulkJob.UNFINISHED:
        return render(request, "knowledge/bulk_job.html", {"job": job})
    messages.info(request, join_sentences(_outcome(job), *_reasons(job), bulk.error_of(job)))
    return HttpResponse(headers={"HX-Refresh": "true"})


def _confirm_bulk(request: HttpRequest, chosen: list[int], everything: bool, back: str) -> HttpResponse:
    count = len(chosen)
    title = ngettext("Delete {count} document?", "Delete {count} documents?", count).format(count=f"{count:,}")
    context = {
        "title": title,
        "consequence": _(
            "Their passages will no longer be found, and attachments are deleted with their mails. Earlier answers "
            "keep their quotations. This can't be undone."
        ),
        "action": request.get_full_path(),
        "back": back,
        "fields": [("action", "delete"), ("confirmed", "1")]
        + ([("all", "1")] if everything else [("document", pk) for pk in chosen]),
    }
    return render(request, "knowledge/confirm.html", context)


def _outcome(job: BulkJob) -> str:
    """Return a message about the result of a job."""
    return str(_BULK[job.action]).format(count=f"{job.changed:,}", total=f"{job.total:,}")


def _reasons(job: BulkJob) -> list[str]:
    """Return messages about documents that were left unchanged or need attention, with the first names."""
    lines = []
    for code, entry in job.told.items():
        names = _(", ").join(entry["names"]) + ("…" if entry["count"] > len(entry["names"]) else "")
        count = entry["count"]
        lines.append(str(bulk.REASONS[code] % {"number": count, "count": f"{count:,}", "names": names}))
    return lines


@login_required
@require_POST
def upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Add files, whose path is `folder`.

    The page's script sends one file at a time and gets its row; without scripts this is a plain form.
    """
    base = access.get_editable_knowledge_base(request.user, pk)
    rows: list[dict[str, Any]] = []
    code = 200
    for file in request.FILES.getlist("file"):
        try:
            added = services.add_document(base, request.user, file.name or "", file, request.POST.get("folder", ""))
        except services.UploadRefused as refusal:
            code = {"too_large": 413, "storage_full": 413, "disk_full": 507}.get(refusal.code, 415)
            reason = explanations.TITLES.get(refusal.code, "") or refusal.message
            name = services.clean_filename(file.name or "")
            rows.append({"refused": refusal.message, "reason": reason, "filename": name})
        else:
            rows.append({"document": added.document, "already_here": added.already_here})
    if not is_htmx(request):
        _add_upload_messages(request, rows)
        return redirect("knowledge-base", base.pk)
    context = {"rows": rows, "can_edit": True, "columns": 6}
    status = code if rows and all("refused" in row for row in rows) else 200
    return render(request, "knowledge/uploaded.html", context, status=status)


def _add_upload_messages(request: HttpRequest, rows: list[dict[str, Any]]) -> None:
    """Add messages about the uploaded files for the next page."""
    refused = [row["refused"] for row in rows if "refused" in row]
    there = [row["document"].original_filename for row in rows if row.get("already_here")]
    if len(rows) == 1:
        for name in there:
            messages.info(request, _("“{name}” is already here.").format(name=name))
    elif rows:
        added = len(rows) - len(refused) - len(there)
        said = [(_("Added: {n}"), added), (_("Already here: {n}"), len(there)), (_("Not added: {n}"), len(refused))]
        messages.info(request, " · ".join(text.format(n=f"{count:,}") for text, count in said if count))
    if refused:
        rest = f" (+{len(refused) - _REFUSALS_SHOWN})" if len(refused) > _REFUSALS_SHOWN else ""
        messages.error(request, join_sentences(*refused[:_REFUSALS_SHOWN]) + rest)


@login_required
@require_POST
def upload_summary(request: HttpRequest, pk: int) -> HttpResponse:
    """Return as JSON the progress of an upload's documents, and which failed and why (see `intake.summary`)."""
    base = access.get_editable_knowledge_base(request.user, pk)
    return JsonResponse(intake.summary(base, ids(request.POST.get("documents", "").split(",")[: intake.MOST])))


@login_required
@require_http_methods(["GET", "POST"])
def knowledge_base_settings(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a base's settings."""
    base = access.get_owned_knowledge_base(request.user, pk)
    name = base.name
    form = KnowledgeBaseForm(request.POST or None, instance=base)
    if request.method == "POST" and form.is_valid():
        try:
            services.update_knowledge_base(base, **form.cleaned_data)
        except Refused as refusal:
            form.add_error("name", refusal.message)
        else:
            messages.success(request, _("Saved."))
            return redirect("knowledge-base-settings", base.pk)
    context = base_context(request, base) | {"form": form, "heading": name}
    return render(request, "knowledge/settings.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def members(request: HttpRequest, pk: int) -> HttpResponse:
    """Share a base with people and groups, or change their role."""
    base = access.get_owned_knowledge_base(request.user, pk)
    to_group = "group" in request.POST
    form = MemberForm(None if to_group else request.POST or None)
    group_form = GroupForm(request.POST if to_group else None, auto_id="group_%s")
    sent = group_form if to_group else form
    if request.method == "POST" and sent.is_valid():
        name, role = sent.cleaned_data["group" if to_group else "username"], sent.cleaned_data["role"]
        try:
            if to_group:
                services.set_group(base, name.name, role)
            else:
                services.set_member(base, name, role)
        except Refused as refusal:
            sent.add_error("group" if to_group else "username", refusal.message)
        else:
            return redirect("knowledge-base-members", base.pk)
    context = base_context(request, base) | {"form": form, "members": queries.members(base)}
    context["group_form"] = group_form if Group.objects.exists() else None
    assert isinstance(request.user, User)
    context["may_invite"] = invitations.may_invite(request.user, base)
    return render(request, "knowledge/members.html", context, status=422 if sent.errors else 200)


@login_required
@require_POST
def remove_member(request: HttpRequest, pk: int, user_id: int) -> HttpResponse:
    """Stop sharing with someone."""
    services.remove_member(access.get_owned_knowledge_base(request.user, pk), user_id)
    return redirect("knowledge-base-members", pk)


@login_required
@require_POST
def remove_group(request: HttpRequest, pk: int, group_id: int) -> HttpResponse:
    """Stop sharing with a group."""
    services.remove_group(access.get_owned_knowledge_base(request.user, pk), group_id)
    return redirect("knowledge-base-members", pk)


@login_required
@require_http_methods(["GET", "POST"])
def delete_knowledge_base(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a base with all its documents after a confirmation."""
    base = access.get_owned_knowledge_base(request.user, pk)
    if request.method == "POST":
        services.delete_knowledge_base(base)
        messages.success(request, _("“{name}” was deleted.").format(name=base.name))
        return redirect("knowledge")
    count = base.documents.count()
    consequence = ngettext(
        "Its {count} document is deleted too. Earlier answers keep their quotations. This can't be undone.",
        "Its {count} documents are deleted too. Earlier answers keep their quotations. This can't be undone.",
        count,
    ).format(count=count)
    if not count:
        consequence = _("It contains no documents. This can't be undone.")
    back = reverse("knowledge-base", args=[base.pk])
    return confirm(request, base.name, consequence, back)


def confirm(request: HttpRequest, name: str, consequence: str, back: str, row: str = "") -> HttpResponse:
    """Ask for a confirmation in a dialog, or on a page without scripts; `row` is the element that htmx then removes."""
    context = {
        "title": _("Delete “{name}”?").format(name=name),
        "consequence": consequence,
        "action": request.path,
        "row": row,
        "back": back,
    }
    return render(request, f"knowledge/confirm.html{'#dialog' if is_htmx(request) else ''}", context)


def base_context(request: HttpRequest, base: KnowledgeBase) -> dict[str, Any]:
    """Return the template context common to the pages of a base."""
    role = queries.role_of(request.user, base)
    return {"base": base, "role": role, "can_edit": role != "viewer", "is_owner": role in ("owner", "curator")}

"""Views of a document: its row during ingestion, its text, its file, its pages and pictures."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from knowledge import access, queries, services
from knowledge.highlights import Marks, ids_in
from knowledge.ingestion import ingestion
from knowledge.labels import LabelError, kind_of, read_value, tags_in
from knowledge.models import Document
from knowledge.web import files
from knowledge.web.views import confirm
from ragsite.requests import is_htmx, number_in

_FIELD_KINDS = [
    ("text", gettext_lazy("Text")),
    ("number", gettext_lazy("Number")),
    ("date", gettext_lazy("Date")),
    ("boolean", gettext_lazy("True or false")),
]


@login_required
@require_GET
def row(request: HttpRequest, pk: int) -> HttpResponse:
    """Return a document's current row; rows of unfinished documents poll this view."""
    document = access.get_document(request.user, pk)
    if queries.seconds_silent(document) is not None:
        ingestion.requeue_stalled()
    return _row(request, document)


@login_required
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Read a document again."""
    document = access.get_editable_document(request.user, pk)
    services.reingest_document(document)
    return _row(request, document)


@login_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel an ingestion."""
    document = access.get_editable_document(request.user, pk)
    services.cancel_document(document)
    return _row(request, document)


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a document after a confirmation; htmx removes its row."""
    document = access.get_editable_document(request.user, pk)
    base = queries.place_of(document)
    attached = Document.objects.filter(carried_by__mail=document, is_attachment=True).distinct().count()
    if request.method == "POST":
        services.delete_document(document)
        if is_htmx(request):
            # The rows of its attachments disappear too.
            return HttpResponse(headers={"HX-Refresh": "true"} if attached else {})
        messages.success(request, _("“{name}” was deleted.").format(name=document.original_filename))
        return redirect(base)
    consequence = _(
        "Its passages will no longer be found. Earlier answers keep their quotations. This can't be undone."
    )
    if attached:
        goes = ngettext(
            "Its {count} attachment is deleted too, unless it is attached to another mail.",
            "Its {count} attachments are deleted too, unless they are attached to other mails.",
            attached,
        )
        consequence = f"{goes.format(count=attached)} {consequence}"
    return confirm(request, document.original_filename, consequence, base, row=f"#document-{document.pk}")


@login_required
@require_GET
def document(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a document's text.

    `?chunk=` highlights a passage (see `highlights`), `?from=` pages through a long document, and `?find=` searches it.
    """
    shown = access.get_document(request.user, pk)
    chunk_id = number_in(request, "chunk")
    window = queries.document_window(shown, number_in(request, "from") or 0, chunk_id)
    marks = Marks.read(chunk_id or 0, request.GET)
    cited = [chunk for chunk in window.chunks if chunk.pk in marks.chunk_ids]
    first = marks.lead(cited) or next(iter(window.chunks), None)
    page = number_in(request, "page") or (first.page_from if first else None)
    context = {
        "document": shown,
        "base": shown.knowledge_base,
        "can_edit": queries.role_of(request.user, shown.knowledge_base) != "viewer",
        "fields": [
            (name, kind_of(value), str(value).lower() if isinstance(value, bool) else str(value))
            for name, value in sorted(shown.metadata.items())
        ],
        "field_kinds": _FIELD_KINDS,
        "attachments": shown.attachments.select_related("document"),
        "window": window,
        "cited": cited,
        "marks": marks,
        "outline": queries.outline(shown),
        "find": (find := request.GET.get("find", "").replace("\0", "").strip()[:200]),
        "found": queries.find_in_document(shown, find),
        "viewer": queries.page_viewer(shown, page, cited, marks),
    }
    partial = "#viewer" if request.htmx and request.htmx.target == "page-viewer" else ""  # type: ignore[attr-defined]
    return render(request, f"knowledge/document.html{partial}", context)


@login_required
@require_POST
def labels(request: HttpRequest, pk: int) -> HttpResponse:
    """Store a document's tags and fields."""
    shown = access.get_editable_document(request.user, pk)
    given = zip(*(request.POST.getlist(name) for name in ("field", "kind", "value")), strict=False)
    try:
        fields = [(name.strip(), kind, value) for name, kind, value in given if name.strip() or value.strip()]
        if len({name for name, _kind, _value in fields}) < len(fields):
            raise LabelError(_("A field's name is given twice."))
        metadata = {name: read_value(name, value, kind) for name, kind, value in fields}
        services.label(shown, tags_in(request.POST.get("tags", "")), metadata)
    except LabelError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Saved."))
    return redirect("document", pk)


@login_required
@require_GET
def document_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the panel above an unfinished document; once it has finished, the page is reloaded."""
    shown = access.get_document(request.user, pk)
    response = render(request, "knowledge/document.html#state", {"document": shown})
    if shown.status not in Document.UNFINISHED:
        response.headers["HX-Refresh"] = "true"
    return response


@login_required
@require_GET
def passage(request: HttpRequest, pk: int) -> HttpResponse:
    """Return a passage with its neighbours for the chat's drawer."""
    panel = queries.passage_panel(request.user, Marks.read(pk, request.GET))
    return render(request, "knowledge/passage.html", {"panel": panel, "marks": panel.marks})


@login_required
@require_GET
def file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Return the uploaded file; with `?download` always as an attachment."""
    return files.document_response(request, access.get_document(request.user, pk), "download" in request.GET)


@login_required
@require_GET
def page_image(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Return a page of a PDF as a picture; `?highlight=` highlights chunks on it."""
    from knowledge.web import page_images  # imported late: it loads the rendering libraries

    shown = access.get_document(request.user, pk)
    if not queries.page_url(shown, number):
        raise Http404(_("There is no such page."))
    chunks = shown.chunks.filter(pk__in=ids_in(request.GET.get("highlight", "")))
    return files.image_response(page_images.page_image(shown, number, chunks), page_images.MEDIA_TYPE)


@login_required
@require_GET
def page_layer(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """Return the layer over a page of a PDF as JSON (see `page_images.layer`), with highlights as in `document`."""
    from knowledge.web import page_images

    shown = access.get_document(request.user, pk)
    if not queries.page_url(shown, number):
        raise Http404(_("There is no such page."))
    marks = Marks.read(number_in(request, "chunk") or 0, request.GET)
    return files.cached(JsonResponse(page_images.layer(shown, number, marks)))


@login_required
@require_GET
def picture(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Return a picture from a document."""
    return files.picture_response(request, access.get_picture(request.user, pk))


def _row(request: HttpRequest, document: Document) -> HttpResponse:
    """Return the document's row, or without htmx redirect to its base's page.

    When its ingestion has ended, an event makes the page update the parts that depend on it.
    """
    if not is_htmx(request):
        return redirect(queries.place_of(document))
    shown = queries.with_chunk_count(Document.objects.filter(pk=document.pk)).first()
    if shown is None:
        return HttpResponse()
    can_edit = access.may_edit(request.user, shown)
    response = render(request, "knowledge/row.html", {"document": shown, "can_edit": can_edit})
    if shown.status not in Document.UNFINISHED:
        response["HX-Trigger"] = "document-read"
    return response

"""The playground page."""

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from knowledge import access
from ragsite.site_settings.config import refresh
from retrieval.evaluation.access import alterable_sets
from retrieval.web.forms import QueryForm, SideForm
from retrieval.web.playground import Side, compare, run

# The settings that a page is opened with: a contrast worth seeing.
_BEGIN = {"a": "hybrid", "b": "fulltext"}


@login_required
@require_GET
def playground(request: HttpRequest) -> HttpResponse:
    """Run one query under two settings; all of it is in the address, so that it can be shared."""
    bases = list(access.readable(request.user).order_by("name", "pk"))
    form = QueryForm(request.GET, bases)
    refresh()
    sides = []
    for key, mode in _BEGIN.items():  # with the settings from the address, or as the page begins
        named = any(name.startswith(f"{key}-") for name in request.GET)
        sides.append(Side(key, SideForm(request.GET if named else {f"{key}-mode": mode}, prefix=key)))
    valid = form.is_valid()
    query, chosen = form.cleaned_data.get("q", ""), form.cleaned_data.get("base", [])
    evaluation_set = alterable_sets(request.user).filter(pk=form.cleaned_data.get("set") or 0).first()
    if evaluation_set is not None:
        chosen = [evaluation_set.knowledge_base_id]
    agreement = None
    if valid and query and bases:
        knowledge_base_ids = chosen or [base.pk for base in bases]
        for side in sides:  # one after the other, so that neither slows the other down
            if side.form.is_valid():
                async_to_sync(run)(side, query, knowledge_base_ids)
        agreement = compare(query, sides)
    context = {
        "bases": bases,
        "chosen": chosen,
        "form": form,
        "sides": sides,
        "query": query,
        "agreement": agreement,
        "searched": any(side.result for side in sides),
        "evaluation_set": evaluation_set,
        "max_query": settings.MAX_QUESTION_CHARACTERS,
    }
    partial = "#results" if request.htmx and request.htmx.target == "results" else ""  # type: ignore[attr-defined]
    response = render(request, f"retrieval/playground.html{partial}", context)
    if partial:
        address = request.GET.copy()
        for name, values in request.GET.lists():  # without the fields left empty
            address.setlist(name, [value for value in values if value])
        response.headers["HX-Push-Url"] = f"{request.path}?{address.urlencode()}"
    return response

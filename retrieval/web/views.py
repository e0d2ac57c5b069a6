"""The playground page."""

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from knowledge import access
from ragsite.site_settings.config import refresh
from retrieval.evaluation.access import alterable_sets
from retrieval.evaluation.answering import answerer
from retrieval.types import mode_in_force
from retrieval.web.forms import QueryForm, SideForm
from retrieval.web.playground import Side, ask, compare, run


@login_required
@require_http_methods(["GET", "POST"])
def playground(request: HttpRequest) -> HttpResponse:
    """Run one query with two sets of options; everything is in the URL, so that it can be shared.

    Assistants are asked only with the button (`ask` by POST), since a model's answers cost money.
    """
    given = request.POST or request.GET
    assistants = answerer().offered(request.user)
    bases = list(access.readable(request.user).order_by("name", "pk"))
    form = QueryForm(given, bases)
    refresh()
    sides = []
    usual = mode_in_force()
    beginning = {"a": usual, "b": "hybrid" if usual == "fulltext" else "fulltext"}  # for contrast
    for key, mode in beginning.items():  # options from the URL, or the initial ones
        named = any(name.startswith(f"{key}-") for name in given)
        data = given if named else {f"{key}-mode": mode}
        sides.append(Side(key, SideForm(data, prefix=key, assistants=assistants)))
    valid = form.is_valid()
    query, chosen = form.cleaned_data.get("q", ""), form.cleaned_data.get("base", [])
    evaluation_set = alterable_sets(request.user).filter(pk=form.cleaned_data.get("set") or 0).first()
    if evaluation_set is not None:
        chosen = [evaluation_set.knowledge_base_id]
    agreement = None
    if valid and query and bases:
        knowledge_base_ids = chosen or [base.pk for base in bases]
        for side in sides:  # one after the other, so that they don't slow each other down
            if not side.form.is_valid():
                continue
            if side.form.by is None:
                async_to_sync(run)(side, query, knowledge_base_ids)
            elif "ask" in request.POST:
                async_to_sync(ask)(side, side.form.by, request.user, query, knowledge_base_ids)
            else:
                side.waits = True
        agreement = compare(query, sides)
    context = {
        "bases": bases,
        "chosen": chosen,
        "form": form,
        "sides": sides,
        "query": query,
        "agreement": agreement,
        "assistants": assistants,
        "searched": any(side.result for side in sides),
        "evaluation_set": evaluation_set,
        "max_query": settings.MAX_QUESTION_CHARACTERS,
    }
    partial = "#results" if request.htmx and request.htmx.target == "results" else ""  # type: ignore[attr-defined]
    response = render(request, f"retrieval/playground.html{partial}", context)
    if partial:
        address = given.copy()
        for name in ("csrfmiddlewaretoken", "ask"):
            address.pop(name, None)
        for name, values in list(address.lists()):  # without the fields left empty
            address.setlist(name, [value for value in values if value])
        response.headers["HX-Push-Url"] = f"{request.path}?{address.urlencode()}"
    return response

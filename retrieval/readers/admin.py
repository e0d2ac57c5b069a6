"""“Readers” in the admin: the readers, the one in use, and trials of others."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite import env
from ragsite.admin_base import Page, add_page, work_page
from ragsite.llm.reranking.reader import OFF
from ragsite.site_settings.config import config
from retrieval.evaluation import runs
from retrieval.evaluation.access import visible_sets
from retrieval.evaluation.models import EvaluationSet
from retrieval.evaluation.sets import SetRefused
from retrieval.readers import registry, trial
from retrieval.readers.registry import KnownReader, NoSuchReader, State

_SETTINGS = ("READER_MODEL", "ENABLE_READER", "READER_PASSAGES", "READER_TIMEOUT")


class TrialForm(forms.Form):
    """The reader to try, and the question sets to try it on."""

    reader = forms.ChoiceField(label=gettext_lazy("Reader"))
    sets = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Question sets"), coerce=int, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, readers: list[KnownReader], sets: QuerySet[EvaluationSet], data: Any = None) -> None:
        """Offer the readers and sets; all sets are selected at first."""
        offered = [(each.pk, f"{each.name} ({each.knowledge_base.name})") for each in sets]
        super().__init__(data, initial={"sets": [pk for pk, _name in offered]})
        self.fields["reader"].choices = [(each.name, each.name) for each in readers]  # type: ignore[attr-defined]
        self.fields["sets"].choices = offered  # type: ignore[attr-defined]


def readers_page(request: HttpRequest) -> HttpResponse:
    """Show the readers and their trials; POST starts a trial."""
    user: Any = request.user
    may_try = user.has_perm("retrieval.change_registeredmodel")
    if not user.has_perm("retrieval.view_registeredmodel") or (request.method == "POST" and not may_try):
        raise PermissionDenied
    known, sets = registry.all_readers(), trial.sets_for(user)
    offered = [each for each in known if not each.problem and each.state != State.IN_USE]
    form = TrialForm(offered, sets, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            chosen = sets.filter(pk__in=form.cleaned_data["sets"])
            trial.start(trial.tryable(form.cleaned_data["reader"]), chosen, user)
        except (NoSuchReader, SetRefused) as error:
            messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:retrieval_readers"))
    runs.fail_stalled()
    trials = trial.newest(sets)
    context = {
        **admin.site.each_context(request),
        "title": _("Readers"),
        "readers": known,
        "is_off": settings.READER_MODEL == OFF,
        "settings": [
            {
                "name": name,
                "value": env.written(getattr(config if option.live else settings, name)),
                "meaning": capfirst(str(option.help)).split("`"),  # every second piece is code
                "live": option.live,
                "given": env.given(name),
            }
            for name in _SETTINGS
            if (option := env.option_of(name)) is not None
        ],
        "form": form if may_try and offered else None,
        "trials": trials,
        "headings": trial.headings(),
        "seen": set(visible_sets(user).values_list("pk", flat=True)) if trials else (),
    }
    working = any(each.unfinished for each in trials)
    return work_page(request, "admin/retrieval/readers/readers.html", context, working=working)


add_page(
    Page(
        name="retrieval_readers",
        title=gettext_lazy("Readers"),
        route="retrieval/readers/",
        view=readers_page,
        permission="retrieval.view_registeredmodel",
        after="retrieval.RegisteredModel",
    )
)

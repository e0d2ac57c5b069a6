"""The three pages for connecting a model, which also work without JavaScript.

With JavaScript, the last page first streams the output of the models.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _

from conversations.admin.model_setup import plan
from conversations.admin.model_setup.draft import Draft, Trial
from conversations.admin.model_setup.forms import AddressForm, ChoiceForm, SaveForm
from conversations.models import ModelProfile
from conversations.prompts import profiles
from conversations.rendering.progress import duration
from ragsite.admin_base import ModelAdmin
from ragsite.db import in_database
from ragsite.llm import secrets
from ragsite.llm.default import thinking_field_at
from ragsite.llm.errors import AddressRefused, LLMError

# Common providers by key: name, usual address, and whether it usually runs on the own machine.
PROVIDERS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("providers.json").read_text("utf-8"))
ADDRESS = "admin:conversations_modelprofile_set_up"
CHOOSE = "admin:conversations_modelprofile_set_up_choose"
TEST = "admin:conversations_modelprofile_set_up_test"
ASK = "admin:conversations_modelprofile_set_up_ask"


def may_set_up(user: Any) -> bool:
    """Return whether a user can connect a model, which may replace profiles in use."""
    return bool(user.is_staff) and user.has_perms(
        ["conversations.add_modelprofile", "conversations.change_modelprofile"]
    )


class SetUp:
    """The views, whose URLs are below the list of model profiles."""

    def __init__(self, admin: ModelAdmin) -> None:
        self._admin = admin

    def urls(self) -> list[URLPattern]:
        """Return the URL patterns."""
        views = (("", self.address), ("choose/", self.choose), ("test/", self.test), ("ask/", self.ask))
        return [
            path(f"set-up/{route}", self._admin.admin_site.admin_view(view), name=name.removeprefix("admin:"))
            for (route, view), name in zip(views, (ADDRESS, CHOOSE, TEST, ASK), strict=True)
        ]

    def address(self, request: HttpRequest) -> HttpResponse:
        """Show the form for address and key; POST lists the models that the address offers."""
        from ragsite.llm.default import notice_ollama

        _check(request)
        provider = PROVIDERS.get(request.GET.get("provider", ""))
        initial = {"base_url": provider["address"]} if provider else {}
        if request.GET.get("provider") == "ollama":
            initial["base_url"] = f"{settings.OLLAMA_URL.rstrip('/')}/v1"
        form = AddressForm(request.POST or None, initial=initial)
        # For self-hosted providers, offer the confirmation of an own server right away.
        context: dict[str, Any] = {"own_network": bool(provider and provider["own"])}
        with_key = ModelProfile.objects.exclude(encrypted_key=b"")
        if request.method == "POST" and form.is_valid():
            address = form.cleaned_data["base_url"]
            # Without a key, use the one stored for the same address.
            stored = with_key.filter(base_url=address).order_by("-enabled", "-pk")
            key = secrets.encrypt(form.cleaned_data["key"]) or stored.values_list("encrypted_key", flat=True).first()
            draft = Draft(address, bytes(key or b"").decode())
            without_list = "without_list" in request.POST
            if async_to_sync(self._ask_first)(request, form, draft, context, without_list=without_list):
                draft.keep(request)
                return redirect(CHOOSE)
        if form.errors and request.POST.get("key"):
            form["key"].help_text = _("Enter it once more: a page never contains a key.")
        context |= {
            "form": form,
            "providers": [(key, each["name"], each["address"]) for key, each in PROVIDERS.items()],
            "known": list(with_key.order_by("base_url").values_list("base_url", flat=True).distinct()[:20]),
            "ollama": async_to_sync(notice_ollama)() if request.method == "GET" else [],
        }
        return self._page(request, "address", _("Connect a model"), context, 422 if form.errors else 200)

    def choose(self, request: HttpRequest) -> HttpResponse:
        """Show the form for the models of each purpose and the test question."""
        _check(request)
        draft = Draft.of(request)
        if draft is None:
            return redirect(ADDRESS)
        # Show the earlier choices again.
        own = [draft.models[each] for each in plan.chat_purposes() if each in draft.models]
        usual = max(own, key=own.count) if own else ""
        chosen: dict[str, Any] = {f"for_{each}": model for each, model in draft.models.items() if model != usual}
        chosen |= {"model": usual} if usual else {}
        chosen |= {"question": draft.question} if draft.question else {}
        form = ChoiceForm(draft, request.POST or None, initial=chosen | {"context_window": draft.context_window})
        if request.method == "POST" and form.is_valid():
            draft.models, draft.question = form.models(), form.cleaned_data["question"]
            draft.context_window, draft.trials = form.cleaned_data["context_window"], []
            draft.keep(request)
            return redirect(TEST)
        context = {"form": form, "draft": draft}
        return self._page(request, "choose", _("Choose a model"), context, 422 if form.errors else 200)

    def test(self, request: HttpRequest) -> HttpResponse:
        """Show the results of the test and the changes that saving will make; POST tests (again) or saves.

        Before the test, the page calls `ask` with JavaScript, or has a button without it.
        """
        _check(request)
        draft = Draft.of(request)
        if draft is None or not draft.models:
            return redirect(ADDRESS if draft is None else CHOOSE)
        planned = plan.changes(draft)
        tested = (trial.thinking_off for trial in draft.trials if trial.thinking_off)
        initial = {"thinking": next(tested, thinking_field_at(draft.base_url))}
        form = SaveForm(planned, request.POST if "save" in request.POST else None, initial=initial)
        if request.method == "POST" and ("again" in request.POST or "now" in request.POST):
            from conversations.admin.model_setup import probe

            now = "now" in request.POST
            draft.trials = async_to_sync(probe.try_models)(draft, draft.question) if now else []
            draft.keep(request)
            return redirect(TEST)
        if not draft.trials:
            served = {model: [each.label for each in planned if each.model == model] for model in draft.models.values()}
            context = {"draft": draft, "asked": served.items(), "ask": reverse(ASK)}
            return self._page(request, "ask", _("Test and save"), context, 200)
        if form.is_valid():
            draft.thinking = form.cleaned_data["thinking"]
            try:
                stored = plan.carry_out(draft, planned)
            except IntegrityError:  # another administrator has just saved one
                form.add_error(None, _("The profiles have changed since you opened this page. Review them again."))
            else:
                return self._saved(request, draft, stored)
        context = {
            "form": form,
            "draft": draft,
            "planned": planned,
            "changing": [each for each in planned if each.existing is not None],
            "thinks": any(trial.thinks for trial in draft.trials),
            "all_work": all(trial.works for trial in draft.trials),
            "rows": [
                (trial, [each.label for each in planned if each.model == trial.model], _facts(trial))
                for trial in draft.trials
            ],
        }
        return self._page(request, "test", _("Test and save"), context, 422 if form.errors else 200)

    def ask(self, request: HttpRequest) -> HttpResponseBase:
        """Test the models, and stream their output: see `probe.stream_trials`."""
        from conversations.admin.model_setup import probe

        _check(request)
        draft = Draft.of(request)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if draft is None or not draft.models:
            return HttpResponse(status=409)
        draft.trials = []
        language = get_language()

        async def body() -> AsyncGenerator[str]:
            with override(language):  # the middleware has already reset it
                save = partial(in_database, draft.keep_trials, request)
                async with aclosing(probe.stream_trials(draft, save)) as lines:
                    async for line in lines:
                        yield line

        response = StreamingHttpResponse(body(), content_type="application/x-ndjson; charset=utf-8")
        response["Cache-Control"] = "private, no-store, no-transform"
        response["X-Accel-Buffering"] = "no"
        return response

    async def _ask_first(
        self, request: HttpRequest, form: AddressForm, draft: Draft, context: dict[str, Any], *, without_list: bool
    ) -> bool:
        """List the models at the address into the draft, or add an error to the form; return whether it worked."""
        from conversations.admin.model_setup import probe
        from ragsite.llm import http
        from ragsite.llm.addresses import Reach, admitted, look_up

        place = await look_up(draft.base_url)
        draft.own_network = place.reach == Reach.PRIVATE and form.cleaned_data["own"]
        try:
            if place.reach != Reach.UNKNOWN or not http.is_proxied(draft.endpoint()):
                admitted(place, own_network=draft.own_network, where="")
            if without_list:
                return True
            await probe.look(draft)
        except AddressRefused as error:
            context["own_network"] = error.is_inside
            message = _("This address is on this machine or in its local network. Confirm that the server is yours.")
            form.add_error("own", message) if error.is_inside else form.add_error("base_url", str(error.hint))
            return False
        except LLMError as error:
            message, details = probe.explain(error, draft.endpoint())
            form.add_error("base_url", message)
            context |= {"details": details, "can_go_on": error.code in ("model_not_found", "bad_reply"),
                        "own_network": place.reach == Reach.PRIVATE}  # fmt: skip
            return False
        return True

    def _saved(self, request: HttpRequest, draft: Draft, stored: list[ModelProfile]) -> HttpResponse:
        for profile in stored:
            self._admin.log_change(request, profile, "Set up.")
            if profile.purpose == ModelProfile.Purpose.EMBEDDING:
                models = reverse("admin:retrieval_registeredmodel_changelist")
                message = profiles.what_search_uses(profile)
                messages.info(request, format_html('{} <a href="{}">{}</a>', message, models, _("Embedding models")))
        Draft.forget(request)
        count = len(stored)
        message = ngettext(
            "The model is connected for %(count)d purpose.", "The model is connected for %(count)d purposes.", count
        )
        link = format_html('<a href="{}">{}</a>', reverse("chat"), _("Ask a question"))
        messages.success(request, format_html("{} {}", message % {"count": count}, link))
        return redirect("admin:conversations_modelprofile_changelist")

    def _page(self, request: HttpRequest, step: str, title: str, context: dict[str, Any], status: int) -> HttpResponse:
        steps = [
            ("address", _("Address"), reverse(ADDRESS)),
            ("choose", _("Models"), reverse(CHOOSE)),
            ("test", _("Test and save"), reverse(TEST)),
        ]
        shown = "test" if step == "ask" else step
        shared = {**self._admin.admin_site.each_context(request), "opts": self._admin.opts, "is_popup": False}
        shared |= {"title": title, "step": shown, "steps": steps}
        template = f"admin/conversations/modelprofile/set_up/{step}.html"
        return TemplateResponse(request, template, shared | context, status=status)


def _check(request: HttpRequest) -> None:
    if not may_set_up(request.user):
        raise PermissionDenied


def _facts(trial: Trial) -> list[tuple[str, str]]:
    """Return the durations and the number of tokens of a test, with their labels."""
    facts = [(_("Time to first token"), trial.first_ms)]
    facts += [(_("To the first word, after thinking"), trial.word_ms)] if trial.thinks else []
    facts += [(_("Whole answer"), trial.total_ms)]
    shown = [(name, duration(ms)) for name, ms in facts if ms is not None]
    if trial.thinking_off:
        can = trial.thinking_off != ModelProfile.Thinking.ALWAYS
        how = _("not if asked") if can else _("always; steps before an answer follow rules instead of waiting for it")
        shown.append((_("Thinks"), how))
    return [*shown, (_("Tokens written"), f"{trial.tokens:,}")] if trial.tokens else shown

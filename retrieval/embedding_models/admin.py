"""“Embedding models” in the admin: the model in use, and adding, trying and switching models."""

import shutil
import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from ragsite.admin_base import ModelAdmin, work_page
from ragsite.llm.embedding import model_files
from retrieval.embedding_models import jobs, registry, trial
from retrieval.embedding_models.forms import DownloadForm, EndpointForm, FilesForm, LanguagesForm
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.embedding_models.notices import passages_by_language
from retrieval.embedding_models.registry import ModelStatus, NotPossible
from retrieval.evaluation.metrics import FIGURES

Kind = ModelJob.Kind
_JOBS_SHOWN = 10
_TEMPLATES = "admin/retrieval/registeredmodel"


@admin.register(RegisteredModel)
class RegisteredModelAdmin(ModelAdmin):
    """The list of models with their actions, a page for each model, and a page to add one."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List the models, the one in use first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        jobs.fail_stalled()
        known_models = registry.all_models()
        newest = ModelJob.objects.select_related("model").order_by("model_id", "-pk").distinct("model_id")
        last = {job.model_id: job for job in newest}
        rows = [
            {"known": each, "job": last.get(each.model.pk), **self._possible(request, each, last.get(each.model.pk))}
            for each in known_models
        ]
        context = self._context(request) | {
            "title": _("Embedding models"),
            "rows": rows,
            "named": settings.EMBEDDING_GIVEN and settings.EMBEDDING_MODEL,
            "variables": ", ".join(settings.EMBEDDING_GIVEN),
            "may_add": self.has_add_permission(request),
        }
        working = any(job.is_unfinished for job in last.values())
        return work_page(request, f"{_TEMPLATES}/models.html", context, working=working)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show a model with its jobs and the results of its trial; POST runs an action on it."""
        model = self.get_object(request, object_id)
        if not self.has_view_permission(request, model):
            raise PermissionDenied
        if model is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined, no-any-return]
        if request.method == "POST":
            if not self.has_change_permission(request, model):
                raise PermissionDenied
            return self._do(request, model)
        jobs.fail_stalled()
        found = list(model.jobs.select_related("started_by")[:_JOBS_SHOWN])
        tried = next((job for job in found if job.kind == Kind.TRY and job.details.get("results")), None)
        known = registry.status_of(model)
        took = tried.details if tried else {}
        seconds = took["seconds"] / took["passages"] * registry.passages() if took.get("passages") else None
        context = self._context(request) | {
            "title": model.name,
            "model": model,
            "original": model,
            "known": known,
            "jobs": found,
            "job": found[0] if found else None,
            "tried": tried,
            "tried_in_all": trial.summary(tried.details) if tried else None,
            "figures": FIGURES,
            "may_see_sets": request.user.has_perm("retrieval.view_evaluationset"),
            "languages": LanguagesForm(initial={"languages": ",".join(model.languages) or "all"}),
            # Estimated minutes to compute all vectors, from the speed of the trial.
            "estimate": None if seconds is None else max(1, round(seconds / 60)),
            "may_delete": self.has_delete_permission(request, model),
            **self._possible(request, known, found[0] if found else None),
        }
        working = bool(found) and found[0].is_unfinished
        return work_page(request, f"{_TEMPLATES}/model.html", context, working=working)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Add a model: download it, upload its files, or connect to an endpoint."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        there = set(RegisteredModel.objects.exclude(state="failed").values_list("name", flat=True))
        offered = [each for each in registry.offered() if each.name not in there]
        chosen = request.POST.get("source", "")
        sent: dict[str, Any] = {chosen: {"data": request.POST, "files": request.FILES}}
        forms: dict[str, Any] = {
            "hub": DownloadForm([each.name for each in offered], prefix="hub", **sent.get("hub", {})),
            "files": FilesForm(prefix="files", **sent.get("files", {})),
            "endpoint": EndpointForm(prefix="endpoint", **sent.get("endpoint", {})),
        }
        if chosen in forms and forms[chosen].is_valid():
            try:
                job = self._added(request, chosen, forms[chosen])
            except NotPossible as error:
                forms[chosen].add_error(None, str(error))
            else:
                self.log_addition(request, job.model, [{"added": {}}])
                return HttpResponseRedirect(_page_of(job.model))
        used = passages_by_language()
        wanted = {language for language, count in used.items() if 10 * count >= used.total()}
        context = self._context(request) | {
            "title": _("Add an embedding model"),
            "offered": [
                (each, bool(wanted) and (not each.languages or wanted <= {*each.languages})) for each in offered
            ],
            "forms": forms,
            "limit": settings.EMBEDDING_MODEL_MAX_MB,
        }
        return TemplateResponse(request, f"{_TEMPLATES}/add.html", context)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for models that search needs and for the bundled one."""
        if obj is not None and (obj.source == registry.Source.BUNDLED or not registry.status_of(obj).can_be_removed):
            return False
        return super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete a model with its vectors and files."""
        registry.remove(obj)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Ask for confirmation, then delete; show the reason if that isn't possible now."""
        try:
            return super().delete_view(request, object_id, extra_context)
        except NotPossible as error:
            self.message_user(request, str(error), messages.ERROR)
            return HttpResponseRedirect(reverse("admin:retrieval_registeredmodel_changelist"))

    def _do(self, request: HttpRequest, model: RegisteredModel) -> HttpResponse:
        action = request.POST.get("action", "")
        try:
            if action in (Kind.TRY, Kind.USE):
                job = jobs.start(model, action, request.user.pk)
                self.log_change(request, model, str(job.get_kind_display()))
            elif action == "stop":
                for job in model.jobs.filter(status__in=ModelJob.UNFINISHED):
                    jobs.stop(job)
            elif action == "go-on" and (last := model.jobs.first()) is not None:
                jobs.go_on(last, request.user.pk)
            elif action == "languages" and (form := LanguagesForm(request.POST)).is_valid():
                known = form.cleaned_data["languages"]
                registry.set_languages(model, registry.languages(model.name) if known is None else known)
                self.log_change(request, model, [{"changed": {"fields": ["languages"]}}])
            elif action == "drop":
                if not self.has_delete_permission(request):
                    raise PermissionDenied
                registry.remove(model)
                self.message_user(request, _("The vectors of “{name}” were deleted.").format(name=model.name))
        except NotPossible as error:
            self.message_user(request, str(error), messages.ERROR)
        return HttpResponseRedirect(_page_of(model))

    def _added(self, request: HttpRequest, source: str, form: Any) -> ModelJob:
        data, user = form.cleaned_data, request.user.pk
        if source == "hub":
            model = registry.register(data["name"], registry.Source.HUB, user_id=user)
            digests = {registry.weights_of(model.name): data["sha256"].lower()} if data["sha256"] else {}
            return jobs.start(model, Kind.ADD, user, {"digests": digests})
        if source == "endpoint":
            model = registry.register(
                data["name"],
                registry.Source.ENDPOINT,
                base_url=data["base_url"],
                own_network=data["own_network"],
                key=data["key"],
                known=data["languages"],
                user_id=user,
            )
            return jobs.start(model, Kind.ADD, user, {"dimension": data["dimension"]})
        archive = data["archive"]
        name = data["name"] or model_files.name_of(Path(archive.name).name)
        model = registry.register(name, registry.Source.FILES, known=data["languages"], user_id=user)
        kept = Path(settings.DATA_DIR) / "models" / "uploads" / uuid.uuid4().hex
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("wb") as file:
            shutil.copyfileobj(archive, file, 1 << 20)
        return jobs.start(model, Kind.ADD, user, {"origin": str(kept), "uploaded": True})

    def _possible(self, request: HttpRequest, known: ModelStatus, job: ModelJob | None) -> dict[str, bool]:
        """Return the actions to offer for a model."""
        may_change = self.has_change_permission(request)
        can_try = may_change and known.model.state == RegisteredModel.State.READY and not known.in_use
        is_bundled = known.model.source == registry.Source.BUNDLED
        return {
            "may_change": may_change,
            "can_go_on": job is not None and jobs.can_go_on(job),
            "can_try": can_try,
            "can_use": can_try and (known.named or not settings.EMBEDDING_GIVEN),
            "can_drop": is_bundled and known.can_be_removed and self.has_delete_permission(request),
        }

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts}


def _page_of(model: RegisteredModel) -> str:
    return reverse("admin:retrieval_registeredmodel_change", args=[model.pk])

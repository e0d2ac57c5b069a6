"""Rehearsals of a change of an assistant: the change and the live version both answer a question set."""

import hashlib
import json
from typing import Any

from django.conf import settings
from django.db import transaction

from conversations.assistants.configuration import Configuration
from conversations.models import Assistant, AssistantVersion, Rehearsal
from conversations.prompts import active
from retrieval.engine.result_cache import index_state
from retrieval.evaluation import runs
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions

# Rehearsals kept per assistant; older ones are deleted, but the question set keeps their runs.
KEPT = 20


def rehearse(
    assistant: Assistant, configuration: Configuration, form: str, question_set: EvaluationSet, user: Any
) -> Rehearsal:
    """Run a change on a question set, and the live version too, unless an earlier run of it is still valid.

    Raises `retrieval.evaluation.sets.SetRefused`.
    """
    version = assistant.versions.latest("number")
    with transaction.atomic():
        made = Rehearsal.objects.create(
            assistant=assistant,
            user=user,
            version=version.number,
            configuration=configuration.to_dict(),
            form=form,
            state=_state(question_set, user),
        )
        live = RunOptions(assistant=assistant.pk, assistant_version=version.number)
        # The newest run of the live version in an earlier rehearsal is kept, if its answers would be the same today.
        earlier = Rehearsal.objects.filter(assistant=made.assistant_id, state=made.state).exclude(pk=made.pk)
        ids = {pk for pair in earlier.values_list("run", "beside") for pk in pair if pk is not None}
        valid = question_set.runs.filter(
            pk__in=ids, status=EvaluationRun.Status.DONE, settings__contains=live.to_dict()
        )
        known = valid.exclude(settings__has_key="rehearsal").order_by("-pk").first()
        made.beside = known or runs.start(question_set, live, user)
        changed = RunOptions(assistant=assistant.pk, assistant_version=version.number, rehearsal=made.pk)
        made.run = runs.start(question_set, changed, user)
        made.save(update_fields=["run", "beside"])
        old = assistant.rehearsals.values_list("pk", flat=True)[KEPT:]
        Rehearsal.objects.filter(pk__in=list(old)).delete()
    return made


def gone_live(rehearsal: Rehearsal, version: AssistantVersion) -> None:
    """Attribute the run of a change that has gone live to its new version, which has the same configuration."""
    if rehearsal.run is not None and version.configuration == rehearsal.configuration:
        options = RunOptions(
            assistant=version.assistant_id, assistant_version=version.number, assistant_name=str(version)
        )
        EvaluationRun.objects.filter(pk=rehearsal.run.pk).update(settings=options.to_dict())


def _state(question_set: EvaluationSet, user: Any) -> str:
    """Return a hash of the other inputs of the answers: the user, the questions, the index and the site's setup."""
    site = active.site_setup()
    facts = [
        user.pk,
        list(question_set.questions.order_by("pk").values_list("key", "text", "relevant")),
        index_state([question_set.knowledge_base_id]),
        sorted((row.pk, row.version) for row in site.prompts.values()),
        [{name: value for name, value in vars(row).items() if name != "_state"} for row in site.profiles.values()],
        dict(site.settings),
        settings.PIPELINES,
    ]
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()

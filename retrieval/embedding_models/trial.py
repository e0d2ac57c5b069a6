"""Trying a model: running the site's question sets with the model in use and with the new one."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext as _

from ragsite.llm.embedding.model_files import Progress
from retrieval.embedding_models.models import RegisteredModel
from retrieval.embedding_models.registry import NotPossible
from retrieval.engine import reembedding, spaces
from retrieval.evaluation import runs
from retrieval.evaluation.models import EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.runs import RunFailed


def sets_to_ask(details: dict[str, Any]) -> list[EvaluationSet]:
    """Return the question sets of a trial: the chosen ones, or all with questions. Raises `NotPossible`."""
    sets = EvaluationSet.objects.annotate(asked=Count("questions")).filter(asked__gt=0)
    if details.get("sets"):
        sets = sets.filter(pk__in=details["sets"])
    found: list[EvaluationSet] = list(sets.select_related("knowledge_base").order_by("pk"))
    if not found:
        raise NotPossible(_("This site has no question sets yet. Create one on the page “Evaluation”."))
    return found


def run(
    model: RegisteredModel, progress: Progress, say: Callable[[str], None], details: dict[str, Any]
) -> dict[str, Any]:
    """Run the sets with both models and return `details` with the results, which are added as it goes on.

    `passages` and `seconds` are the number of vectors computed and the time it took. `results` has for each set its id,
    name, base and number of questions, the runs, and the figures of the model in use (`now`) and of this one (`then`),
    or an `error`.
    """
    sets = sets_to_ask(details)
    results: list[dict[str, Any]] = details.setdefault("results", [])
    asked = {result["set"] for result in results}
    waiting = [each for each in sets if each.pk not in asked]
    active = spaces.active_space()
    details["present"] = active.model
    bases = sorted({each.knowledge_base_id for each in sets})
    began, first = time.monotonic(), -1
    before = details.get("seconds", 0.0), details.get("passages", 0)

    def filled(done: int, total: int) -> None:
        nonlocal first
        first = done if first < 0 else first
        details["seconds"] = round(before[0] + time.monotonic() - began, 1)
        details["passages"] = before[1] + done - first
        progress(done, total)

    def asking(step: int, done: int, total: int) -> None:
        progress(step * total + done, 2 * len(waiting) * total)

    with reembedding.trial_space(model.reached(), bases, filled) as space:
        for number, chosen in enumerate(waiting):
            say(str(chosen))
            result: dict[str, Any] = {"set": chosen.pk, "name": chosen.name, "base": chosen.knowledge_base.name}
            try:
                now = runs.run(chosen, RunOptions(), progress=partial(asking, 2 * number))
                with spaces.override_space(space):
                    then = runs.run(chosen, RunOptions(model=model.name), progress=partial(asking, 2 * number + 1))
            except RunFailed as error:
                result["error"] = str(error)
            else:
                result |= {
                    "questions": then.question_count,
                    "now": now.figures,
                    "then": then.figures,
                    "runs": [now.pk, then.pk],
                }
            results.append(result)
    return details


def summary(details: dict[str, Any]) -> dict[str, Any] | None:
    """Return the figures over all sets, weighted by their questions; None if no set has figures."""
    done = [result for result in details.get("results", ()) if "then" in result]
    questions = sum(result["questions"] for result in done)
    if not questions:
        return None
    return {
        "questions": questions,
        **{
            side: {
                name: sum(result[side][name] * result["questions"] for result in done) / questions
                for name in done[0][side]
            }
            for side in ("now", "then")
        },
    }

"""System checks of the pipelines and the citation verifier: a site with a broken graph doesn't start."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

_IDS = {"unreachable": "E002", "unknown field": "E003", "missing input": "E004"}


@register()
def pipelines_are_graphs(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Assemble each graph of `PIPELINES` with the hooks, and check each node against those before it."""
    # These import all of search, which is too much while apps load.
    from conversations.pipeline.graph import Graph, GraphError
    from conversations.pipeline.hooks import HookError
    from conversations.pipeline.validation import graph_problems

    if hasattr(settings, "PIPELINE_NODES"):
        hint = 'Change the list PIPELINES["default"] instead.'
        return [Error("The setting PIPELINE_NODES is no longer supported.", hint=hint, id="conversations.E007")]
    found: list[CheckMessage] = []
    for name in dict.fromkeys(("default", *settings.PIPELINES)):
        where = f"See the setting PIPELINES[{name!r}]."
        try:
            graph = Graph.from_settings(name)
        except GraphError as error:
            found.append(Error(str(error), hint=f"{error.hint} {where}".strip(), id="conversations.E001"))
            continue
        except HookError as error:
            return [Error(str(error), hint="Correct the setting PIPELINE_HOOKS.", id="conversations.E005")]
        for problem in graph_problems(graph):
            kind, identity = (Error, _IDS[problem.kind]) if problem.kind in _IDS else (Warning, "W001")
            found.append(kind(problem.message, hint=f"{problem.hint} {where}", id=f"conversations.{identity}"))
    return found


@register()
def verifier_can_be_made(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Create the verifier that `CITATION_VERIFIER` names."""
    from conversations.citations.verifiers import configured

    try:
        configured()
    except (ImportError, TypeError) as error:
        hint = (
            "Set it to the dotted path of a class with a `verify` method, such as "
            "conversations.citations.verifiers.rules.Rules."
        )
        return [Error(f"The setting CITATION_VERIFIER can't be used: {error}", hint=hint, id="conversations.E006")]
    return []

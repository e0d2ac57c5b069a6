"""System checks of the pipeline: a site with a broken graph does not start."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Warning, register

_IDS = {"unreachable": "E002", "unknown field": "E003", "missing input": "E004"}


@register()
def pipeline_is_a_graph(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Assemble the graph of `PIPELINE_NODES` with its hooks, and hold each node against those before it."""
    # All of search comes with it: not when apps load.
    from conversations.pipeline.graph import Graph, GraphError
    from conversations.pipeline.hooks import HookError
    from conversations.pipeline.validation import graph_problems

    try:
        graph = Graph.from_settings()
    except GraphError as error:
        return [
            Error(str(error), hint=f"{error.hint} See the setting PIPELINE_NODES.".strip(), id="conversations.E001")
        ]
    except HookError as error:
        return [Error(str(error), hint="Mend the setting PIPELINE_HOOKS.", id="conversations.E005")]
    found: list[CheckMessage] = []
    for problem in graph_problems(graph):
        if problem.kind in _IDS:
            found.append(Error(problem.message, hint=problem.hint, id=f"conversations.{_IDS[problem.kind]}"))
        else:
            found.append(Warning(problem.message, hint=problem.hint, id="conversations.W001"))
    return found


@register()
def verifier_can_be_made(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Make the verifier that `CITATION_VERIFIER` names."""
    from conversations.citations.verifiers import configured

    try:
        configured()
    except (ImportError, TypeError) as error:
        hint = "Give the dotted path of a class with a `verify`, such as conversations.citations.verifiers.rules.Rules."
        return [Error(f"The setting CITATION_VERIFIER can't be used: {error}", hint=hint, id="conversations.E006")]
    return []

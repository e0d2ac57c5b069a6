"""System checks of the pipeline: a site with a broken graph does not start."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def pipeline_is_a_graph(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Assemble the graph of `PIPELINE_NODES`."""
    from conversations.pipeline.graph import Graph, GraphError  # all of search comes with it: not when apps load

    try:
        Graph.from_paths(settings.PIPELINE_NODES)
    except GraphError as error:
        return [Error(str(error), hint="Mend the setting PIPELINE_NODES.", id="conversations.E001")]
    return []

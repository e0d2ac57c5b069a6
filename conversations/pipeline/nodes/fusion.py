"""Fuses the retrievers' rankings into one."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.description import Description, Passage, PassageList
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import fuse, pool_size


class Fusion(Node):
    """Fuses the rankings by reciprocal rank; each hit keeps its sources."""

    key = "fusion"
    step = 5
    title = gettext_lazy("Fuse the results")
    progress = gettext_lazy("Weighing what was found")
    timeout = 5.0
    reads = ("found.search_request", "found.rankings")
    writes = ("found.fused",)

    def wanted(self, state: State) -> bool:
        """Return whether there is something to fuse."""
        return bool(state.found.rankings)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `fused`."""
        if state.found.search_request is None:
            return
        state.found.fused = list(fuse(state.found.rankings, pool_size(state.found.search_request)))
        ctx.note(
            hits=[
                {
                    "chunk_id": item.chunk_id,
                    "score": round(item.score, 5),
                    "sources": [source.to_dict() for source in item.sources],
                }
                for item in state.found.fused
            ],
        )

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return how many passages are examined further."""
        count = len(state.found.fused)
        return ngettext("%(count)d passage to examine", "%(count)d passages to examine", count) % {"count": count}

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the hits with their rank in each retriever's ranking."""
        sides, words = {"vector": _("meaning")}, _("words")
        hits = [
            Passage(
                hit["chunk_id"],
                hit["score"],
                " · ".join(f"{sides.get(source['type'], words)} {source['rank']}" for source in hit["sources"]),
            )
            for hit in detail.get("hits", [])
        ]
        return Description(lists=[PassageList(_("Merged"), hits)])

"""Joins neighbouring passages and keeps the best, before the evidence is chosen."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.description import Description, Passage, PassageList
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import select_hits


class Select(Node):
    """Joins neighbouring hits and keeps the best."""

    key = "select"
    title = gettext_lazy("Join neighbouring passages")
    timeout = 5.0
    on_error = "skip"
    reads = ("found.search_request", "found.hits")
    writes = ("found.hits",)

    def wanted(self, state: State) -> bool:
        """Return whether there are hits to choose from."""
        return state.found.search_request is not None and bool(state.found.hits)

    async def run(self, state: State, ctx: Context) -> None:
        """Join neighbouring `hits`, and keep the best k."""
        found = state.found
        if found.search_request is not None:
            found.hits, _stages = select_hits(found.search_request, found.hits)
        hits = [{"chunk_id": hit.chunk_id, "merged": list(hit.merged), "score": round(hit.score, 5)}
                for hit in found.hits]  # fmt: skip
        ctx.note(hits=hits)

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return how many passages are kept."""
        count = len(state.found.hits)
        return ngettext("%(count)d passage kept", "%(count)d passages kept", count) % {"count": count}

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the passages kept, with the number joined to each."""
        kept = []
        for hit in detail.get("hits", []):
            joined = len(hit.get("merged", ()))
            words = ngettext("%(count)d passage joined", "%(count)d passages joined", joined) % {"count": joined}
            kept.append(Passage(hit["chunk_id"], hit.get("score", 0.0), words if joined else ""))
        return Description(lists=[PassageList(_("Kept"), kept)])

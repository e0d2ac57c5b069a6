"""Before the evidence is chosen: what stands together joined, and the best kept."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.description import Description, Passage, PassageList
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import selected


class Select(Node):
    """Joins neighbouring hits and keeps the best."""

    key = "select"
    title = gettext_lazy("Join neighbouring passages")
    timeout = 5.0
    on_error = "skip"
    reads = ("found.search_request", "found.hits")
    writes = ("found.hits",)

    def wanted(self, state: State) -> bool:
        """There must be something to choose from."""
        return state.found.search_request is not None and bool(state.found.hits)

    async def run(self, state: State, ctx: Context) -> None:
        """Cut `hits` to k."""
        found = state.found
        if found.search_request is not None:
            found.hits, _stages = selected(found.search_request, found.hits)
        hits = [{"chunk_id": hit.chunk_id, "merged": list(hit.merged), "score": round(hit.score, 5)}
                for hit in found.hits]  # fmt: skip
        ctx.note(hits=hits)

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Count what may be answered from."""
        count = len(state.found.hits)
        return ngettext("%(count)d passage given on", "%(count)d passages given on", count) % {"count": count}

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List what was kept, with how much was joined to it."""
        kept = []
        for hit in detail.get("hits", []):
            joined = len(hit.get("merged", ()))
            words = ngettext("%(count)d passage joined", "%(count)d passages joined", joined) % {"count": joined}
            kept.append(Passage(hit["chunk_id"], hit.get("score", 0.0), words if joined else ""))
        return Description(lists=[PassageList(_("Kept"), kept)])

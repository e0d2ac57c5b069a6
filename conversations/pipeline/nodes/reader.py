"""Reads the best hits together with the question, to reorder and judge them."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.description import Description, Passage, PassageList, previous_rank
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.prompts import endpoints
from retrieval.search import is_read, read_with_question


class Reader(Node):
    """Moves the hits that answer to the front, and finds in each whether and where it answers."""

    key = "reader"
    step = 6
    title = gettext_lazy("Read the best passages")
    timeout = None  # `READER_TIMEOUT` limits it and leaves a note
    on_error = "skip"
    reads = ("found.search_request", "found.hits")
    writes = ("found.hits",)

    def wanted(self, state: State) -> bool:
        """Return whether there are hits, and the reader is installed and switched on."""
        request = state.found.search_request
        return request is not None and bool(state.found.hits) and is_read(request)

    async def run(self, state: State, ctx: Context) -> None:
        """Reorder `hits` and fill their `reading`."""
        assert state.found.search_request is not None
        ranks = {hit.chunk_id: rank for rank, hit in enumerate(state.found.hits, 1)}
        # A model needs the best order of many passages; a quoted answer only needs the first passage that answers.
        brief = not await endpoints.has_model("answer")
        state.found.hits, stages = await read_with_question(state.found.search_request, state.found.hits, brief=brief)
        judged = [
            {"chunk_id": hit.chunk_id, "before": ranks[hit.chunk_id], "score": round(hit.reading.rank, 3),
             "answers": None if hit.reading.answers is None else round(hit.reading.answers, 3),
             "key_passage": hit.content[hit.reading.start : hit.reading.end] if hit.reading.end else ""}
            for hit in state.found.hits
            if hit.reading is not None
        ]  # fmt: skip
        ctx.note(note=stages[0].note if stages else "", judged=judged)

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return how many passages were read, or why none was."""
        count = len(detail.get("judged", []))
        words = ngettext("%(count)d passage read", "%(count)d passages read", count) % {"count": count}
        return words if count else str(detail.get("note", ""))

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the passages read in their new order, with the previous rank, the answer score and the key passage."""
        description = Description([(_("Note"), str(detail["note"]))] if detail.get("note") else [])
        read_hits = []
        for hit in detail.get("judged", []):
            words = [previous_rank(hit)]
            if hit.get("answers") is not None:
                words.append(_("answer score: %(score)s") % {"score": f"{hit['answers']:+.1f}"})
            read_hits.append(Passage(hit["chunk_id"], hit["score"], " · ".join(words), hit.get("key_passage", "")))
        if read_hits:
            description.lists.append(PassageList(_("Read"), read_hits))
        return description

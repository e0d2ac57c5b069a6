"""Loads the contents and metadata of the hits."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import PictureInfo, State
from retrieval.search import Hit, describe


class LoadPassages(Node):
    """Adds text, heading, file name, page, tables and pictures to the hits."""

    key = "load_passages"
    step = 6
    title = gettext_lazy("Look up the passages")
    progress = gettext_lazy("Weighing what was found")
    reads = ("found.fused",)
    writes = ("found.hits", "found.pictures")

    def wanted(self, state: State) -> bool:
        """Return whether there are hits."""
        return bool(state.found.fused)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `hits` and `pictures`; passages deleted in the meantime are dropped."""
        state.found.hits = await describe(state.found.fused)
        state.found.pictures = pictures_of(state.found.hits)
        ctx.note(files=sorted({hit.filename for hit in state.found.hits}))

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the files."""
        return Description([(_("Files"), ", ".join(detail["files"]))] if detail.get("files") else [])


def pictures_of(hits: Iterable[Hit]) -> dict[int, PictureInfo]:
    """Return the pictures of hits, by chunk id."""
    return {
        hit.chunk_id: PictureInfo(reverse("picture", args=[shown.pk]), shown.alt, shown.width, shown.height)
        for hit in hits
        if (shown := hit.picture) is not None
    }

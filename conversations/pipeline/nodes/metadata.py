"""Step 6: what is known about the hits."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Emit, Node
from conversations.pipeline.state import PictureInfo, State
from knowledge.models import Picture
from ragsite.db import in_database
from retrieval.search import Hit, describe


class Metadata(Node):
    """Adds text, heading, file name, page, tables and pictures to the hits."""

    key = "metadata"
    step = 6
    title = gettext_lazy("Look up the passages")
    reads = ("fused",)
    writes = ("hits", "pictures")

    def wanted(self, state: State) -> bool:
        """There must be hits."""
        return bool(state.fused)

    async def run(self, state: State, emit: Emit) -> State:
        """Fill `hits` and `pictures`; passages deleted meanwhile drop out."""
        state.hits = await describe(state.fused)
        if any(hit.picture_id for hit in state.hits):
            state.pictures = await in_database(_pictures, state.hits)
        state.note(self.key, files=sorted({hit.filename for hit in state.hits}))
        return state


def _pictures(hits: Sequence[Hit]) -> dict[int, PictureInfo]:
    """Return the hits' pictures by chunk id."""
    by_picture = {hit.picture_id: hit.chunk_id for hit in hits if hit.picture_id}
    return {
        by_picture[picture.pk]: PictureInfo(
            reverse("picture", args=[picture.pk]), picture.alt, picture.width, picture.height
        )
        for picture in Picture.objects.filter(pk__in=by_picture)
    }

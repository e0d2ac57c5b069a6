"""Step 6: what is known about the hits."""

from django.urls import reverse
from django.utils.translation import gettext_lazy

from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import PictureInfo, State
from knowledge.models import Picture
from retrieval.search import describe


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

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `hits` and `pictures`; passages deleted meanwhile drop out."""
        state.hits = await describe(state.fused)
        state.pictures = {hit.chunk_id: _info(hit.picture) for hit in state.hits if hit.picture is not None}
        ctx.note(files=sorted({hit.filename for hit in state.hits}))


def _info(picture: Picture) -> PictureInfo:
    return PictureInfo(reverse("picture", args=[picture.pk]), picture.alt, picture.width, picture.height)

"""Pictures of PDF pages, rendered once and kept beside the document."""

from knowledge.models import Chunk, Document


def page_image(document: Document, number: int, chunk: Chunk | None = None) -> tuple[bytes, str]:
    """Return page `number` (from 1) as `(bytes, media type)`, with a chunk marked on it when given."""
    raise NotImplementedError

"""Passages as a model reads them and as an answer cites them. Pure."""

from typing import Any

from retrieval.search import Hit
from retrieval.web.snippets import snippet


def numbered_passage(number: int, hit: Hit) -> str:
    """Return a passage under its number and with its place, fenced so that its end can't be forged from within."""
    parts = (hit.filename, hit.heading, hit.page and f"p. {hit.page}", hit.picture and "picture")
    return fenced(number, hit.content, " · ".join(str(part) for part in parts if part))


def fenced(number: int, content: str, place: str = "") -> str:
    """Return a text as a numbered passage; `place` says where it is from."""
    content = content.replace("</passage", "<​/passage")
    place = place.replace('"', "'").replace("\n", " ")
    source = f' from="{place}"' if place else ""
    return f'<passage number="{number}"{source}>\n{content}\n</passage>'


def citation(number: int, hit: Hit, question: str, key_passage: str = "", reason: str = "") -> dict[str, Any]:
    """Return the hit as one entry of a `sources` event; its snippet is the passage that answers, where it is known.

    `reason` is why it answers, where a model judged that.
    """
    return {
        "index": number,
        "document_id": hit.document_id,
        "chunk_id": hit.chunk_id,
        "merged": list(hit.merged),
        "filename": hit.filename,
        "title": hit.title or hit.filename,
        "heading": hit.heading,
        "page": hit.page,
        "snippet": key_passage or snippet(hit.content, question),
        "reason": reason,
        "score": hit.score,
        "sources": [source.to_dict() for source in hit.sources],
    }

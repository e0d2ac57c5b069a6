"""Passages in the form for models, and in the form for citations. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from retrieval.search import Hit
from retrieval.snippets import snippet


def numbered_passage(number: int, hit: Hit) -> str:
    """Return a passage with its number and place, in a tag that its text can't close."""
    parts = (hit.filename, hit.heading, hit.page and f"p. {hit.page}", hit.picture and "picture")
    return fenced(number, hit.content, " · ".join(str(part) for part in parts if part))


def fenced(number: int, content: str, place: str = "") -> str:
    """Return a text as a numbered passage; `place` is its source."""
    content = content.replace("</passage", "<​/passage")
    place = place.replace('"', "'").replace("\n", " ")
    source = f' from="{place}"' if place else ""
    return f'<passage number="{number}"{source}>\n{content}\n</passage>'


def citations(
    hits: Iterable[Hit], question: str, key_passages: Mapping[int, str], reasons: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return hits as the entries of a `sources` event, numbered from 1.

    `key_passages` and `reasons` are by chunk id: the part of the hit that contains the answer, which becomes the
    snippet, and the filter model's reason for keeping the hit.
    """
    return [
        {
            "index": number,
            "document_id": hit.document_id,
            "chunk_id": hit.chunk_id,
            "merged": list(hit.merged),
            "filename": hit.filename,
            "title": hit.title or hit.filename,
            "heading": hit.heading,
            "page": hit.page,
            "snippet": key_passages.get(hit.chunk_id) or snippet(hit.content, question),
            "reason": reasons.get(hit.chunk_id, ""),
            "score": hit.score,
            "sources": [source.to_dict() for source in hit.sources],
        }
        for number, hit in enumerate(hits, 1)
    ]

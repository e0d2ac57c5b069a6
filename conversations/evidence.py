"""Passages as a model reads them and as an answer cites them. Pure."""

import re
from typing import Any

from retrieval.analysis import terms
from retrieval.search import Hit

SNIPPET_CHARACTERS = 480
_SPACES = re.compile(r"[ \t]+")


def numbered_passage(number: int, hit: Hit) -> str:
    """Return a passage under its number, fenced so that its end can't be forged from within."""
    place = " · ".join(str(part) for part in (hit.filename, hit.heading, hit.page and f"p. {hit.page}") if part)
    content = hit.content.replace("</passage", "<​/passage")
    return f'<passage number="{number}" from="{_attribute(place)}">\n{content}\n</passage>'


def citation(number: int, hit: Hit, question: str) -> dict[str, Any]:
    """Return the hit as one entry of a `sources` event."""
    return {
        "index": number,
        "document_id": hit.document_id,
        "chunk_id": hit.chunk_id,
        "filename": hit.filename,
        "heading": hit.heading,
        "page": hit.page,
        "snippet": snippet(hit.content, question),
        "score": hit.score,
        "sources": [source.to_dict() for source in hit.sources],
    }


def snippet(content: str, question: str) -> str:
    """Return at most about 480 characters of a passage: the stretch that holds most of the question's words."""
    text = _SPACES.sub(" ", content).strip()
    if len(text) <= SNIPPET_CHARACTERS:
        return text
    wanted = set(terms(question))
    starts = [0, *(match.end() for match in re.finditer(r"(?<=[.!?。！？；\n])\s*", text) if match.end() < len(text))]

    def worth(start: int) -> tuple[int, int, int]:
        """Rank by words held; among equals the one that begins nearest to them, then the first."""
        piece = text[start : start + SNIPPET_CHARACTERS]
        return _overlap(piece, wanted), _overlap(piece[: SNIPPET_CHARACTERS // 4], wanted), -start

    best = max(starts, key=worth)
    piece = text[best : best + SNIPPET_CHARACTERS]
    return ("… " if best else "") + piece.rstrip() + (" …" if best + SNIPPET_CHARACTERS < len(text) else "")


def _overlap(text: str, wanted: set[str]) -> int:
    return len(wanted & set(terms(text)))


def _attribute(text: str) -> str:
    return text.replace('"', "'").replace("\n", " ")

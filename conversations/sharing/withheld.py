"""Withholding of content that is based on documents that the chat's owner may no longer read."""

from collections.abc import Collection, Iterable, Iterator, Set
from typing import Any

from django.utils.translation import ngettext

from conversations.citations.markers import numbers_in
from conversations.citations.verifiers import texts_of
from conversations.events import plain_text
from conversations.models import Citation, Message
from knowledge import access
from knowledge.access import Actor


def readable_documents(user: Actor, ids: Iterable[int | None]) -> set[int]:
    """Return the ids of the documents that exist and that the user may read."""
    found = access.readable_documents(user).filter(pk__in={pk for pk in ids if pk is not None})
    return set(found.values_list("pk", flat=True))


def take_out(message: Message, citations: Collection[Citation], readable: Set[int]) -> list[Citation]:
    """Remove content based on unreadable documents from an answer in memory; return the remaining sources.

    Quotations of deleted documents stay, because they are part of the answer.
    """
    gone = {source.index for source in citations if source.document_id and source.document_id not in readable}
    if gone:
        message.blocks = remaining_blocks(message.blocks, {source.index for source in citations}, gone)
        message.content = plain_text(message.blocks)
        message.checks = remaining_checks(message.checks, gone)
        message.thinking = ""  # may quote any source
    return [source for source in citations if source.index not in gone]


def remaining_checks(checks: Iterable[dict[str, Any]], gone: Set[int]) -> list[dict[str, Any]]:
    """Return the checks of sentences that cite none of the withheld sources."""
    return [check for check in checks if gone.isdisjoint(check["sources"])]


def remaining_blocks(blocks: list[dict[str, Any]], sources: Set[int], gone: Set[int]) -> list[dict[str, Any]]:
    """Return an answer's blocks without content based on withheld sources; no blocks if all sources are withheld.

    A paragraph, table, picture or code block is based on the sources that it cites, or else on those cited last before.
    """
    named = {number for text in texts_of(blocks) for number in numbers_in(text)}
    if (named or sources) <= gone:
        return []
    kept, last = [], set[int]()
    for block in blocks:
        parts = list(_paragraphs(block["text"])) if block["kind"] == "text" else ["\n".join(texts_of([block]))]
        left = []
        for part in parts:
            last = set(numbers_in(part)) or last
            if gone.isdisjoint(last):
                left.append(part)
        if len(left) == len(parts):
            kept.append(block)
        elif left:
            kept.append(block | {"text": "\n\n".join(left)})
    return kept


def note(count: int) -> str:
    """Return a note on how many sources are withheld, and why; empty for none."""
    text = ngettext(
        "%(count)d source and the text based on it are left out, because it is no longer available or no longer "
        "shared with the owner of this chat.",
        "%(count)d sources and the text based on them are left out, because they are no longer available or no longer "
        "shared with the owner of this chat.",
        count,
    )
    return text % {"count": count} if count else ""


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text; code blocks are not split."""
    piece: list[str] = []
    for part in text.split("\n\n"):
        piece.append(part)
        if not sum(each.count("```") for each in piece) % 2:
            yield "\n\n".join(piece)
            piece = []
    if piece:
        yield "\n\n".join(piece)

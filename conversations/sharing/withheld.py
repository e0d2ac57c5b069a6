"""What leaves the site without what rests on documents that the chat's owner may not read any more."""

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
    """Return those of some documents that are there and that the user may read."""
    found = access.readable_documents(user).filter(pk__in={pk for pk in ids if pk is not None})
    return set(found.values_list("pk", flat=True))


def take_out(message: Message, citations: Collection[Citation], readable: Set[int]) -> list[Citation]:
    """Take out of an answer, as it lies in memory, what rests on documents out of reach; return the sources left.

    What was quoted of documents that are deleted since stays: it is the answer's own.
    """
    gone = {source.index for source in citations if source.document_id and source.document_id not in readable}
    if gone:
        message.blocks = remaining_blocks(message.blocks, {source.index for source in citations}, gone)
        message.content = plain_text(message.blocks)
        message.checks = remaining_checks(message.checks, gone)
        message.thinking = ""  # which quotes as it likes
    return [source for source in citations if source.index not in gone]


def remaining_checks(checks: Iterable[dict[str, Any]], gone: Set[int]) -> list[dict[str, Any]]:
    """Return the checks of sentences that name none of the sources that are gone."""
    return [check for check in checks if gone.isdisjoint(check["sources"])]


def remaining_blocks(blocks: list[dict[str, Any]], sources: Set[int], gone: Set[int]) -> list[dict[str, Any]]:
    """Return an answer's blocks without what rests on sources that are gone: nothing where all are.

    A paragraph, a table, a picture or code rests on the sources that it names, or else on those named last before it.
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
    """Say how many sources are left out, and why; empty for none."""
    text = ngettext(
        "%(count)d source and what rests on it are left out: it is no longer there, or no longer shared with the "
        "person whose chat this is.",
        "%(count)d sources and what rests on them are left out: they are no longer there, or no longer shared with "
        "the person whose chat this is.",
        count,
    )
    return text % {"count": count} if count else ""


def _paragraphs(text: str) -> Iterator[str]:
    """Yield what blank lines part, code between fences in one piece."""
    piece: list[str] = []
    for part in text.split("\n\n"):
        piece.append(part)
        if not sum(each.count("```") for each in piece) % 2:
            yield "\n\n".join(piece)
            piece = []
    if piece:
        yield "\n\n".join(piece)

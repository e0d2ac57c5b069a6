"""Answers from whole documents without a model (an outline, a list or a comparison), and remarks on unread parts.

Quotes first refer to their sections, which are then numbered in the order of the text.
"""

from collections.abc import Iterator, Sequence

from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.events import SourcesEvent
from conversations.pipeline.description import reason
from conversations.pipeline.graph import Emit
from conversations.pipeline.state import State
from conversations.pipeline.whole_documents.comparison import Change, Comparison, Said
from conversations.pipeline.whole_documents.listing import Found, Listing
from conversations.pipeline.whole_documents.sections import Reading, Section
from conversations.pipeline.writing.blocks import BlockWriter, escape_markdown
from conversations.pipeline.writing.extractive_answer import reply_language
from conversations.prompts.passages import citations

# The most lines and rows of a list quoted, changed sentences quoted, and headings of unread parts named.
MOST_LISTED, MOST_CHANGES, MOST_UNREAD = 200, 80, 20


# A piece of an answer: Markdown with sections in place of their markers, or the columns and rows of a table.
_Piece = list[str | Section] | tuple[Sequence[str], Sequence[Sequence[str]]]


async def answer(state: State, writer: BlockWriter, emit: Emit) -> None:
    """Write the answer without a model; fill its evidence and citations."""
    reading, prompt = state.found.reading, state.prompt
    if reading is None or reading.result is None:
        return
    hits = {hit.chunk_id: hit for hit in state.found.hits}
    with translation.override(reply_language(state)):
        pieces = list(_pieces(reading))
    for piece in pieces:
        if isinstance(piece, list) and not any(isinstance(part, Section) for part in piece):
            reading.said.append("".join(map(str, piece)))
    numbers: dict[int, int] = {}
    for piece in pieces:
        for part in piece if isinstance(piece, list) else ():
            if isinstance(part, Section) and part.key in hits:
                numbers.setdefault(part.key, len(numbers) + 1)
    prompt.evidence = [hits[key] for key in numbers]
    prompt.citations = citations(prompt.evidence, state.request.question, state.found.key_passages, state.found.reasons)
    prompt.cited = set(numbers.values())
    await emit(SourcesEvent(citations=prompt.citations, answer_state=state.found.answer_state or None))
    for piece in pieces:
        if isinstance(piece, tuple):
            columns, rows = piece
            await writer.table(list(columns), [list(row) for row in rows])
            continue
        markers = {key: f"[{number}]" for key, number in numbers.items()}
        await writer.text("".join(part if isinstance(part, str) else markers.get(part.key, "") for part in piece))
    await writer.close()


async def write_remarks(state: State, writer: BlockWriter) -> None:
    """Write the remarks below an answer: which parts were not read, and that it is quoted if no model wrote it."""
    reading = state.found.reading
    if reading is None:
        return
    with translation.override(reply_language(state)):
        remarks = [text for text in (*_not_read(reading), _cost(reading)) if text]
        if reading.result is not None and reading.reason:
            remark = _("Quoted from your documents, since the language model could not read them: %(reason)s")
            remarks.append("*" + remark % {"reason": reason(reading.reason)} + "*")
        elif reading.result is not None:
            remarks.append("*" + _("Quoted from your documents — no language model is configured.") + "*")
        reading.said += remarks
        for text in remarks:
            await writer.block(text)


def _pieces(reading: Reading) -> Iterator[_Piece]:
    match reading.result:
        case Listing() as listing:
            yield from _listing(reading, listing)
        case Comparison() as comparison:
            yield from _comparison(reading, comparison)
        case dict() as outlines:
            for document_id, entries in outlines.items():
                title = _("The headings of “%(title)s”, each with the first sentence below it:")
                if not any(entry.heading for entry in entries):
                    title = _("Sentences from all parts of “%(title)s”, in order:")
                yield [title % {"title": escape_markdown(reading.titles[document_id])} + "\n\n"]
                for entry in entries:
                    heading = f"**{escape_markdown(entry.heading)}**" + _(": ") if entry.heading else ""
                    yield [f"- {heading}{escape_markdown(entry.sentence)} ", entry.section, "\n"]
                yield ["\n"]


def _listing(reading: Reading, listing: Listing) -> Iterator[_Piece]:
    names = {"subject": escape_markdown(listing.subject), "count": listing.count}
    if listing.sentences:
        title = ngettext(
            "No list or table mentions “%(subject)s”, but %(count)d sentence does:",
            "No list or table mentions “%(subject)s”, but %(count)d sentences do:",
            listing.count,
        )
    else:
        title = ngettext(
            "%(count)d entry on “%(subject)s” in lists and tables:",
            "%(count)d entries on “%(subject)s” in lists and tables:",
            listing.count,
        )
    yield [title % names + "\n\n"]
    left = MOST_LISTED
    several = len(reading.titles) > 1
    for found in listing.found:
        if left <= 0:
            break
        yield from _found(found, left, reading.titles[found.section.document_id] if several else "")
        left -= found.count
    if listing.count > MOST_LISTED:
        yield ["*" + _("These are the first %(shown)d.") % {"shown": MOST_LISTED} + "*\n\n"]


def _found(found: Found, most: int, title: str) -> Iterator[_Piece]:
    place = " › ".join(filter(None, (title, found.section.path[-1] if found.section.path else "")))
    if found.rows:
        yield [f"**{escape_markdown(place)}** " if place else "", found.section, "\n\n"]
        yield found.columns, found.rows[:most]
        return
    if place:
        yield [f"**{escape_markdown(place)}**\n\n"]
    for line in found.lines[:most]:
        yield ["- ", escape_markdown(line), " ", found.section, "\n"]
    yield ["\n"]


def _comparison(reading: Reading, comparison: Comparison) -> Iterator[_Piece]:
    old, new = (escape_markdown(title) for title in reading.titles.values())
    yield [_("How “%(new)s” differs from “%(old)s”:") % {"old": old, "new": new} + "\n\n"]
    left = MOST_CHANGES
    for changed in comparison.changed:
        if left <= 0:
            break
        if changed.heading:
            yield [f"**{escape_markdown(changed.heading)}**\n\n"]
        for change in changed.changes[:left]:
            yield _change(change)
        yield ["\n"]
        left -= len(changed.changes)
    if sum(len(changed.changes) for changed in comparison.changed) > MOST_CHANGES:
        yield ["*" + _("These are the first %(shown)d changes.") % {"shown": MOST_CHANGES} + "*\n\n"]
    for title, groups in ((old, comparison.removed), (new, comparison.added)):
        if groups:
            yield ["**" + _("Only in “%(title)s”") % {"title": title} + "**\n\n"]
            for heading, sections in groups[:MOST_CHANGES]:
                yield ["- ", escape_markdown(heading) or _("(without a heading)"), " ", sections[0], "\n"]
            yield ["\n"]
    if comparison.unchanged:
        remark = ngettext(
            "%(count)d section is the same in both.", "%(count)d sections are the same in both.", comparison.unchanged
        )
        yield [remark % {"count": comparison.unchanged} + "\n\n"]


def _change(change: Change) -> list[str | Section]:
    def quoted(said: Said | None) -> list[str | Section]:
        return [f"“{escape_markdown(said.text)}” ", said.section] if said else []

    old, new = quoted(change.old), quoted(change.new)
    if old and new:
        return ["- ", _("Before:"), " ", *old, "  \n  ", _("Now:"), " ", *new, "\n"]
    return ["- ", _("Removed:") if old else _("Added:"), " ", *old, *new, "\n"]


def _not_read(reading: Reading) -> Iterator[str]:
    """Yield a remark on the sections that the model failed to read, and one on each document too long to read."""
    if reading.failed and reading.result is None:
        remark = ngettext(
            "**%(count)d section could not be read:** %(places)s",
            "**%(count)d sections could not be read:** %(places)s",
            len(reading.failed),
        )
        yield remark % {"count": len(reading.failed), "places": _places(reading.failed)} + "\n\n"
    for unread in reading.unread:
        remark = ngettext(
            "**“%(title)s” is too long to read in full. The last %(count)d section was not read:**",
            "**“%(title)s” is too long to read in full. The last %(count)d sections were not read:**",
            unread.total,
        )
        lines = []
        for heading, page in unread.entries:
            place = _("p. %(page)d") % {"page": page} if page else ""
            lines.append("- " + " · ".join(filter(None, (escape_markdown(heading), place))))
        title = escape_markdown(reading.titles[unread.document_id])
        shown = "\n".join(line for line in lines if line != "- ")
        yield remark % {"title": title, "count": unread.total} + f"\n\n{shown}\n\n"


def _places(sections: Sequence[Section]) -> str:
    """Name sections by their headings or else their pages; of many, only the first and the last."""
    names = []
    for section in sections:
        place = _("p. %(page)d") % {"page": section.page} if section.page else ""
        heading = f"“{escape_markdown(section.path[-1])}”" if section.path else ""
        names.append(f"{heading} ({place})" if heading and place else heading or place)
    names = list(dict.fromkeys(filter(None, names)))
    return _(", ").join(names) if len(names) <= MOST_UNREAD else f"{names[0]} … {names[-1]}"


def _cost(reading: Reading) -> str:
    """Return a remark on the cost of reading more than fits the model's window."""
    if reading.cost is None:
        return ""
    remark = _("Read: %(sections)d sections in %(parts)d parts, %(tokens)s tokens, %(seconds)s s.")
    if not reading.cost.tokens:
        remark = _("Read: %(sections)d sections in %(parts)d parts, %(seconds)s s.")
    figures = {
        "sections": reading.cost.sections,
        "parts": reading.cost.parts,
        "tokens": number_format(reading.cost.tokens, force_grouping=True),
        "seconds": number_format(reading.cost.seconds, 1 if reading.cost.seconds < 10 else 0),
    }
    return f"*{remark % figures}*"

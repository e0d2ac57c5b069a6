"""Export of a chat: one branch as Markdown, or all branches as data."""

import re
from collections.abc import Iterable, Mapping
from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.utils.translation import gettext as _

from conversations import queries, turn_store
from conversations.blocks import kind_of
from conversations.citations.markers import MARKER
from conversations.files import chat_files
from conversations.models import ChatSession, Citation, Message
from conversations.pipeline.writing.blocks import escape_markdown
from conversations.pipeline.writing.pictures import without_pictures
from conversations.queries import TurnView
from conversations.sharing import withheld
from knowledge.locations import place
from ragsite.audit.log import record
from ragsite.models import AuditEntry
from retrieval.types import AnswerState

SNIPPET_LENGTH = 300
_CODE_OR_MARKER = re.compile(rf"(```.*?(?:```|\Z)|`[^`\n]*`)|{MARKER.pattern}", re.DOTALL)
_NUMBER = re.compile(r"\d+")


def filename(session: ChatSession, suffix: str) -> str:
    """Return the file name for the export of a session."""
    return f"{slugify(session.name, allow_unicode=True)[:60].strip('-') or 'chat'}.{suffix}"


def as_file(response: HttpResponse, session: ChatSession, suffix: str) -> HttpResponse:
    """Turn the response into a download named after the session, and record the export in the audit log."""
    response["Content-Disposition"] = content_disposition_header(True, filename(session, suffix))
    record(AuditEntry.Action.EXPORTED, session, name=f"#{session.pk}", format=suffix)
    return response


def markdown(session: ChatSession, through: int | None = None, site: str = "") -> str:
    """Return one branch of a session as Markdown, by default the newest: quoted questions, answers and their sources.

    Pictures are links to the `site`, given as `https://` and host.
    """
    exported = _("Exported on %(date)s.") % {"date": date_format(timezone.localtime(), "DATE_FORMAT")}
    views = queries.transcript(session, through)
    readable = _readable(session, [source for view in views for source in view.citations])
    left_out = 0
    for view in views:
        cited = sum(source.cited for source in view.citations)
        view.citations = withheld.take_out(view.answer, view.citations, readable)
        left_out += cited - sum(source.cited for source in view.citations)
    # Turns that continue a cut answer are merged with it, or replace it if the model started over.
    answers: list[list[TurnView]] = []
    for view in views:
        last = answers[-1] if answers else []
        if not (view.turn.continues and last and last[-1].turn.pk == view.turn.parent_turn_id):
            answers.append([view])
        elif view.answer.content.startswith(last[-1].answer.content):
            last[-1] = view
        else:
            last.append(view)
    turns = [_turn(parts, site) for parts in answers]
    if files := [f"- {escape_markdown(_line(document.name))}" for document in chat_files.files_of(session)]:
        turns.insert(0, f"**{_('Files of this chat')}**\n\n" + "\n".join(files))
    if left_out:
        turns.append(f"*{withheld.note(left_out)}*")
    return "\n\n".join([f"# {_line(session.name)}", f"*{exported}*", *turns]) + "\n"


def answer(view: TurnView, site: str, addresses: Mapping[int, str]) -> str:
    """Return an answer as Markdown, followed by the list of its cited sources with links to those with an address."""
    words = partial(_edited, numbers={})
    parts = [kind_of(block).markdown(block, words, site) for block in view.answer.blocks]
    listed = []
    for source in sorted(view.citations, key=lambda source: source.index):
        if source.cited:
            named, address = escape_markdown(_line(source.title or source.filename)), addresses.get(source.index)
            named = f"[{named}]({address})" if address else named
            file = source.filename if source.title and source.title != source.filename else ""
            where = [file, place(source.filename, source.page, source.heading)]
            details = [escape_markdown(_line(part)) for part in where if part]
            listed.append(f"- [{source.index}] {' · '.join([named, *details])}")
    if listed:
        parts.append(f"**{_('Sources')}**\n\n" + "\n".join(listed))
    return "\n\n".join(part for part in parts if part)


def messages(session: ChatSession) -> tuple[list[Message], str]:
    """Return the messages of all branches, oldest first, with their citations, and a note on withheld sources.

    The messages form a tree by the parents of their turns. The note is empty if nothing is withheld.
    """
    turn_store.interrupt_stale(session_id=session.pk)
    found = list(queries.message_list(Message.objects.filter(turn__session=session)))
    readable = _readable(session, [source for message in found for source in message.citations.all()])
    left_out = 0
    for message in found:
        sources = list(message.citations.all())
        kept = withheld.take_out(message, sources, readable)
        message._prefetched_objects_cache["citations"] = kept  # type: ignore[attr-defined]
        left_out += len(sources) - len(kept)
    return found, withheld.note(left_out)


def _readable(session: ChatSession, sources: Iterable[Citation]) -> set[int]:
    return withheld.readable_documents(session.owner, [source.document_id for source in sources])


def _turn(views: list[TurnView], site: str) -> str:
    """Return a question with its answer; sources of continuations are numbered on from those before."""
    asked = "\n".join(f"> {line}".rstrip() for line in views[0].question.content.splitlines())
    parts = ["---", asked]
    if views[-1].answer.answer_state in (AnswerState.NEAREST, AnswerState.NOTHING):
        parts.append(f"*({views[-1].answer.get_answer_state_display()})*")
    sources: dict[int, Citation] = {}
    known: dict[tuple[int | None, str], int] = {}
    for view in views:
        numbers: dict[int, int] = {}
        cited = [source for source in view.citations if source.cited]
        for source in cited:
            free = max(sources) + 1 if source.index in sources else source.index
            numbers[source.index] = known.get((source.chunk_id, source.snippet), free)
            sources.setdefault(numbers[source.index], source)
        known |= {(source.chunk_id, source.snippet): numbers[source.index] for source in cited}
        words = partial(_edited, numbers=numbers)
        parts += [kind_of(block).markdown(block, words, site) for block in view.answer.blocks]
    if views[-1].answer.status != Message.Status.COMPLETED:
        parts.append(f"*({views[-1].answer.get_status_display()})*")
    listed = []
    for number, source in sorted(sources.items()):
        called = [source.title, source.filename] if source.title != source.filename else [source.filename]
        where = [*called, source.heading, place(source.filename, source.page, source.heading)]
        snippet = _line(source.snippet)
        if len(snippet) > SNIPPET_LENGTH:
            snippet = snippet[:SNIPPET_LENGTH].rstrip() + "…"
        listed.append(f"- [{number}] {' · '.join(_line(part) for part in where if part)}: “{snippet}”")
    if listed:
        parts.append(f"**{_('Sources')}**\n\n" + "\n".join(listed))
    return "\n\n".join(part for part in parts if part)


def _edited(text: str, numbers: Mapping[int, int]) -> str:
    """Return a text with renumbered citation markers, and without pictures; code is unchanged.

    Answers of earlier versions may have foreign pictures.
    """

    def replaced(match: re.Match[str]) -> str:
        return match[1] or _NUMBER.sub(lambda number: str(numbers.get(int(number[0]), number[0])), match[0])

    return _CODE_OR_MARKER.sub(replaced, without_pictures(text))


def _line(text: str) -> str:
    return " ".join(text.split())

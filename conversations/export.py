"""A chat to take along: one branch as Markdown, or all branches as data."""

import re
from collections.abc import Iterable
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import slugify
from django.utils.translation import gettext as _

from conversations import queries, store
from conversations.frames import table_row
from conversations.models import ChatSession, Citation, Message
from conversations.queries import TurnView
from knowledge.places import place
from retrieval.types import AnswerState

SNIPPET_LENGTH = 300


def filename(session: ChatSession, suffix: str) -> str:
    """Return a name for the file of a session."""
    return f"{slugify(session.title, allow_unicode=True)[:60].strip('-') or 'chat'}.{suffix}"


def markdown(session: ChatSession, through: int | None = None, site: str = "") -> str:
    """Return one branch of a session as Markdown, by default the newest: questions quoted, answers, their sources.

    Pictures are links into the `site`, `https://` and host.
    """
    exported = _("Exported on %(date)s.") % {"date": date_format(timezone.localtime(), "DATE_FORMAT")}
    turns = [_turn(view, site) for view in queries.transcript(session, through)]
    return "\n\n".join([f"# {_line(session.title)}", f"*{exported}*", *turns]) + "\n"


def messages(session: ChatSession) -> list[Message]:
    """Return the messages of all branches, oldest first, with their citations; a tree by their turns' parents."""
    store.interrupt_stale(session_id=session.pk)
    return list(queries.message_list(Message.objects.filter(turn__session=session)))


def _turn(view: TurnView, site: str) -> str:
    asked = "\n".join(f"> {line}".rstrip() for line in view.question.content.splitlines())
    parts = ["---", asked]
    if view.answer.answer_state in (AnswerState.NEAREST, AnswerState.NOTHING):
        parts.append(f"*({view.answer.get_answer_state_display()})*")
    parts += (_block(block, site) for block in view.answer.blocks)
    if view.answer.status != Message.Status.COMPLETED:
        parts.append(f"*({view.answer.get_status_display()})*")
    cited = [source for source in view.citations if source.cited]
    if cited:
        parts.append(f"**{_('Sources')}**\n\n" + "\n".join(map(_source, cited)))
    return "\n\n".join(part for part in parts if part)


def _block(block: dict[str, Any], site: str) -> str:
    match block["kind"]:
        case "table":
            return _table(block["columns"], block["rows"])
        case "image" if block["url"]:
            address = f"{site}{block['url']}"
            return f"[{_line(block['alt']) or address}]({address})"
        case "image":
            return f"*[{_line(block['alt'])}]*" if block["alt"] else ""
        case "code":
            text = block["text"].rstrip("\n")
            fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", text))])
            return f"{fence}{block['language']}\n{text}\n{fence}"
        case _:
            return str(block["text"]).strip()


def _table(columns: list[Any], rows: Iterable[list[Any]]) -> str:
    return "".join([table_row(columns), table_row(["---"] * len(columns)), *map(table_row, rows)]).rstrip()


def _source(source: Citation) -> str:
    called = [source.title, source.filename] if source.title != source.filename else [source.filename]
    where = [*called, source.heading, place(source.filename, source.page, source.heading)]
    snippet = _line(source.snippet)
    cut = snippet if len(snippet) <= SNIPPET_LENGTH else snippet[:SNIPPET_LENGTH].rstrip() + "…"
    return f"- [{source.index}] {' · '.join(_line(part) for part in where if part)}: “{cut}”"


def _line(text: str) -> str:
    return " ".join(text.split())

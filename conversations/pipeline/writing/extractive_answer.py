"""Answers without a language model: quotes, tables and pictures, each with its source; and notes on answers."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.events import SourcesEvent
from conversations.history import ENDINGS
from conversations.models import QUOTING
from conversations.pipeline.graph import Emit
from conversations.pipeline.state import State
from conversations.pipeline.writing import small_talk
from conversations.pipeline.writing.blocks import BlockWriter, escape_markdown
from conversations.pipeline.writing.quoting import topics
from conversations.pipeline.writing.quoting.extractive import Extract, Form, extract
from conversations.pipeline.writing.quoting.from_rows import FromRows
from conversations.pipeline.writing.quoting.quotes import Quote
from conversations.pipeline.writing.quoting.similarity import similarity_to
from conversations.pipeline.writing.quoting.surroundings import Surroundings, around
from conversations.prompts.passages import citations
from ragsite.db import DATABASE_UNAVAILABLE, in_database
from ragsite.language.detection import LANGUAGE_NAMES, UI_LANGUAGE
from ragsite.language.facts import code_in_a_series
from ragsite.language.sentences import join_sentences
from ragsite.language.small_talk import asks_for_topics
from ragsite.llm.errors import LLMError
from ragsite.site_settings.config import config
from retrieval.answerability.gate import FIRST_PASSAGES
from retrieval.answerability.question_weights import weigh_words
from retrieval.engine import spaces
from retrieval.search import Hit

logger = logging.getLogger(__name__)

MODEL = QUOTING


def nothing_found(state: State) -> str:
    """Return a note that the documents contain nothing, or which ones can't be searched, in the reply's language."""
    with translation.override(reply_language(state)):
        if not state.found.knowledge_base_ids:
            return _("There is nothing to search. Add documents, or change the selection below.") + "\n\n"
        if note := unsearched_note(state):
            nothing = _("The documents that this question can search contain nothing about this.")
            return join_sentences(nothing, note) + "\n\n"
        if named := state.found.named.document_ids:
            nothing = ngettext(
                "The document named in your question contains nothing about this. To search all your documents, ask "
                "without naming it.",
                "The documents named in your question contain nothing about this. To search all your documents, ask "
                "without naming them.",
                len(named),
            )
            return nothing + "\n\n"
        if state.found.document_ids or state.found.labels:
            nothing = _(
                "The selected documents contain nothing about this. To search all your documents, change the selection "
                "below."
            )
            return nothing + "\n\n"
        return _("Your documents contain nothing about this.") + "\n\n"


def unsearched_note(state: State) -> str:
    """Return a note on the passages that a question can't search, with advice.

    It is empty if there are none, or if an earlier answer of the chat has the note.
    """
    if not state.found.unsearched or _has_been_told(state):
        return ""
    with translation.override(reply_language(state)):
        language, count = max(state.found.unsearched.items(), key=lambda item: item[1])
        message = ngettext(
            "%(count)d passage is in %(theirs)s. Questions in %(mine)s can't search it, because the embedding model "
            "does not cover both languages.",
            "%(count)d passages are in %(theirs)s. Questions in %(mine)s can't search them, because the embedding "
            "model does not cover both languages.",
            count,
        )
        theirs, mine = (str(LANGUAGE_NAMES.get(code, code)) for code in (language, state.request.question_language))
        return join_sentences(message % {"count": count, "theirs": theirs, "mine": mine}, _advice(language))


def _advice(language: str) -> str:
    theirs = str(LANGUAGE_NAMES.get(language, language))
    advice = _("Ask in %(theirs)s, or have an administrator choose a multilingual embedding model.")
    return advice % {"theirs": theirs}


def _has_been_told(state: State) -> bool:
    """Return whether an earlier answer of the chat has the note on documents that a question can't search."""
    for interface in set(UI_LANGUAGE.values()):
        with translation.override(interface):
            advice = [_advice(language) for language in state.found.unsearched]
        if any(text in turn.answer for turn in state.past.turns for text in advice):
            return True
    return False


def from_general_knowledge(state: State) -> str:
    """Return the line above an answer that says it comes from general knowledge."""
    with translation.override(reply_language(state)):
        return _("**From general knowledge, not from your documents:**") + "\n\n"


def ended_early(state: State, reason: str) -> str:
    """Return the note below a cut answer, by the model's `finish_reason`; empty if the answer is complete."""
    with translation.override(reply_language(state)):
        return str(ENDINGS.get(reason, ""))


def reply_language(state: State) -> str:
    """Return the language code for the site's own words in an answer."""
    language = config.ANSWER_LANGUAGE if config.ANSWER_LANGUAGE != "question" else state.request.question_language
    language = state.request.wishes.language or language
    return UI_LANGUAGE.get(language, "en")


def lists_topics(state: State) -> bool:
    """Return whether the answer lists the documents: the question is what can be asked, and they are searched."""
    return config.ANSWER_MODE != "chat" and asks_for_topics(state.request.question)


async def answer(state: State, writer: BlockWriter, emit: Emit) -> None:
    """Write the answer without a model."""
    with translation.override(reply_language(state)):
        if state.plan.action == "answer_chat":
            if lists_topics(state):
                await writer.text(topics.as_markdown(await in_database(topics.topics_of, state.request)))
            else:
                await writer.text(small_talk.reply(state.request.question))
        elif state.plan.action == "clarify":
            await writer.text(small_talk.clarifying_question(state.request.question))
        elif state.found.hits:
            await _quote(state, writer, emit)


@dataclass(frozen=True, slots=True)
class _Section:
    """What is quoted for a question or a part of it: its hits, with those that quoted ones announce at the end."""

    question: str
    hits: Sequence[Hit]
    chosen: Extract


async def quote_instead(state: State, writer: BlockWriter, emit: Emit) -> None:
    """Quote the passages that a model was to answer from, since it failed."""
    state.prompt.model = ""
    with translation.override(reply_language(state)):
        line = _("**The language model did not answer. These are quotes from your documents instead:**") + "\n\n"
        await _quote(state, writer, emit, line)


async def _quote(state: State, writer: BlockWriter, emit: Emit, instead: str = "") -> None:
    """Quote the answer to the question, or to each part that was searched separately.

    `instead` is a line above the quotes that says why they replace a model's answer.
    """
    found, prompt = state.found, state.prompt
    question = state.plan.ranking_query or state.request.question
    answered = [part for part in found.parts if part.answer_state != "nothing"]
    asked = [(part.question, [hit for hit in found.hits if part.holds(hit)]) for part in answered]
    try:
        surroundings = await in_database(around, found.hits)
    except DATABASE_UNAVAILABLE as error:
        logger.warning("Quoting without what stands around passages: %s", type(error).__name__)
        surroundings = Surroundings()
    sections = [await _section(text, hits, surroundings, state) for text, hits in asked or [(question, found.hits)]]
    used = [section.hits[position] for section in sections for position in section.chosen.hits]
    first = list({hit.chunk_id: hit for hit in used or found.hits[:3]}.values())
    rest = [hit for hit in found.hits if hit.chunk_id not in {taken.chunk_id for taken in first}]
    prompt.evidence = [*first, *rest][: max(FIRST_PASSAGES, len(first))]
    numbers = {hit.chunk_id: number for number, hit in enumerate(prompt.evidence, 1)}
    prompt.citations = citations(prompt.evidence, question, found.key_passages, found.reasons)
    if len(sections) == 1 and used:
        chosen = sections[0].chosen
        # A part of a list doesn't answer, nor do others of a series, and what all rows of a table say does.
        said = (f"{hit.heading} {hit.filename} {hit.content}" for hit in found.hits)
        if chosen.is_partial or code_in_a_series(state.request.question, said):
            found.answer_state = "nearest"
        elif chosen.computed is not None or chosen.holds_cell:
            found.answer_state = "answered"
    elif not used:
        found.answer_state = "nearest"
    await emit(SourcesEvent(citations=prompt.citations, answer_state=found.answer_state or None))
    await writer.block(instead)
    if found.answer_state == "nearest":
        await writer.block(_("Your documents don't answer this directly. These passages come closest:") + "\n\n")
    prompt.cited = {numbers[hit.chunk_id] for hit in used}
    for section in sections:
        if asked and section.chosen.hits:
            await writer.text(f"**{escape_markdown(_as_title(section.question))}**\n\n")
        await _write(state, section, numbers, writer)
    await writer.close()
    await writer.block(parts_without_source(state))
    if found.answer_state == "nearest" and found.unsearched:
        await writer.block(unsearched_note(state))
    if not instead:
        # A separate block, which the page shows in a subdued style; API clients get it too.
        await writer.text("*" + _("Quoted from your documents — no language model is configured.") + "*")


def parts_without_source(state: State) -> str:
    """Return the note on parts of the question without an answer; empty if all parts have the same state."""
    by_state: dict[str, list[str]] = {}
    for part in state.found.parts:
        by_state.setdefault(part.answer_state, []).append(f"- {escape_markdown(_as_title(part.question))}")
    if len(by_state) < 2:
        return ""
    with translation.override(reply_language(state)):
        titles = {
            "nearest": _("Your documents contain only related passages on:"),
            "nothing": _("Your documents contain nothing on:"),
        }
        lists = ("\n".join([f"**{title}**\n", *by_state[key]]) for key, title in titles.items() if key in by_state)
        return "\n\n".join(lists)


def _as_title(part: str) -> str:
    """Return a part of a question as a heading; names such as "work_mem" keep their lowercase letters."""
    return part[:1].upper() + part[1:] if part.partition(" ")[0].isalpha() else part


async def _section(question: str, hits: list[Hit], surroundings: Surroundings, state: State) -> _Section:
    """Choose what to quote; by words alone if the embedding model fails or takes longer than a search may."""
    asked = weigh_words(question, state.found.frequencies)
    wishes = state.request.wishes
    form = Form(wishes.length or config.ANSWER_LENGTH, wishes.sentences, wishes.language)
    try:
        async with asyncio.timeout(settings.SEARCH_TIMEOUT):
            similarity = await similarity_to(question)
            chosen = await spaces.with_model(extract, question, asked, hits, similarity, form, surroundings)
    except (LLMError, TimeoutError) as error:
        logger.warning("Choosing quotes by words alone: %s", type(error).__name__)
        chosen = await asyncio.to_thread(extract, question, asked, hits, None, form, surroundings)
    return _Section(question, [*hits, *chosen.following], chosen)


async def _write(state: State, section: _Section, numbers: dict[int, int], writer: BlockWriter) -> None:
    chosen = section.chosen
    quotes = {quote.hit: quote for quote in chosen.quotes}
    for position in chosen.hits:
        hit = section.hits[position]
        number = numbers[hit.chunk_id]
        pictured = position in chosen.pictures and hit.chunk_id in state.found.pictures
        # A picture's description is part of its block; if the picture could not be stored, it is quoted instead.
        if position in quotes and not pictured:
            await writer.text(_paragraph(quotes[position], number, _title(hit, number)))
        elif position in chosen.pictures and not pictured:
            await writer.text(_paragraph(Quote(position, [hit.content]), number, _title(hit, number)))
        if position in chosen.tables:
            rows = chosen.tables[position]
            await writer.text(_title(hit, number, chosen.labels.get(position, "")))
            if chosen.computed is not None:
                await writer.text(_said_by_rows(chosen.computed))
            await writer.table([str(column) for column in hit.columns or ()], rows)
            if len(rows) < chosen.sizes.get(position, 0):
                left_out = _("%(shown)d of %(total)d rows") % {"shown": len(rows), "total": chosen.sizes[position]}
                await writer.block(f"*{left_out}*\n\n")
        if pictured:
            await writer.text(_title(hit, number))
            await writer.picture(state.found.pictures[hit.chunk_id])


def _said_by_rows(computed: FromRows) -> str:
    """Return the line above a table that says what its rows say together."""
    column = escape_markdown(computed.column)
    if computed.limit:
        within = ngettext(
            "**%(count)d** entry with “%(column)s” %(limit)s:",
            "**%(count)d** entries with “%(column)s” %(limit)s:",
            computed.answering,
        )
        shown = {"count": computed.answering, "column": column, "limit": escape_markdown(computed.limit)}
        return within % shown + "\n\n"
    if computed.count is not None:
        counted = ngettext(
            "**%(count)d** entry in the column “%(column)s”:",
            "**%(count)d** entries in the column “%(column)s”:",
            computed.count,
        )
        return counted % {"count": computed.count, "column": column} + "\n\n"
    line = _("By “%(column)s”, **%(value)s** comes first:")
    return line % {"column": column, "value": escape_markdown(computed.value)} + "\n\n"


def _paragraph(quote: Quote, number: int, title: str) -> str:
    """Return a quote as Markdown, with a marker after its first sentence and at its end, and an ellipsis for each gap.

    Code has no marker of its own, as it would be alone on a line; a quote of code only gets the title instead. The
    passage's line breaks are kept, since they matter in steps and lists.
    """
    marker = f" [{number}]"
    parts: list[str] = []
    prose = [index for index, sentence in enumerate(quote.sentences) if not sentence.startswith("```")]
    for index, sentence in enumerate(quote.sentences):
        if sentence.startswith("```"):
            parts.append(f"\n\n{sentence.rstrip()}\n\n")
            continue
        gap = "\n\n… " if index in quote.gaps else ""
        marked = marker if index in (prose[0], prose[-1]) else ""
        space = sentence[len(sentence.rstrip()) :]
        ends = " " if space else ""
        if "\n" in space:
            ends = "\n\n" if "\n\n" in space else "  \n"
        parts.append(gap + escape_markdown(sentence.strip()) + marked + ends)
    label = f"**{escape_markdown(quote.label)}**" + _(": ") if quote.label and prose else ""
    text = label + "".join(parts).strip() + "\n\n"
    return text if prose else title + text


def _title(hit: Hit, number: int, label: str = "") -> str:
    """Return the line above a table or a picture: its document's version or its section, and a marker."""
    section = label or (hit.heading.rpartition(" › ")[2] if hit.heading else hit.filename)
    return f"**{escape_markdown(section)}** [{number}]\n\n"

"""Reads whole documents for a question that a few passages can't answer."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.description import Description, reason
from conversations.pipeline.graph import Context, Node, elapsed
from conversations.pipeline.node_run import step_event
from conversations.pipeline.state import State
from conversations.pipeline.understanding.choices import distinct_names
from conversations.pipeline.understanding.scope import Scope
from conversations.pipeline.whole_documents.comparison import Comparison, compare
from conversations.pipeline.whole_documents.documents import Meant, meant, passages_of
from conversations.pipeline.whole_documents.listing import listed
from conversations.pipeline.whole_documents.notes import FRAME, Groups, Reader
from conversations.pipeline.whole_documents.requests import may_want_whole
from conversations.pipeline.whole_documents.sections import (
    ENTRIES,
    SOURCES,
    Cost,
    Reading,
    Section,
    Unread,
    headings_of,
    leading_sentence,
    merge_neighbours,
    outline,
    sections_of,
)
from conversations.pipeline.writing.extractive_answer import reply_language
from conversations.pipeline.writing.whole_answer import MOST_UNREAD
from conversations.prompts import calibration, side_calls
from conversations.prompts.budget import Window
from conversations.prompts.compose import NEWEST_SHARE
from conversations.prompts.endpoints import endpoint_for
from conversations.prompts.no_reply import NoReply
from conversations.prompts.templates import get_prompt
from ragsite.db import in_database
from ragsite.llm.types import Endpoint
from ragsite.site_settings.config import config
from retrieval.search import Hit

# The share of the free window that unabridged documents may take, since token counts are estimates.
SHARE = 0.9


class ReadDocuments(Node):
    """Summarises whole documents, lists something in them or compares two, instead of a search.

    Documents that fit the model's window are passed to it unabridged. For longer ones it takes notes on one part after
    another, several concurrently. Without a model, or if it couldn't read any of them, the answer is quoted.
    """

    key = "read_documents"
    title = gettext_lazy("Read the documents")
    timeout = None  # `READ_TIMEOUT` limits it; the answer is then written from what was read
    on_error = "skip"
    reports = ("read_documents",)
    after = ("load_history", "memory", "system_context", "wait_for_files")
    branches = ("understand",)  # which handles every other question
    may_read = ("past.turns", "plan.reply")
    writes = (
        "plan.whole", "plan.reply", "plan.action", "found.reading", "found.hits", "found.key_passages",
        "found.answer_state", "found.choices",
        "found.knowledge_base_ids", "found.document_ids", "found.general_knowledge_allowed", "answer.usage",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """Return whether the question may be a request about whole documents, judging by its words."""
        replied = bool(state.plan.reply) or config.ANSWER_MODE == "chat"
        return not replied and may_want_whole(state.request.asked)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `whole`, `reading` and `hits`, or `reply`, perhaps with `choices`, if the documents can't be read."""
        began = time.perf_counter()
        in_language = translation.override(reply_language(state))(meant)
        found, scope = await in_database(in_language, state.request, state.past.turns)
        if found is None:
            return
        if found.reply:
            state.plan.action = "answer_chat" if found.request.kind == "documents" else "clarify"
            state.plan.reply, state.found.choices = found.reply, list(found.choices)
            ctx.note(kind=found.request.kind, documents=[document.pk for document in found.documents], refused=True)
            return
        step = replace(step_event(self, "processing"), step=3)
        await ctx.emit(step)
        try:
            await self._read(state, ctx, found, scope)
        except Exception:
            await ctx.emit(replace(step, status="error", ms=elapsed(began)))
            raise
        message = self.message(state, ctx.detail)
        await ctx.emit(replace(step, status="completed", message=message, ms=elapsed(began)))

    async def _read(self, state: State, ctx: Context, meant: Meant, scope: Scope) -> None:
        titles = distinct_names(meant.documents)
        kind = meant.request.kind
        ctx.note(kind=kind, documents=list(titles), files=[document.path for document in meant.documents])
        read, rest = await in_database(passages_of, meant.documents, config.READ_MAX_TOKENS)
        sections = await asyncio.to_thread(sections_of, read)
        left = sections_of(rest)
        unread = await asyncio.to_thread(
            lambda: [Unread(pk, headings_of(own, MOST_UNREAD), len(own)) for pk, own in _by_document(left).items()]
        )
        reading = Reading(kind, titles, unread=unread)
        tokens = sum(section.tokens for section in sections)
        ctx.note(sections=len(sections), tokens=tokens, unread=sum(unread.total for unread in reading.unread))
        comparison: Comparison | None = None
        units = given = [(section, section.content) for section in sections]
        groups: Groups = [[unit] for unit in units]
        if kind == "changes":
            old, new = ([each for each in sections if each.document_id == pk] for pk in titles)
            comparison = await asyncio.to_thread(compare, old, new)
            groups = _side_by_side(comparison, titles, state.request.question_language)
        same = comparison is not None and comparison.same
        if not sections or same:
            with translation.override(reply_language(state)):
                if same and sections:
                    pair = dict(zip(("old", "new"), titles.values(), strict=True))
                    state.plan.reply = _("“%(old)s” and “%(new)s” have the same text in every section.") % pair
                else:
                    listed = _(", ").join(f"“{document.name}”" for document in meant.documents)
                    state.plan.reply = _("There is no text to read in %(names)s.") % {"names": listed}
            state.plan.action = "answer_chat"
            return
        by_id = {document.pk: document for document in meant.documents}

        def hit_of(section: Section) -> Hit:
            document = by_id[section.document_id]
            return section.hit(document.knowledge_base_id, document.original_filename, titles[document.pk])

        endpoint = await endpoint_for("answer")
        if endpoint is not None:
            given = await self._for_model(state, ctx, reading, groups, hit_of, endpoint)
        if endpoint is None or reading.reason:
            names = [name for document in meant.documents for name in (document.title, document.original_filename)]
            reading.result = comparison or await asyncio.to_thread(
                _quotable, kind, meant.request.subject, sections, len(titles), names
            )
            given = units
        else:
            reading.given = {section.key: text for section, text in given}
        found, state.plan.whole = state.found, kind
        found.reading, found.hits = reading, [hit_of(section) for section, _text in given]
        found.key_passages = {section.key: leading_sentence([section]) for section, _text in given}
        if getattr(reading.result, "count", 1) == 0:  # an empty list
            found.hits, reading.result = [], None
        found.answer_state = "answered" if found.hits else "nothing"
        found.knowledge_base_ids, found.document_ids = scope.knowledge_base_ids, tuple(titles)
        found.general_knowledge_allowed = False

    async def _for_model(
        self,
        state: State,
        ctx: Context,
        reading: Reading,
        groups: Groups,
        hit_of: Callable[[Section], Hit],
        endpoint: Endpoint,
    ) -> list[tuple[Section, str]]:
        """Return the material for the model: the sections if they fit, else notes; fill `reason` if there are none."""
        request, language = state.request, state.request.question_language
        room, fits = await in_database(_room, endpoint, request.asked, language, bool(state.past.turns), groups)
        if fits:
            reading.form = "changes" if reading.kind == "changes" else "sections"
            units = [unit for group in groups for unit in group]
            return units if reading.kind == "changes" or len(units) <= SOURCES else merge_neighbours(units, SOURCES)

        async def report(done: int, total: int, condenses: bool) -> None:
            progress = _("Reading the documents: %(done)d of %(total)d parts done")
            if condenses:
                progress = _("Condensing the notes: %(done)d of %(total)d parts done")
            part = progress % {"done": done, "total": total}
            size = number_format(ctx.detail["tokens"], force_grouping=True)
            message = f"{part} · {_('about %(tokens)s tokens') % {'tokens': size}}"
            await ctx.emit(replace(step_event(self, "processing", message), step=3))

        began = time.perf_counter()
        reader = Reader(side_calls.quoted(request.asked), language, hit_of, report)
        notes = reader.notes
        try:
            await reader.read(groups, room)
        except NoReply as none:
            reading.reason = none.reason
        finally:
            if notes.prompt_tokens or notes.completion_tokens:
                state.answer.usage = {
                    "prompt_tokens": notes.prompt_tokens,
                    "completion_tokens": notes.completion_tokens,
                }
            ctx.note(
                model=notes.model,
                parts=notes.parts,
                calls=notes.calls,
                rounds=notes.rounds,
                prompt_tokens=notes.prompt_tokens,
                completion_tokens=notes.completion_tokens,
                failed=len(notes.failed),
                reason=notes.reason,
            )
        reading.failed, reading.form = notes.failed, "notes"
        used = notes.prompt_tokens + notes.completion_tokens
        reading.cost = Cost(ctx.detail["sections"], notes.parts, used, elapsed(began) / 1000)
        return notes.taken

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return how many sections and tokens were read, and in how many parts."""
        return " · ".join(words for _label, words in _counted(detail))

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe what was read of which files, by which model and at what cost."""
        kinds = {
            "summary": _("a summary"),
            "list": _("a list"),
            "changes": _("a comparison"),
            "documents": _("the names of the documents"),
        }
        description = Description()
        if "kind" not in detail:
            return description
        description.facts.append((_("Asked for"), kinds.get(detail["kind"], str(detail["kind"]))))
        if detail.get("refused") and detail["documents"]:
            count = len(detail["documents"])
            words = ngettext("%(count)d document", "%(count)d documents", count) % {"count": count}
            description.facts.append((_("Not read"), words))
        description.add(_("Files"), ", ".join(detail.get("files", ())))
        description.facts += _counted(detail)
        description.add(_("Model"), detail.get("model"))
        if detail.get("calls"):
            sizes = {
                name: number_format(detail[f"{name}_tokens"], force_grouping=True) for name in ("prompt", "completion")
            }
            description.add(_("Calls"), detail["calls"])
            description.add(_("Tokens"), _("%(prompt)s read, %(completion)s written") % sizes)
        description.add(_("Condensing rounds"), detail.get("rounds"))
        if detail.get("unread"):
            description.facts.append((_("Too long to read"), _sections(detail["unread"])))
        if detail.get("failed"):
            description.facts.append(
                (_("Could not be read"), f"{_sections(detail['failed'])}. {reason(detail['reason'])}")
            )
        return description


def _room(endpoint: Endpoint, question: str, language: str, follows: bool, groups: Groups) -> tuple[int, bool]:
    """Return how many tokens the answer's prompt has for documents, and whether they fit unabridged."""
    window = Window.of(endpoint.context_window, endpoint.max_tokens, calibration.factor_of(endpoint.model))
    taken = sum(map(window.measure, get_prompt("answer", language).fill(question=question, evidence="")))
    share = SHARE - NEWEST_SHARE if follows else SHARE
    room = int(max(0, window.limit - taken) * share)
    size = 0
    for _section, text in (unit for group in groups for unit in group):
        size += window.measure(text) + FRAME
        if size > room:
            return room, False
    return room, True


def _quotable(kind: str, subject: str, sections: Sequence[Section], documents: int, names: Sequence[str]) -> object:
    if kind == "list":
        return listed(subject, sections, names)
    most = max(5, ENTRIES // documents)
    return {pk: outline(own, most) for pk, own in _by_document(sections).items()}


def _side_by_side(comparison: Comparison, titles: Mapping[int, str], language: str) -> list[list[tuple[Section, str]]]:
    """Return the differences as a model is shown them: grouped by heading, each section labelled with its document."""
    whose = {
        "en": ("In the older document, “{}”:", "In the newer document, “{}”:", "It has no such section."),
        "zh": ("旧文档《{}》：", "新文档《{}》：", "另一份没有这一节。"),
    }[language]
    label = {pk: words.format(title) for (pk, title), words in zip(titles.items(), whose[:2], strict=True)}
    groups = [
        [(section, f"{label[section.document_id]}\n{section.content}") for section in changed.sections]
        for changed in comparison.changed
    ]
    for _heading, sections in (*comparison.removed, *comparison.added):
        groups.append([(each, f"{label[each.document_id]} {whose[2]}\n{each.content}") for each in sections])
    once: list[list[tuple[Section, str]]] = []
    seen: set[int] = set()  # a merged section appears under several headings
    for group in groups:
        once.append([unit for unit in group if unit[0].key not in seen])
        seen |= {section.key for section, _text in group}
    return [group for group in once if group]


def _by_document(sections: Iterable[Section]) -> dict[int, list[Section]]:
    """Return sections by the id of their document, in order."""
    found: dict[int, list[Section]] = defaultdict(list)
    for section in sections:
        found[section.document_id].append(section)
    return found


def _sections(count: int) -> str:
    return ngettext("%(count)d section", "%(count)d sections", count) % {"count": count}


def _counted(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    if "sections" not in detail:
        return []
    tokens = number_format(detail["tokens"], force_grouping=True)
    facts = [
        (_("Read"), _sections(detail["sections"])),
        (_("Length"), _("about %(tokens)s tokens") % {"tokens": tokens}),
    ]
    if detail.get("parts"):
        parts = ngettext("in %(count)d part", "in %(count)d parts", detail["parts"]) % {"count": detail["parts"]}
        facts.append((_("Parts"), parts))
    return facts

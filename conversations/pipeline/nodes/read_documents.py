"""Read documents from beginning to end, for a question that a few passages can't answer."""

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
    joined,
    leading_sentence,
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

# The part of the window that documents may take in which they are answered from as they are: counts are estimates.
SHARE = 0.9


class ReadDocuments(Node):
    """Sums up whole documents, lists something of them, or compares two: then nothing is searched for.

    What fits the model's window is given to it as it is. Of more it takes notes, part by part, some side by side.
    Without a model, or where it could read nothing, what answers is quoted.
    """

    key = "read_documents"
    title = gettext_lazy("Read the documents")
    timeout = None  # `READ_TIMEOUT` bounds it, and answers from what was read
    on_error = "skip"
    reports = ("read_documents",)
    after = ("load_history", "memory", "system_context", "wait_for_files")
    branches = ("understand",)  # which decides on every other question
    may_read = ("past.turns", "plan.reply")
    writes = (
        "plan.whole", "plan.reply", "plan.action", "found.reading", "found.hits", "found.key_passages",
        "found.answer_state",
        "found.knowledge_base_ids", "found.document_ids", "found.general_knowledge_allowed", "answer.usage",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """The words of the question must be those of a request for all of something."""
        replied = bool(state.plan.reply) or config.ANSWER_MODE == "chat"
        return not replied and may_want_whole(state.request.question)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `whole`, `reading` and `hits`; or `reply`, where documents are meant that can't be read."""
        began = time.perf_counter()
        in_language = translation.override(reply_language(state))(meant)
        found, scope = await in_database(in_language, state.request, state.past.turns)
        if found is None:
            return
        if found.reply:
            state.plan.action = "answer_chat" if found.request.kind == "documents" else "clarify"
            state.plan.reply = found.reply
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
        titles = {document.pk: document.name for document in meant.documents}
        for told_apart in (lambda each: each.path, lambda each: f"{each.path} ({each.created_at:%F})"):
            if len(set(titles.values())) < len(titles):  # some are called alike
                titles = {document.pk: told_apart(document) for document in meant.documents}
        kind = meant.request.kind
        ctx.note(kind=kind, documents=list(titles), files=[document.path for document in meant.documents])
        read, rest = await in_database(passages_of, meant.documents, config.READ_MAX_TOKENS)
        sections = await asyncio.to_thread(sections_of, read)
        reading = Reading(kind, titles, unread=await asyncio.to_thread(_unread, sections_of(rest)))
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
                    told = dict(zip(("old", "new"), titles.values(), strict=True))
                    state.plan.reply = _("“%(old)s” and “%(new)s” say the same, section by section.") % told
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
        if getattr(reading.result, "count", 1) == 0:  # a list of nothing
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
        """Return what the model is given: the sections where they fit, else notes; fill `reason` if it took none."""
        request, language = state.request, state.request.question_language
        room, fits = await in_database(_room, endpoint, request.question, language, bool(state.past.turns), groups)
        if fits:
            reading.told = "changes" if reading.kind == "changes" else "sections"
            units = [unit for group in groups for unit in group]
            return units if reading.kind == "changes" or len(units) <= SOURCES else joined(units, SOURCES)

        async def tell(done: int, total: int, condenses: bool) -> None:
            told = _("Reading the documents: %(done)d of %(total)d parts done")
            if condenses:
                told = _("Condensing the notes: %(done)d of %(total)d parts done")
            part = told % {"done": done, "total": total}
            size = number_format(ctx.detail["tokens"], force_grouping=True)
            message = f"{part} · {_('about %(tokens)s tokens') % {'tokens': size}}"
            await ctx.emit(replace(step_event(self, "processing", message), step=3))

        began = time.perf_counter()
        reader = Reader(side_calls.quoted(request.question), language, hit_of, tell)
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
        reading.failed, reading.told = notes.failed, "notes"
        used = notes.prompt_tokens + notes.completion_tokens
        reading.cost = Cost(ctx.detail["sections"], notes.parts, used, elapsed(began) / 1000)
        return notes.taken

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Count what was read."""
        return " · ".join(words for _label, words in _counted(detail))

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Say what was read of which files, how, by whom and what it cost."""
        kinds = {
            "summary": _("a summary"),
            "list": _("a list"),
            "changes": _("a comparison"),
            "documents": _("the names of the documents"),
        }
        told = Description()
        if "kind" not in detail:
            return told
        told.facts.append((_("Asked for"), kinds.get(detail["kind"], str(detail["kind"]))))
        if detail.get("refused") and detail["documents"]:
            count = len(detail["documents"])
            words = ngettext("%(count)d document", "%(count)d documents", count) % {"count": count}
            told.facts.append((_("Not read"), words))
        told.add(_("Files"), ", ".join(detail.get("files", ())))
        told.facts += _counted(detail)
        told.add(_("Model"), detail.get("model"))
        if detail.get("calls"):
            sizes = {
                name: number_format(detail[f"{name}_tokens"], force_grouping=True) for name in ("prompt", "completion")
            }
            told.add(_("Calls"), detail["calls"])
            told.add(_("Tokens"), _("%(prompt)s read, %(completion)s written") % sizes)
        told.add(_("Condensed"), detail.get("rounds"))
        if detail.get("unread"):
            told.facts.append((_("Too long to be read"), _sections(detail["unread"])))
        if detail.get("failed"):
            told.facts.append((_("Could not be read"), f"{_sections(detail['failed'])}. {reason(detail['reason'])}"))
        return told


def _room(endpoint: Endpoint, question: str, language: str, follows: bool, groups: Groups) -> tuple[int, bool]:
    """Return the tokens that documents may take in the prompt of the answer, and whether they fit as they are."""
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
    """Return what differs as a model is given it: the sections of a heading together, each saying whose it is."""
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
    seen: set[int] = set()  # a section that was joined stands under several headings
    for group in groups:
        once.append([unit for unit in group if unit[0].key not in seen])
        seen |= {section.key for section, _text in group}
    return [group for group in once if group]


def _unread(sections: Sequence[Section]) -> list[Unread]:
    return [Unread(pk, headings_of(rest, MOST_UNREAD), len(rest)) for pk, rest in _by_document(sections).items()]


def _by_document(sections: Iterable[Section]) -> dict[int, list[Section]]:
    """Return sections by the ids of their documents, in their order."""
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

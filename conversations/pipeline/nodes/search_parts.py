"""Searches for each part of a question separately, then again for missing parts with what the passages revealed."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.conditions import searches
from conversations.pipeline.description import Description, Passage, PassageList, reason
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.node_run import step_event
from conversations.pipeline.nodes.load_passages import pictures_of
from conversations.pipeline.state import FoundPart, State
from conversations.pipeline.understanding.coreference import with_carried_words
from conversations.pipeline.understanding.scope import look_up
from conversations.pipeline.writing.quoting.extractive import extract
from conversations.prompts import side_calls
from conversations.prompts.no_reply import NoReply
from conversations.prompts.passages import fenced
from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.llm.passage_tokens import truncate_to_tokens
from ragsite.llm.stream.json_reply import line, number, objects
from ragsite.site_settings.config import config
from retrieval.answerability.gate import STATES, judge, similarity
from retrieval.answerability.question_weights import weigh_words
from retrieval.engine.fulltext import Frequencies, frequencies
from retrieval.ranking.retrievers import in_database_within_timeout
from retrieval.search import Hit, Query, SearchFailed, SearchRequest, search

# The weight of the whole question relative to a part, which may leave out what all parts have in common.
WHOLE = 0.3
# The least number of hits kept for each part, and the number that a model is shown to find out what is missing.
KEPT, SHOWN = 4, 3


@dataclass(slots=True)
class _Search:
    """The parts with the hits found so far."""

    request: SearchRequest
    parts: list[FoundPart]
    question: str
    hits: dict[int, Hit] = field(default_factory=dict)
    frequencies: Frequencies = field(default_factory=lambda: Frequencies(0, {}))

    def of(self, part: FoundPart) -> list[Hit]:
        return [self.hits[chunk_id] for chunk_id in part.chunk_ids]

    async def look_for(self, part: FoundPart, text: str) -> None:
        """Search for a part by a text, by which the hits are judged too, and interleave them with the earlier ones."""
        queries = (Query(text),) if text == self.question else (Query(text), Query(self.question, WHOLE))
        request = replace(self.request, queries=queries, ranking_query=text, merge_neighbours=False, per_document=None)
        result, known = await asyncio.gather(
            search(request),
            in_database_within_timeout(frequencies, set(terms(text)), self.request.knowledge_base_ids),
        )
        part.queries.append(text)
        self.hits |= {hit.chunk_id: hit for hit in result.hits}
        self.frequencies = Frequencies(known.size, {**self.frequencies.holding, **known.holding})
        part.chunk_ids = _interleaved([[hit.chunk_id for hit in result.hits], part.chunk_ids])
        judged = judge(text, result.hits, known, similarity(result.rankings, {text})).state
        part.answer_state = min(part.answer_state, judged, key=STATES.index)


class SearchParts(Node):
    """Searches for each part of the question, in rounds; an unfinished round keeps what was found before.

    The hits for the whole question are kept. Limited by `THOROUGH_ROUNDS`, `THOROUGH_TIMEOUT` and `THOROUGH_TOKENS`.
    """

    key = "search_parts"
    step = 6
    title = gettext_lazy("Search part by part")
    progress = gettext_lazy("Searching part by part")
    timeout = None  # `THOROUGH_TIMEOUT` limits it and keeps what was found
    on_error = "skip"
    reads = ("plan.parts", "found.search_request", "found.hits")
    may_read = (
        "plan.action", "plan.whole", "plan.dependent_parts", "plan.rewrite", "found.answer_state", "found.pictures",
        "found.frequencies",
    )  # fmt: skip
    writes = (
        "found.hits", "found.parts", "found.pictures", "found.frequencies", "found.answer_state",
        "found.search_request", "plan.k",
    )  # fmt: skip

    def wanted(self, state: State) -> bool:
        """Return whether there are several parts, and documents to search."""
        return searches(state) and len(state.plan.parts) > 1 and state.found.search_request is not None

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `parts`, and `hits` with the best of each part and of the whole; update `answer_state`."""
        plan, found = state.plan, state.found
        assert found.search_request is not None
        question = plan.rewrite or state.request.question
        parts = [FoundPart(part) for part in plan.parts]
        looking = _Search(found.search_request, parts, question, frequencies=found.frequencies)
        rounds = 0
        try:
            async with asyncio.timeout(config.THOROUGH_TIMEOUT):
                wanted = [(part, part.question) for part in parts]
                while wanted and rounds < config.THOROUGH_ROUNDS:
                    if rounds:
                        progress = ngettext(
                            "Searching again for %(count)d part", "Searching again for %(count)d parts", len(wanted)
                        )
                        await ctx.emit(step_event(self, "processing", progress % {"count": len(wanted)}))
                    try:
                        async with asyncio.TaskGroup() as group:
                            for each in wanted:
                                group.create_task(looking.look_for(*each))
                    except* SearchFailed as failed:  # a part that could not be searched is not missing
                        raise failed.exceptions[0] from None
                    rounds += 1
                    wanted = await self._missing(state, looking, ctx) if rounds < config.THOROUGH_ROUNDS else []
        except TimeoutError:
            ctx.note(note="timed out")
        self._gather(state, looking)
        ctx.note(
            rounds=rounds,
            # `learned` contains words of passages and is shown only together with them.
            rankings=[
                {"query": part.question, "learned": part.queries[1:], "state": part.answer_state,
                 "hits": [{"chunk_id": chunk_id, "score": round(looking.hits[chunk_id].score, 5)}
                          for chunk_id in part.chunk_ids[:10]]}
                for part in parts
            ],
        )  # fmt: skip

    async def _missing(self, state: State, looking: _Search, ctx: Context) -> list[tuple[FoundPart, str]]:
        """Return the parts to search for again, each with its new query.

        A model chooses them or, without one, words of the passages found.
        """
        language = state.request.question_language
        shown = {hit.chunk_id: hit for part in looking.parts for hit in looking.of(part)[:SHOWN]}
        each = config.THOROUGH_TOKENS // max(1, len(shown))
        passages = [fenced(place, truncate_to_tokens(hit.content, each), f"{hit.filename} · {hit.heading}")
                    for place, hit in enumerate(shown.values(), 1)]  # fmt: skip
        parts = "\n".join(f"{place}. {part.question}" for place, part in enumerate(looking.parts, 1))
        try:
            answered = await side_calls.ask(
                "missing", language, config.UNDERSTAND_TIMEOUT,
                question=side_calls.quoted(looking.question), parts=parts, evidence="\n\n".join(passages),
            )  # fmt: skip
        except NoReply as none:
            if none.reason != "no model":
                ctx.note(fallback=none.reason, fallback_detail=none.detail)
            return await self._learned(state, looking)
        ctx.note(model=answered.model)
        wanted = []
        for item in objects(answered.text, "query"):
            place, text = number(item.get("part")), line(item.get("query"))[:300]
            if place is not None and 1 <= place <= len(looking.parts) and terms(text):
                part = looking.parts[int(place) - 1]
                if text not in part.queries:
                    wanted.append((part, text))
        return wanted[: len(looking.parts)]

    async def _learned(self, state: State, looking: _Search) -> list[tuple[FoundPart, str]]:
        """Return the parts that depend on the one before them, with words from the sentence that answers that one."""
        wanted = []
        for place in state.plan.dependent_parts:
            before, part = looking.parts[place - 1], looking.parts[place]
            asked = weigh_words(before.question, looking.frequencies)
            best = extract(before.question, asked, looking.of(before)[:SHOWN])
            answers = [quote.sentences[0] for quote in best.quotes[:1]]
            known = await in_database(look_up, part.question, answers, looking.request.knowledge_base_ids)
            text, carried = with_carried_words(part.question, answers, known)
            if carried and text not in part.queries:
                wanted.append((part, text))
        return wanted

    @staticmethod
    def _gather(state: State, looking: _Search) -> None:
        """Interleave the best hits of the whole and of the parts; hits of unanswered parts come last."""
        plan, found = state.plan, state.found
        parts = [part for part in looking.parts if part.queries]  # a part that there was no time for is not missing
        if not parts:
            return
        found.parts, found.frequencies = parts, looking.frequencies
        states = {part.answer_state for part in parts}
        if found.answer_state != "answered":
            found.answer_state = min((found.answer_state or "nothing", *states), key=STATES.index)
        if found.answer_state == "nothing":
            return
        known = looking.hits | {hit.chunk_id: hit for hit in found.hits}
        with_answers = [part.chunk_ids for part in parts if part.answer_state != "nothing"]
        without = [part.chunk_ids for part in parts if part.answer_state == "nothing"]
        # Every other hit is one of the whole question, so that a question split by mistake loses little.
        order = _interleaved([[hit.chunk_id for hit in found.hits], _interleaved(with_answers)])
        order += [chunk_id for chunk_id in _interleaved(without) if chunk_id not in order]
        found.hits = [known[chunk_id] for chunk_id in order]
        found.pictures = found.pictures | pictures_of(found.hits)
        least = KEPT * len(parts)
        found.search_request = replace(looking.request, k=max(looking.request.k, least), per_document=None)
        plan.k = max(plan.k or config.ANSWER_TOP_K, min(least, looking.request.k))

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return for how many parts something was found."""
        parts = state.found.parts
        found = sum(part.answer_state != "nothing" for part in parts)
        words = ngettext("%(found)d of %(count)d part found", "%(found)d of %(count)d parts found", len(parts))
        return words % {"found": found, "count": len(parts)} if parts else ""

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the passages and queries of each part, and why no model chose the missing parts."""
        states = {"answered": _("an answer"), "nearest": _("the closest passages"), "nothing": _("nothing")}
        description = Description()
        description.add(_("Rounds"), detail.get("rounds"))
        description.add(_("Note"), reason(detail.get("note", "")))
        description.add(_("No model used"), reason(detail.get("fallback", ""), detail.get("fallback_detail", "")))
        description.add(_("Missing parts chosen by"), detail.get("model"))
        for part in detail.get("rankings", []):
            description.facts += [(_("Query"), query) for query in part["learned"]]
            hits = [Passage(hit["chunk_id"], hit["score"]) for hit in part["hits"]]
            description.lists.append(PassageList(part["query"], hits, str(states.get(part["state"], ""))))
        return description


def _interleaved(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Return the ids of several rankings interleaved, each id once."""
    return list(dict.fromkeys(item for item in chain(*zip_longest(*rankings)) if item is not None))

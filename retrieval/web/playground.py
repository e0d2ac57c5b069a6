"""The playground: one query with two sets of options, and the results for display side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from knowledge.highlights import Marks
from retrieval.evaluation.answering import Answered, AnswererRefused, Assistant, answerer
from retrieval.ranking.fusion import Query
from retrieval.ranking.rerank_options import RerankOptions
from retrieval.search import search
from retrieval.snippets import excerpt
from retrieval.types import Hit, SearchFailed, SearchRequest, SearchResult
from retrieval.web.evaluation_contexts import StateCount, state_of
from retrieval.web.forms import SideForm

SNIPPET = 280  # characters
_SHOWN_MS = 0.5  # faster steps of an answer are left out
STAGES = {
    "vector": gettext_lazy("Meaning"),
    "bm25": gettext_lazy("Words"),
    "fuse": gettext_lazy("Fusion"),
    "describe": gettext_lazy("Passages"),
    "reorder": gettext_lazy("Features"),
    "reader": gettext_lazy("Reader"),
    "rerank": gettext_lazy("Rerank"),
    "neighbours": gettext_lazy("Neighbours"),
    "documents": gettext_lazy("Per document"),
}


@dataclass(frozen=True, slots=True)
class Time:
    """The time a stage took, and its place on the bar of all stages, in thousandths."""

    name: str
    label: str
    ms: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Place:
    """A hit's rank, from 1, and score in one of the lists it was in."""

    label: str
    rank: int | None
    score: float


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit for display. `other` is its rank on the other side, None if that side lacks it."""

    rank: int
    hit: Hit
    snippet: SafeString
    places: list[Place]
    other: int | None

    @property
    def href(self) -> str:
        """The URL of the document at the passage."""
        marks = Marks(self.hit.chunk_id, self.hit.merged)
        return reverse("document", args=[self.hit.document_id]) + marks.query(chunk=self.hit.chunk_id)

    @property
    def change(self) -> int:
        """The number of ranks by which it is higher here than on the other side."""
        return (self.other or self.rank) - self.rank


@dataclass(slots=True)
class Side:
    """One side: its options and result. `key` is "a" or "b"; `error` explains to users why there is no result."""

    key: str
    form: SideForm
    result: SearchResult | None = None
    # The answer of an assistant; `result` has its hits.
    answered: Answered | None = None
    # Whether an assistant is chosen but wasn't asked.
    waits: bool = False
    error: str = ""
    hits: list[ShownHit] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The side's name on the page."""
        return self.key.upper()

    @property
    def other_key(self) -> str:
        """The key of the other side."""
        return "b" if self.key == "a" else "a"

    @property
    def other_name(self) -> str:
        """The other side's name on the page."""
        return self.other_key.upper()

    @property
    def times(self) -> list[Time]:
        """The time of each stage, in the order in which they ran; the first two run in parallel."""
        if self.result is None:
            return []
        if self.answered is not None:
            return _times([(step.key, step.label, step.ms) for step in self.answered.steps if step.ms >= _SHOWN_MS])
        asked = [ranking for ranking in self.result.rankings if ranking.hits or ranking.ms]
        ran: list[tuple[str, float]] = [(ranking.type, ranking.ms) for ranking in asked]
        ran += [(stage.name, stage.ms) for stage in self.result.stages]
        return _times([(name, str(STAGES.get(name, name)), ms) for name, ms in ran])

    @property
    def state(self) -> StateCount | None:
        """The outcome of an assistant's answer, for display."""
        return state_of(self.answered.answer_state) if self.answered is not None else None


def _times(ran: Sequence[tuple[str, str, float]]) -> list[Time]:
    total = sum(ms for _name, _label, ms in ran) or 1.0
    times, start = [], 0.0
    for name, label, ms in ran:
        times.append(Time(name, label, ms, start, 1000 * ms / total))
        start += 1000 * ms / total
    return times


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two sides: the number of common hits, of all hits, and of those at the same rank."""

    common: int
    total: int
    same: int

    @property
    def complete(self) -> bool:
        """Whether both have the same hits in the same order."""
        return self.same == self.total


async def ask(side: Side, by: Assistant, user: Any, query: str, knowledge_base_ids: Sequence[int]) -> None:
    """Have an assistant answer on behalf of the user, and store its answer and hits in the side."""
    try:
        side.answered = await answerer().answer(user, query, knowledge_base_ids, by)
    except AnswererRefused as refused:
        side.error = str(refused)
    else:
        side.result = SearchResult(side.answered.hits, [], side.answered.took_ms, [])


async def run(side: Side, query: str, knowledge_base_ids: Sequence[int]) -> None:
    """Search with a side's options and store the result in it."""
    chosen = side.form.chosen()
    rerank = chosen.pop("rerank", None)
    if "reader" in chosen:
        chosen["read"] = chosen.pop("reader")
    request = SearchRequest((Query(query),), tuple(knowledge_base_ids), **chosen, fresh=True, patient=True)
    if rerank is not None:
        request = replace(request, rerank=RerankOptions.from_name(rerank, top_k=request.k))
    try:
        side.result = await search(request)
    except SearchFailed as failure:
        side.error = str(failure)


def compare(query: str, sides: Sequence[Side]) -> Agreement | None:
    """Set both sides' hits, with their ranks on the other side; return None unless both have a result."""
    ranks: list[dict[int, int]] = []
    for side in sides:
        found = enumerate(side.result.hits if side.result else (), 1)
        ranks.append({chunk_id: rank for rank, hit in found for chunk_id in hit.merged or (hit.chunk_id,)})
    for side, others in zip(sides, reversed(ranks), strict=True):
        if side.result is None:
            continue
        lists = {
            stage.name: {chunk_id: (rank, score) for rank, (chunk_id, score) in enumerate(stage.hits, 1)}
            for stage in side.result.stages
        }
        side.hits = []
        for rank, hit in enumerate(side.result.hits, 1):
            # Places in each retriever's list, in the fused list, and after each reordering.
            places = [Place(str(STAGES[source.type]), source.rank, source.score) for source in hit.sources]
            for name in ("fuse", "reorder", "reader", "rerank"):
                if place := lists.get(name, {}).get(hit.chunk_id):
                    places.append(Place(str(STAGES[name]), *place))
            other = min((others[each] for each in hit.merged or (hit.chunk_id,) if each in others), default=None)
            snippet = excerpt(hit.content, query, SNIPPET)
            side.hits.append(ShownHit(rank=rank, hit=hit, snippet=snippet, places=places, other=other))
    if any(side.result is None for side in sides):
        return None
    first, second = ranks
    common = first.keys() & second.keys()
    same = sum(first[chunk_id] == second[chunk_id] for chunk_id in common)
    return Agreement(len(common), len(first.keys() | second.keys()), same)

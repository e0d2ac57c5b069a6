"""What the nodes of one turn share: each takes the state and fills its own part of it.

Nodes declare what they touch by dotted names such as `plan.queries`; `request` is open to all of them.
"""

import uuid
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import Any

from conversations.events import Answer
from conversations.history import PastTurn
from conversations.pipeline.whole_documents.sections import Reading
from conversations.turn_store import Started
from knowledge.labels import LabelFilter
from ragsite.language.detection import language_of
from ragsite.llm.types import ChatMessage
from retrieval.engine.fulltext import Frequencies
from retrieval.search import Hit, Query, Ranking, SearchRequest


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked, by whom; never changed.

    Without a session nothing is stored, and the conversation is the caller's `history`, oldest first.
    """

    user_id: int
    session_id: int | None
    question: str
    history: tuple[PastTurn, ...] = ()
    parent_turn_id: int | None = None
    # Whether it goes on from the turn that is the newest when it is stored, which is then the parent.
    from_newest: bool = False
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    # Of the reader's interface ("en", "zh-hans"), for step names and messages.
    language: str = "en"
    # Whether a model judges each hit for whether it answers; None is what the site is set to.
    use_filter: bool | None = None
    # How many passages the answer is given at most; None is what the site, or the plan, is set to.
    top_n: int | None = None
    # The knowledge bases that its assistant is asked about; none are all that the user may read.
    knowledge_base_ids: tuple[int, ...] = ()
    # The only knowledge bases and documents that are asked, as its session or its caller chose; none are all.
    asked_knowledge_base_ids: tuple[int, ...] = ()
    asked_document_ids: tuple[int, ...] = ()
    # Of what is asked, only documents labelled so; and the base of the files put into the chat, asked in any case.
    labels: LabelFilter = LabelFilter()  # noqa: RUF009 - it can't be changed
    files_id: int | None = None
    # Whether the reader wants to see what the model thinks; None is yes, where it does by itself.
    thinking: bool | None = None
    # The assistant's version, and its name, by which the question is answered; None where the site has no assistant.
    assistant_version_id: int | None = None
    assistant: str = ""
    # Whether what they asked to be remembered counts, and more may be kept.
    memory: bool = True
    # The turn in which the cut answer began that this one goes on with, and all that came of it.
    continued: PastTurn | None = None

    @property
    def question_language(self) -> str:
        """`"zh"` or `"en"`: the question's own language, or the interface's when it has none."""
        return language_of(self.question) or ("zh" if self.language.startswith("zh") else "en")


@dataclass(slots=True)
class Past:
    """What came before the question, oldest first."""

    # All turns that the question goes on from, by id; the summary is of the first of them.
    branch: list[int] = field(default_factory=list)
    # The last complete turns, and those among them that were not answered, whose questions tell what "it" is.
    turns: list[PastTurn] = field(default_factory=list)
    unanswered: list[PastTurn] = field(default_factory=list)
    summary: str = ""
    # Earlier turns of the branch that are like the question.
    relevant: list[PastTurn] = field(default_factory=list)
    # What the user asked to be remembered.
    memories: list[str] = field(default_factory=list)

    @property
    def conversation(self) -> list[PastTurn]:
        """The turns with those that were not answered, oldest first: what a question may depend on."""
        return sorted([*self.turns, *self.unanswered], key=lambda turn: turn.turn_id)


@dataclass(slots=True)
class Plan:
    """What is to be done with the question, and what is searched for."""

    # "retrieve_vector", "answer_chat" or "clarify"
    action: str = "retrieve_vector"
    # What is replied without search or model; empty otherwise.
    reply: str = ""
    # What documents are read from beginning to end for, in place of a search: "summary", "list" or "changes".
    whole: str = ""
    # Of a model's plan: what it takes the question for (`kb_retrieval`, `chat`, `clarify`; empty without a model), how
    # sure it is (0 to 1), whether the question follows on, and what it would do rather than search (`answer_chat`,
    # `clarify`), on which decides what the search finds.
    intent: str = ""
    confidence: float | None = None
    followup: bool = False
    deferred_action: str = ""
    # How many passages the model wants to be given; None is what the site is set to.
    k: int | None = None
    # The question as one that stands alone, for retrieval only, and why it was made.
    rewrite: str = ""
    rewrite_reason: str = ""
    # What is searched beside it: the model's key terms, and the question in the documents' languages, by their codes.
    key_terms: tuple[str, ...] = ()
    translations: dict[str, str] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)
    retrieval_query: str = ""
    # What passages are judged by; the question when empty.
    ranking_query: str = ""
    # What is searched by itself, part by part, where the question asks for several things; and the places, from 0, of
    # parts that need what the part before them finds.
    parts: tuple[str, ...] = ()
    dependent_parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureInfo:
    """A picture that an answer may show. Sizes in pixels."""

    url: str
    alt: str
    width: int
    height: int


@dataclass(slots=True)
class FoundPart:
    """What was found for a part of the question: by which queries, in their order, and which chunks, best first.

    `answer_state` is that of an answer to this part from these chunks, as in `Found`.
    """

    question: str
    queries: list[str] = field(default_factory=list)
    chunk_ids: list[int] = field(default_factory=list)
    answer_state: str = "nothing"

    def holds(self, hit: Hit) -> bool:
        """Whether a hit, or what was joined to it, was found for this part."""
        return not {hit.chunk_id, *hit.merged}.isdisjoint(self.chunk_ids)


@dataclass(slots=True)
class Found:
    """What the search found, and what it is worth."""

    knowledge_base_ids: tuple[int, ...] = ()
    document_ids: tuple[int, ...] = ()  # where only these of them are asked
    labels: LabelFilter = LabelFilter()  # noqa: RUF009 - it can't be changed
    general_knowledge_allowed: bool = True
    search_request: SearchRequest | None = None  # None where there was nothing to search
    rankings: list[Ranking] = field(default_factory=list)
    # How many passages of those searched hold the terms of what is asked.
    frequencies: Frequencies = field(default_factory=lambda: Frequencies(0, {}))
    fused: list[Any] = field(default_factory=list)  # (chunk id, score, sources)
    hits: list[Hit] = field(default_factory=list)
    # Where documents were read from beginning to end, what came of it; the hits are then their sections.
    reading: Reading | None = None
    pictures: dict[int, PictureInfo] = field(default_factory=dict)  # by chunk id
    # Whether the hits answer ("answered"), are only the closest passages ("nearest"), or there are none ("nothing");
    # empty where the documents are not asked.
    answer_state: str = ""
    # Of a question that was searched part by part, what was found for each.
    parts: list[FoundPart] = field(default_factory=list)
    # What the answer says of files of the chat that could not be searched; empty where all could.
    unread_files: str = ""
    # By language, how many documents the question can't be searched in, where it is not answered.
    unsearched: dict[str, int] = field(default_factory=dict)
    # Of a hit that answers, the sentences that do, and why they do, by chunk id.
    key_passages: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Prompt:
    """What the answer is written from."""

    model: str = ""  # empty where none is asked
    # The hits that are given to the answer, numbered from 1, as citations of them, and the numbers that it cites.
    evidence: list[Hit] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    cited: set[int] = field(default_factory=set)
    messages: list[ChatMessage] = field(default_factory=list)
    # The most tokens that the answer may take; what did not fit, counted by kind; and the recent turns among it, by id.
    answer_tokens: int = 0
    # Its tokens as the model's provider has counted them; 0 where it didn't.
    reported: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    cut_turns: list[int] = field(default_factory=list)


@dataclass(slots=True)
class NodeTrace:
    """How a node ran: `status` is completed, skipped or error; `ms` milliseconds; `detail` JSON-safe."""

    key: str
    status: str
    started_at: datetime
    ms: float
    detail: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by their names; the detail, which may be large, is not copied."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class State:
    """The state of one turn."""

    request: Request
    # The ids of the turn, once it is stored.
    started: Started | None = None
    past: Past = field(default_factory=Past)
    plan: Plan = field(default_factory=Plan)
    found: Found = field(default_factory=Found)
    prompt: Prompt = field(default_factory=Prompt)
    # What the reader was sent, folded; nodes add to it by the events that they emit, and set `usage` and `checks`.
    answer: Answer = field(default_factory=Answer)
    # What nodes of other people share among themselves, by names of their own.
    extra: dict[str, Any] = field(default_factory=dict)

    # The engine's: what nodes noted of their runs, how these went, and what is done when everything is stored and sent.
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    trace: list[NodeTrace] = field(default_factory=list)
    later: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    @property
    def parent_turn_id(self) -> int | None:
        """The turn that the question goes on from; None for the first of a branch."""
        return self.started.parent_turn_id if self.started else self.request.parent_turn_id

    def keep(self, name: str) -> Callable[[], None]:
        """Return a function that restores the current value of a field ("plan.queries") or of `extra.…`."""
        part, _, inner = name.partition(".")
        if not inner:
            return partial(setattr, self, part, copy(getattr(self, part)))
        holder = getattr(self, part)
        if part != "extra":
            return partial(setattr, holder, inner, copy(getattr(holder, inner)))
        if inner in self.extra:
            return partial(self.extra.__setitem__, inner, copy(self.extra[inner]))
        return partial(self.extra.pop, inner, None)


# The parts of a state, in which nodes name a field as `part.field`.
PARTS = {"past": Past, "plan": Plan, "found": Found, "prompt": Prompt, "answer": Answer}
# All that a node may declare, but for values of `extra`; and what it needn't, for it is there from the beginning.
GIVEN = frozenset(f"request.{each.name}" for each in fields(Request))
FIELDS = GIVEN | {"started"} | {f"{part}.{each.name}" for part, kind in PARTS.items() for each in fields(kind)}

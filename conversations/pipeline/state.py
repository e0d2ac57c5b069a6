"""The state that the nodes of a turn share: each node fills its own part.

Nodes declare the fields they use by dotted names such as `plan.queries`; all of them may read `request`.
"""

import uuid
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import Any

from conversations.events import Answer, Choice
from conversations.history import PastTurn
from conversations.instructions.texts import Instructions
from conversations.instructions.wishes import Wishes, read_wishes
from conversations.pipeline.understanding.named_documents import Named
from conversations.pipeline.whole_documents.sections import Reading
from conversations.turn_store import Started
from knowledge.labels import LabelFilter
from ragsite.language.detection import language_of
from ragsite.llm.types import ChatMessage
from retrieval.engine.fulltext import Frequencies
from retrieval.search import Hit, Query, Ranking, SearchRequest


@dataclass(frozen=True, slots=True)
class Request:
    """The question with its user and options; immutable.

    Without a session nothing is stored, and the conversation is the caller's `history`, oldest first.
    """

    user_id: int
    session_id: int | None
    question: str
    history: tuple[PastTurn, ...] = ()
    parent_turn_id: int | None = None
    # Whether the parent is the session's newest turn at the time this one is stored.
    from_newest: bool = False
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    # The language of the user interface ("en", "zh-hans"), for step names and messages.
    language: str = "en"
    # Whether a model judges whether each hit answers; None means the site's setting.
    use_filter: bool | None = None
    # The most passages that the answer is written from; None means the plan's number or the site's setting.
    top_n: int | None = None
    # The assistant's knowledge bases; empty means all that the user may read.
    knowledge_base_ids: tuple[int, ...] = ()
    # The knowledge bases and documents that the session or the caller selected; empty means all.
    asked_knowledge_base_ids: tuple[int, ...] = ()
    asked_document_ids: tuple[int, ...] = ()
    # The document that the user chose of several that the question may mean; searched alone if it still can be.
    chosen_document_id: int | None = None
    # The question that this one completes, if it only says which document that one means ("The one of 2022").
    completes: str = ""
    # The labels that the searched documents must have; and the base of the chat's files, which is always searched.
    labels: LabelFilter = LabelFilter()  # noqa: RUF009 - it can't be changed
    files_id: int | None = None
    # Whether the user wants to see the model's reasoning; None means yes, if the model reasons of its own accord.
    thinking: bool | None = None
    # Whether the user waits for the answer, which is then marked as unseen until they see it.
    awaited: bool = True
    # The version and the name of the assistant that answers; None if the site has no assistant.
    assistant_version_id: int | None = None
    assistant: str = ""
    # How the answer should be written, as the assistant, the user and the session ask for it.
    instructions: Instructions = Instructions()  # noqa: RUF009 - it can't be changed
    # Whether the user's remembered facts are used, and new ones may be stored.
    memory: bool = True
    # The turn whose cut answer this one continues, with the whole answer so far.
    continued: PastTurn | None = None

    @property
    def asked(self) -> str:
        """What is to be answered: the question, or the one that it completes."""
        return self.completes or self.question

    @property
    def wishes(self) -> Wishes:
        """The length and the language that the instructions ask for."""
        return read_wishes(self.instructions.assistant, self.instructions.own, self.instructions.chat)

    @property
    def question_language(self) -> str:
        """The question's language, `"zh"` or `"en"`, or the interface's if the question has none."""
        interface = "zh" if self.language.startswith("zh") else "en"
        return language_of(self.question) or language_of(self.completes) or interface


@dataclass(slots=True)
class Past:
    """The conversation before the question, oldest first."""

    # The ids of all turns that the question follows; the summary covers the first of them.
    branch: list[int] = field(default_factory=list)
    # The ids of the turns in other branches of the session.
    others: list[int] = field(default_factory=list)
    # The last complete turns, and the unanswered ones among them, whose questions may say what "it" is.
    turns: list[PastTurn] = field(default_factory=list)
    unanswered: list[PastTurn] = field(default_factory=list)
    summary: str = ""
    # Earlier turns of the session, also of other branches, that are similar to the question.
    relevant: list[PastTurn] = field(default_factory=list)
    # The facts that the user asked to be remembered.
    memories: list[str] = field(default_factory=list)

    @property
    def conversation(self) -> list[PastTurn]:
        """The answered and unanswered turns, oldest first, that a question may depend on."""
        return sorted([*self.turns, *self.unanswered], key=lambda turn: turn.turn_id)


@dataclass(slots=True)
class Plan:
    """The action to take for the question, and the queries to search for."""

    # "retrieve_vector", "answer_chat" or "clarify"
    action: str = "retrieve_vector"
    # A reply given without search or model; empty otherwise.
    reply: str = ""
    # Why whole documents are read instead of searched: "summary", "list" or "changes"; empty otherwise.
    whole: str = ""
    # From a model's plan: the intent (`kb_retrieval`, `chat`, `clarify`; empty without a model), the confidence (0 to
    # 1), whether the question is a follow-up, and the action that the model would prefer to a search (`answer_chat`,
    # `clarify`), which is taken if the search finds nothing.
    intent: str = ""
    confidence: float | None = None
    followup: bool = False
    deferred_action: str = ""
    # The number of passages the model asks for; None means the site's setting.
    k: int | None = None
    # The question rewritten to stand alone, for retrieval only, and why it was rewritten.
    rewrite: str = ""
    rewrite_reason: str = ""
    # Searched in addition: the model's key terms, and the question in the documents' languages, by language code.
    key_terms: tuple[str, ...] = ()
    translations: dict[str, str] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)
    retrieval_query: str = ""
    # The query that passages are judged by; the question if empty.
    ranking_query: str = ""
    # The parts of a question that asks for several things, each searched separately; and the indices of the parts that
    # need the result of the part before them.
    parts: tuple[str, ...] = ()
    dependent_parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureInfo:
    """A picture that an answer may show; sizes in pixels."""

    url: str
    alt: str
    width: int
    height: int


@dataclass(slots=True)
class FoundPart:
    """The result of a part of the question: the queries in order, and the ids of the chunks found, best first.

    `answer_state` is the state of an answer to this part from these chunks, as in `Found`.
    """

    question: str
    queries: list[str] = field(default_factory=list)
    chunk_ids: list[int] = field(default_factory=list)
    answer_state: str = "nothing"

    def holds(self, hit: Hit) -> bool:
        """Return whether a hit, or a passage merged into it, was found for this part."""
        return not {hit.chunk_id, *hit.merged}.isdisjoint(self.chunk_ids)


@dataclass(slots=True)
class Found:
    """The results of the search, and how far they answer."""

    knowledge_base_ids: tuple[int, ...] = ()
    document_ids: tuple[int, ...] = ()  # empty means all of their documents
    labels: LabelFilter = LabelFilter()  # noqa: RUF009 - it can't be changed
    general_knowledge_allowed: bool = True
    search_request: SearchRequest | None = None  # None if there was nothing to search
    rankings: list[Ranking] = field(default_factory=list)
    # How many of the searched passages contain each term of the question.
    frequencies: Frequencies = field(default_factory=lambda: Frequencies(0, {}))
    fused: list[Any] = field(default_factory=list)  # (chunk id, score, sources)
    hits: list[Hit] = field(default_factory=list)
    # The result of reading whole documents; the hits are then their sections.
    reading: Reading | None = None
    pictures: dict[int, PictureInfo] = field(default_factory=dict)  # by chunk id
    # Whether the hits answer ("answered"), are only the closest passages ("nearest"), or there are none ("nothing");
    # empty if the documents are not searched.
    answer_state: str = ""
    # The results for each part of a question that was searched part by part.
    parts: list[FoundPart] = field(default_factory=list)
    # Misspelt words of the question that no passage contains, each with the word that is searched instead.
    spelling: dict[str, str] = field(default_factory=dict)
    # The documents that the question names as its source; and those that it may mean, for the user to choose one.
    named: Named = field(default_factory=Named)
    choices: list[Choice] = field(default_factory=list)
    # The answer's note on files of the chat that could not be searched; empty if all could.
    unread_files: str = ""
    # For an unanswered question: how many documents it can't search, by their language.
    unsearched: dict[str, int] = field(default_factory=dict)
    # By chunk id, the sentences of a hit that answer the question, and why they do.
    key_passages: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Prompt:
    """The material that the answer is written from."""

    model: str = ""  # empty if none is asked
    # The hits that the answer is written from, their citations, numbered from 1, and the numbers that it cites.
    evidence: list[Hit] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    cited: set[int] = field(default_factory=set)
    messages: list[ChatMessage] = field(default_factory=list)
    # The instructions among the messages, without remembered facts, summary and earlier turns.
    system: str = ""
    # The most tokens that the answer may have.
    answer_tokens: int = 0
    # The prompt's tokens as counted by the model's provider; 0 if it didn't report them.
    reported: int = 0
    # How many items of each kind did not fit, and the ids of the recent turns among them.
    left_out: dict[str, int] = field(default_factory=dict)
    cut_turns: list[int] = field(default_factory=list)


@dataclass(slots=True)
class NodeTrace:
    """A node's run: `status` is completed, skipped, error or stopped; `ms` milliseconds; `detail` JSON-safe."""

    key: str
    status: str
    started_at: datetime
    ms: float
    detail: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name; the detail, which may be large, is not copied."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class State:
    """The state of one turn."""

    request: Request
    # The ids of the turn once it is stored.
    started: Started | None = None
    past: Past = field(default_factory=Past)
    plan: Plan = field(default_factory=Plan)
    found: Found = field(default_factory=Found)
    prompt: Prompt = field(default_factory=Prompt)
    # The events sent to the user, folded; nodes add to it by emitting events, and set `usage` and `checks`.
    answer: Answer = field(default_factory=Answer)
    # Values that third-party nodes share among themselves, under names of their own.
    extra: dict[str, Any] = field(default_factory=dict)

    # For the engine: the facts noted by nodes, their runs, and work to do once everything is stored and sent.
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    trace: list[NodeTrace] = field(default_factory=list)
    later: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    @property
    def parent_turn_id(self) -> int | None:
        """The turn that the question follows; None for the first of a branch."""
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


# The parts of a state; nodes name a field as `part.field`.
PARTS = {"past": Past, "plan": Plan, "found": Found, "prompt": Prompt, "answer": Answer}
# The fields that a node needn't declare, since they are there from the start; and all that it may declare, in addition
# to values of `extra`.
GIVEN = frozenset(f"request.{each.name}" for each in fields(Request))
FIELDS = GIVEN | {"started"} | {f"{part}.{each.name}" for part, kind in PARTS.items() for each in fields(kind)}

"""What the nodes of one turn share: each takes the state and fills its own part of it."""

import uuid
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from conversations.events import Answer
from conversations.history import PastTurn
from conversations.turn_store import Started
from ragsite.language import language_of
from ragsite.llm.types import ChatMessage
from retrieval.engine.fulltext import Frequencies
from retrieval.search import Hit, Query, Ranking, SearchRequest

# The fields of a state that whoever asks has filled.
GIVEN = frozenset({
    "user_id", "session_id", "question", "parent_turn_id", "from_newest", "request_id", "language", "use_filter",
    "top_n", "continued",
})  # fmt: skip


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


@dataclass(frozen=True, slots=True)
class PictureInfo:
    """A picture that an answer may show. Sizes in pixels."""

    url: str
    alt: str
    width: int
    height: int


@dataclass(slots=True)
class State:
    """The state of one turn."""

    # The question, as asked; never changed.
    user_id: int
    session_id: int
    question: str
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
    # The turn in which the cut answer began that this one goes on with, and all that came of it.
    continued: PastTurn | None = None

    # save question
    started: Started | None = None
    # load history; oldest first. The branch is all turns that the question goes on from; the summary is of the first.
    # History has complete turns only; the questions of the others tell what "it" is, see `conversation`.
    branch: list[int] = field(default_factory=list)
    history: list[PastTurn] = field(default_factory=list)
    unanswered: list[PastTurn] = field(default_factory=list)
    summary: str = ""
    # relevant history: earlier turns of the branch that are like the question
    relevant: list[PastTurn] = field(default_factory=list)
    # memory: what the user asked to be remembered, and the reply to a question that only asks for that
    memories: list[str] = field(default_factory=list)
    reply: str = ""
    # understand: "retrieve_vector", "answer_chat" or "clarify"; of a model's reply also what it takes the question for
    # (`kb_retrieval`, `chat`, `clarify`, empty without one), how sure it is (0 to 1), and whether it follows on
    action: str = "retrieve_vector"
    intent: str = ""
    confidence: float | None = None
    followup: bool = False
    # what the model would do rather than search (`answer_chat`, `clarify`): what the search finds decides on it
    deferred_action: str = ""
    # how many passages the model wants to be given; None is what the site is set to
    k: int | None = None
    # understand or rewrite: the question as one that stands alone, for retrieval only, and why it was made
    rewrite: str = ""
    rewrite_reason: str = ""
    # what is searched beside it: the model's key terms, and the question in the documents' languages, by their codes
    key_terms: tuple[str, ...] = ()
    translations: dict[str, str] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)
    retrieval_query: str = ""
    # what passages are judged by; the question when empty
    ranking_query: str = ""
    # search
    knowledge_base_ids: tuple[int, ...] = ()
    general_knowledge_allowed: bool = True
    search_request: SearchRequest | None = None  # None where there was nothing to search
    rankings: list[Ranking] = field(default_factory=list)
    # fusion: (chunk id, score, sources); metadata: the hits themselves
    fused: list[Any] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    pictures: dict[int, PictureInfo] = field(default_factory=dict)  # by chunk id
    # second look, filter or generate: whether the hits answer ("answered"), are only the closest passages ("nearest"),
    # or there are none ("nothing"); empty where the documents are not asked
    answer_state: str = ""
    # search: how many passages of those searched hold the terms of what is asked
    frequencies: Frequencies = field(default_factory=lambda: Frequencies(0, {}))
    # second look: by language, how many documents the question can't be searched in, where it is not answered
    unsearched: dict[str, int] = field(default_factory=dict)
    # filter: of a hit that answers, the sentences that do, and why they do, by chunk id
    key_passages: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    # budget: the hits that are given to the answer, numbered from 1, and the messages for a model
    evidence: list[Hit] = field(default_factory=list)
    messages: list[ChatMessage] = field(default_factory=list)
    # the most tokens that the answer may take; and what of the prompt did not fit, counted
    answer_tokens: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    # generate
    model: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    cited: set[int] = field(default_factory=set)
    answer: Answer = field(default_factory=Answer)  # the blocks as they were written so far
    usage: dict[str, int] = field(default_factory=dict)
    # check citations: a dictionary per sentence that carries markers
    checks: list[dict[str, Any]] = field(default_factory=list)

    # What nodes of other people share among themselves, by names of their own.
    extra: dict[str, Any] = field(default_factory=dict)

    # What nodes leave for after the answer: done when everything is stored and sent, while nobody waits.
    later: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    # For the trace: what each node wants to be remembered of its run.
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    trace: list[NodeTrace] = field(default_factory=list)

    def note(self, key: str, **detail: Any) -> None:
        """Remember JSON-safe facts about a node's run for the trace."""
        self.details.setdefault(key, {}).update(detail)

    def keep(self, name: str) -> Callable[[], None]:
        """Return what puts back a field, or a value of `extra` ("extra.weather"), as it is now."""
        _, own, key = name.partition("extra.")
        if not own:
            return partial(setattr, self, name, copy(getattr(self, name)))
        if key in self.extra:
            return partial(self.extra.__setitem__, key, copy(self.extra[key]))
        return partial(self.extra.pop, key, None)

    @property
    def conversation(self) -> list[PastTurn]:
        """The history with the turns that were not answered, oldest first: what a question may lean on."""
        return sorted([*self.history, *self.unanswered], key=lambda turn: turn.turn_id)

    @property
    def question_language(self) -> str:
        """`"zh"` or `"en"`: the question's own language, or the interface's when it has none."""
        return language_of(self.question) or ("zh" if self.language.startswith("zh") else "en")

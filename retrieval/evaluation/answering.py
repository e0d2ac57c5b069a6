"""The seam to those who answer questions: the setting `EVALUATION_ANSWERER` names a class of an app above.

What answers is called an assistant here. It is known by its id and the number of its version; a rehearsal is a change
of that version that nobody answers by yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from ragsite.exceptions import Refused
from retrieval.types import Hit


class AnswererRefused(Refused):
    """No question can be answered so, whatever it is."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """An assistant in one of its versions. `name` is what people read, with the version's number."""

    id: int
    version: int
    name: str = ""
    rehearsal: int | None = None

    @property
    def value(self) -> str:
        """What a form calls it."""
        return f"{self.id}.{self.version}"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an answer that ran, in the order in which they began; `ms` is how long."""

    key: str
    label: str
    ms: float


@dataclass(slots=True)
class Answered:
    """What came of a question.

    `hits` are those that the answer is written from, best first; `answer` is its plain text, with `[n]` for what it
    cites: `citations` are {"number", "chunk_id", "document_id", "title", "page"}. `answer_state` is as `AnswerState`,
    empty where the documents were not asked. `error` says in words why the answer is none, or not whole. `usage` counts
    tokens. `queries` are what was searched for.
    """

    hits: list[Hit] = field(default_factory=list)
    answer: str = ""
    answer_state: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    took_ms: float = 0.0
    error: str = ""
    queries: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


class Answerer(Protocol):
    """What the class of `EVALUATION_ANSWERER` has."""

    def offered(self, user: Any) -> list[Assistant]:
        """Return what the person may have answer, in the newest versions, those of one assistant together."""

    def find(
        self, user: Any, assistant: int | str, version: int | None = None, rehearsal: int | None = None
    ) -> Assistant:
        """Return one by its id or name, in its newest version where none is asked for; raises `AnswererRefused`."""

    async def answer(self, user: Any, question: str, knowledge_base_ids: Sequence[int], by: Assistant) -> Answered:
        """Answer a question as the person would be, from these bases alone, with nothing stored of it.

        Raises `AnswererRefused`.
        """


def answerer() -> Answerer:
    """Return the one that the settings name."""
    found: Answerer = import_string(settings.EVALUATION_ANSWERER)()
    return found

"""The interface for answering questions, implemented by the class that `EVALUATION_ANSWERER` names.

Questions are answered by an assistant, identified by its id and version number. A rehearsal is a change to that version
that isn't published yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from ragsite.exceptions import Refused
from retrieval.types import Hit


class AnswererRefused(Refused):
    """No question can be answered with this assistant or user."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """One version of an assistant. `name` is its display name, with the version number."""

    id: int
    version: int
    name: str = ""
    rehearsal: int | None = None

    @property
    def value(self) -> str:
        """The assistant's value in a form field."""
        return f"{self.id}.{self.version}"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an answer that ran, in order of start, and how long it took."""

    key: str
    label: str
    ms: float


@dataclass(slots=True)
class Answered:
    """The answer to a question.

    `hits` are the passages that the answer is written from, best first. `answer` is its plain text with `[n]` markers
    for `citations`: {"number", "chunk_id", "document_id", "title", "page"}. `answer_state` is a value of `AnswerState`,
    or empty if the documents weren't searched. `error` explains why the answer is missing or incomplete. `usage` counts
    tokens. `queries` are the queries searched for.
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
    """The interface of the class that `EVALUATION_ANSWERER` names."""

    def offered(self, user: Any) -> list[Assistant]:
        """Return the assistants that the user may use, in their newest versions, grouped by assistant."""

    def find(
        self, user: Any, assistant: int | str, version: int | None = None, rehearsal: int | None = None
    ) -> Assistant:
        """Return an assistant by its id or name, by default in its newest version. Raises `AnswererRefused`."""

    async def answer(self, user: Any, question: str, knowledge_base_ids: Sequence[int], by: Assistant) -> Answered:
        """Answer a question on behalf of the user, from these knowledge bases only, without storing anything.

        Raises `AnswererRefused`.
        """


def answerer() -> Answerer:
    """Return the answerer that the settings name."""
    found: Answerer = import_string(settings.EVALUATION_ANSWERER)()
    return found

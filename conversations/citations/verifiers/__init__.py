"""Verifiers of an answer's citations; the setting `CITATION_VERIFIER` names one of these or a custom class."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from conversations.blocks import kind_of
from conversations.citations.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Written:
    """A complete answer: its texts in the order of the page, and its passages by number.

    `known` are texts whose facts need no citation, such as the question; None if uncited facts are allowed.
    `language` ("en", "zh") is that of the question.
    """

    texts: Sequence[str]
    passages: Mapping[int, str]
    known: Sequence[str] | None = None
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Verified:
    """The verdicts in the order of the sentences, and JSON-safe facts about how they were reached, for the trace."""

    verdicts: list[Verdict]
    facts: Mapping[str, Any]


class Verifier(Protocol):
    """The interface of verifiers. They are created once, without arguments, and limit their own time."""

    async def verify(self, written: Written) -> Verified:
        """Return a verdict on each sentence that has markers, and on those that lack one."""


def configured(path: str | None = None) -> Verifier:
    """Return the verifier at a dotted path, by default `CITATION_VERIFIER`; raises `ImportError`, `TypeError`."""
    path = path or settings.CITATION_VERIFIER
    found = import_string(path)
    if not hasattr(found, "verify"):
        raise TypeError(f"{path} has no method `verify`.")
    made: Verifier = found()
    return made


def texts_of(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the parts of an answer's blocks that can contain markers: text, and tables row by row."""
    return (" | ".join(map(str, line)) for block in blocks for line in kind_of(block).cited(block))

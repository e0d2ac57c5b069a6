"""A scripted model over HTTP that splits questions as specified in their set, to measure a pipeline without a model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.conversations.multihop.questions import Question
from tests.fakes import answers
from tests.fakes.provider import FakeProvider, Script


@dataclass(frozen=True, slots=True)
class Purpose:
    """A purpose of requests, recognised by a mark in their text, and its reply for a question."""

    mark: str
    reply: Callable[[Question], str]


def _split(question: Question) -> str:
    # The last part of a chain is the unchanged question, which is searched for once more.
    return json.dumps({"parts": [*question.split, *([question.text] if question.then else [])]})


def _missing(question: Question) -> str:
    last = len(question.split) + 1
    return json.dumps({"missing": [{"part": last, "query": text} for text in question.then]})


# Purposes besides those of `tests.fakes.answers`; the first whose mark is in the request applies.
PURPOSES = (
    Purpose("You take questions apart", _split),
    Purpose("你把问题拆开", _split),
    Purpose("what has to be searched for once more", _missing),
    Purpose("说明还需要再检索什么", _missing),
)
# Adds nothing to the result of the rules.
_PLAN = {"intent": "kb_retrieval", "confidence": 0.9, "queries": [], "rewrite": "", "followup": False,
         "plan": {"action": "retrieve_vector", "args": {}}}  # fmt: skip


class ScriptedModel(FakeProvider):
    """Replies to each purpose according to the question in the request; writes answers like the fake provider."""

    def __init__(self, questions: Sequence[Question], purposes: Sequence[Purpose] = PURPOSES) -> None:
        super().__init__()
        self._questions = sorted(
            questions, key=lambda question: -len(question.text)
        )  # a text may contain a shorter one
        self._purposes = purposes

    def next_script(self, body: dict[str, Any]) -> Script:
        """Return the reply of the first purpose whose mark is in the request."""
        text = "\n".join(str(message["content"]) for message in body.get("messages", []))
        asked = next((question for question in self._questions if question.text in text), None)
        purpose = next((purpose for purpose in self._purposes if purpose.mark in text), None)
        if asked is not None and purpose is not None:
            return Script(text=purpose.reply(asked))
        if answers.purpose(body) == "understand":
            return Script(text=json.dumps(_PLAN))
        return super().next_script(body)

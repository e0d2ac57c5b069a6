"""Question files: JSON lines with a question and the documents or passages that answer it. Pure.

    {"question": "How long is the warranty?", "relevant": ["Handbook.pdf"]}
    {"_id": "q7", "question": "…", "relevant": {"4983": 2, "77": 1}}
    {"question": "…", "relevant": [{"document": "Handbook.pdf", "text": "The warranty lasts …", "grade": 1}]}

`relevant` is a list of strings (corpus ids or file names) and numbers (chunk ids), an object that maps them to grades,
or a list of objects with `passage`, `document` (optionally with the `text` of a passage) or `chunk`, and a `grade`. If
only documents are given, several hits from one document count once.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from retrieval.evaluation.loading.jsonl import LineError, identifier, record_of
from retrieval.evaluation.loading.references import Reference

# A run asks them all: a set is for measuring, not for storing logs.
MOST_QUESTIONS = 20_000
# Further errors are most likely of the same kind.
_MOST_ERRORS = 100
_TEXT = ("question", "query", "text")
_RELEVANT = ("relevant", "documents", "passages", "relevant_documents", "relevant_passages")


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question to be added to a set. `key` is its id there, "" to generate one; `line` is its line in the file."""

    key: str
    text: str
    relevant: tuple[Reference, ...]
    line: int = 0


def read_questions(lines: Iterable[bytes]) -> tuple[list[QuestionDraft], list[LineError]]:
    """Return the questions of a file, and the errors of lines that contain none. Empty lines are skipped.

    Reading stops after one question more than a set may have, or after `_MOST_ERRORS` errors.
    """
    drafts: list[QuestionDraft] = []
    errors: list[LineError] = []
    keys: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if len(drafts) > MOST_QUESTIONS or len(errors) == _MOST_ERRORS:
            break
        if not line.strip():
            continue
        try:
            record = record_of(number, line)
            key = identifier(number, record, "_id") if record.get("_id") is not None else ""
            text = next((record[field] for field in _TEXT if record.get(field) is not None), None)
            if text is None:
                raise LineError(number, _("“{field}” is missing").format(field="question"))
            if not isinstance(text, str) or not text.strip():
                raise LineError(number, _("“{field}” must be a non-empty string").format(field="question"))
            if len(text) > settings.MAX_QUESTION_CHARACTERS:
                limit = settings.MAX_QUESTION_CHARACTERS
                raise LineError(number, _("the question is longer than {limit} characters").format(limit=limit))
            given = [record[field] for field in _RELEVANT if record.get(field) is not None]
            relevant = [reference for part in given for reference in _references(number, part)]
            if not relevant:
                raise LineError(number, _("“{field}” names no document or passage").format(field="relevant"))
            draft = QuestionDraft(key, text.strip(), tuple(dict.fromkeys(relevant)), number)
            if draft.key and keys.setdefault(draft.key, number) != number:
                message = _("“_id” {id} is already used on line {line}")
                raise LineError(number, message.format(id=draft.key, line=keys[draft.key]))
            drafts.append(draft)
        except LineError as error:
            errors.append(error)
    return drafts, errors


def write_questions(drafts: Iterable[QuestionDraft]) -> Iterator[str]:
    """Yield the questions as lines that `read_questions` accepts, on this site or another."""
    kept = ("passage", "document", "text", "grade")
    for draft in drafts:
        relevant = [
            {field: value for field, value in reference.to_dict().items() if field in kept}
            for reference in draft.relevant
        ]
        record = {"_id": draft.key, "question": draft.text, "relevant": relevant}
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _references(number: int, given: Any) -> list[Reference]:
    if isinstance(given, dict):
        graded = [Reference(_grade(number, grade), name=name.strip()) for name, grade in given.items()]
    elif isinstance(given, list):
        graded = [_reference(number, item) for item in given]
    else:
        graded = [_reference(number, given)]
    return [reference for reference in graded if reference.grade > 0]


def _reference(number: int, item: Any) -> Reference:
    if isinstance(item, int) and not isinstance(item, bool):
        return Reference(chunk_id=item)
    if isinstance(item, str) and item.strip():
        return Reference(name=item.strip())
    if isinstance(item, dict):
        grade = _grade(number, item.get("grade", 1))
        if item.get("passage") is not None:
            return Reference(grade, passage=identifier(number, item, "passage"))
        if item.get("document") is not None:
            text = item.get("text") or ""
            if not isinstance(text, str):
                raise LineError(number, _("“{field}” must be a string").format(field="text"))
            return Reference(grade, document=identifier(number, item, "document"), text=text)
        chunk = item.get("chunk")
        if isinstance(chunk, int) and not isinstance(chunk, bool):
            return Reference(grade, chunk_id=chunk)
        message = _("a relevant item must have “passage”, “document” or “chunk” (a number), not {item}")
        raise LineError(number, message.format(item=json.dumps(item, ensure_ascii=False)[:80]))
    message = _("“{field}” must list passage ids, file names or chunk ids, not {item}")
    raise LineError(number, message.format(field="relevant", item=json.dumps(item)[:80]))


def _grade(number: int, grade: Any) -> int:
    if isinstance(grade, bool) or not isinstance(grade, int):
        message = _("a grade must be a whole number, not {grade}")
        raise LineError(number, message.format(grade=json.dumps(grade)[:80]))
    return min(grade, 1000)

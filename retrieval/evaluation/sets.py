"""Creating question sets, adding and removing questions, and exporting them as files."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge.access import Actor, key
from knowledge.ingestion.passages import clean
from knowledge.models import Chunk, KnowledgeBase
from ragsite.exceptions import Refused
from retrieval.evaluation.loading.references import Reference, resolve_names
from retrieval.evaluation.models import EvaluationQuestion, EvaluationSet
from retrieval.evaluation.questions import MOST_QUESTIONS, QuestionDraft, read_questions, write_questions

MOST_UPLOAD_MB = 32
_SHOWN_ERRORS = 5
_BATCH = 500


class SetRefused(Refused):
    """An operation on a question set was refused.

    Codes: name_taken, no_name, no_questions, bad_line, unknown_passages, too_many, too_long, too_large, busy; and
    those of `answering.AnswererRefused`, such as no_assistant.
    """


def parse_questions(lines: Iterable[bytes]) -> list[QuestionDraft]:
    """Read a question file (see `questions`). Raises `SetRefused` (bad_line with the lines, no_questions)."""
    drafts, errors = read_questions(lines)
    if errors:
        shown = " · ".join(str(error) for error in errors[:_SHOWN_ERRORS])
        more = len(errors) - _SHOWN_ERRORS
        if more > 0:
            shown += " · " + ngettext("and {n} more line", "and {n} more lines", more).format(n=more)
        raise SetRefused("bad_line", shown)
    if not drafts:
        raise SetRefused("no_questions", _("This file contains no questions."))
    return drafts


def parse_upload(file: File[bytes]) -> list[QuestionDraft]:
    """Read an uploaded question file. Raises `SetRefused` (too_large, bad_line, no_questions)."""
    if (file.size or 0) > MOST_UPLOAD_MB * 1024 * 1024:
        raise SetRefused("too_large", _("The file is larger than {limit} MB.").format(limit=MOST_UPLOAD_MB))
    return parse_questions(file)


def create_set(
    owner: Actor, knowledge_base: KnowledgeBase, name: str, drafts: Sequence[QuestionDraft] = ()
) -> EvaluationSet:
    """Create a question set, which may be empty. Raises `SetRefused`."""
    with transaction.atomic():
        try:
            with transaction.atomic():
                made = EvaluationSet.objects.create(
                    owner_id=key(owner), knowledge_base=knowledge_base, name=_checked_name(name)
                )
        except IntegrityError as error:
            raise _name_refused(error, name) from None
        add_questions(made, drafts)
    return made


def rename_set(evaluation_set: EvaluationSet, name: str) -> EvaluationSet:
    """Rename a question set. Raises `SetRefused`."""
    evaluation_set.name = _checked_name(name)
    try:
        with transaction.atomic():
            evaluation_set.save(update_fields=["name"])
    except IntegrityError as error:
        raise _name_refused(error, name) from None
    return evaluation_set


def add_questions(evaluation_set: EvaluationSet, drafts: Sequence[QuestionDraft]) -> int:
    """Add questions, update those whose key or text already exists, and return how many are new.

    A question with the same key is replaced; one without a key adds its passages to the question with the same text.
    Raises `SetRefused` (unknown_passages, too_many) without any change.
    """
    kept = resolve_names(
        evaluation_set.knowledge_base_id, (reference for draft in drafts for reference in draft.relevant)
    )
    unknown = [
        reference.shown + (" " + _("(line {line})").format(line=draft.line) if draft.line else "")
        for draft in drafts
        for reference in draft.relevant
        if kept[reference] is None
    ]
    if unknown:
        raise _unknown(unknown)
    settled = [
        replace(draft, relevant=tuple(found for each in draft.relevant if (found := kept[each]) is not None))
        for draft in drafts
    ]
    with changing(evaluation_set.pk):
        there = list(evaluation_set.questions.all())
        by_key = {question.key: question for question in there}
        by_text = {question.text: question for question in there}
        new: list[EvaluationQuestion] = []
        changed: dict[int, EvaluationQuestion] = {}
        for draft in settled:
            question = by_key.get(draft.key) if draft.key else by_text.get(draft.text)
            if question is None:
                key = draft.key or uuid.uuid4().hex
                question = EvaluationQuestion(evaluation_set=evaluation_set, key=key, text=draft.text)
                by_key[key] = by_text[draft.text] = question
                new.append(question)
            before = (question.text, question.relevant)
            # A question with a key replaces the stored passages; one without a key adds to them.
            known = [] if draft.key else map(Reference.from_dict, question.relevant)
            question.text = draft.text
            # The last grade of a passage counts.
            references = {replace(reference, grade=0): reference for reference in (*known, *draft.relevant)}
            question.relevant = [reference.to_dict() for reference in references.values()]
            if question.pk and before != (question.text, question.relevant):
                changed[question.pk] = question
        if len(by_key) > MOST_QUESTIONS:
            message = _("A question set can have at most {limit} questions.")
            raise SetRefused("too_many", message.format(limit=MOST_QUESTIONS))
        EvaluationQuestion.objects.bulk_create(new, batch_size=_BATCH)
        EvaluationQuestion.objects.bulk_update(changed.values(), ["text", "relevant"], batch_size=_BATCH)
    return len(new)


@contextmanager
def changing(set_id: int) -> Iterator[None]:
    """Lock a set while its questions are changed, so that concurrent changes run one after the other."""
    with transaction.atomic():
        EvaluationSet.objects.select_for_update().filter(pk=set_id).first()
        yield


def replace_questions(evaluation_set: EvaluationSet, drafts: Sequence[QuestionDraft]) -> None:
    """Replace the questions of a set; those without a key are identified by their lines. Raises `SetRefused`."""
    named = [draft if draft.key else replace(draft, key=f"line {draft.line}") for draft in drafts]
    with changing(evaluation_set.pk):
        evaluation_set.questions.exclude(key__in=[draft.key for draft in named]).delete()
        add_questions(evaluation_set, named)


def add_question(
    evaluation_set: EvaluationSet, text: str, chunk_ids: Sequence[int], grade: int = 1
) -> EvaluationQuestion:
    """Add a question with the chunks of the set's base that answer it; if it exists, add the chunks to it.

    Raises `SetRefused` (no_questions, unknown_passages, too_many, too_long).
    """
    text = checked_text(text)
    if not chunk_ids:
        raise SetRefused("unknown_passages", _("Choose at least one passage that answers the question."))
    chunks = Chunk.objects.filter(
        pk__in=chunk_ids, document__knowledge_base_id=evaluation_set.knowledge_base_id
    ).select_related("document")
    found = {chunk.pk: Reference.to(chunk, grade) for chunk in chunks}
    if missing := set(chunk_ids) - found.keys():
        raise _unknown([str(chunk_id) for chunk_id in sorted(missing)])
    add_questions(evaluation_set, [QuestionDraft("", text, tuple(found[each] for each in dict.fromkeys(chunk_ids)))])
    return evaluation_set.questions.filter(text=text).latest("pk")


def checked_text(text: str) -> str:
    """Return a question's text as it will be stored. Raises `SetRefused` (no_questions, too_long)."""
    text = clean(text).strip()
    if not text:
        raise SetRefused("no_questions", _("The question is empty."))
    if len(text) > settings.MAX_QUESTION_CHARACTERS:
        message = _("The question is longer than {limit} characters.")
        raise SetRefused("too_long", message.format(limit=settings.MAX_QUESTION_CHARACTERS))
    return text


def remove_question(evaluation_set: EvaluationSet, question_id: int) -> bool:
    """Remove a question from a set; return whether it was there. Runs keep its results."""
    deleted, _by_model = evaluation_set.questions.filter(pk=question_id).delete()
    return bool(deleted)


def export(evaluation_set: EvaluationSet) -> Iterator[str]:
    """Yield a set's questions as JSON lines for `parse_questions`, without those that have no right passages."""
    return write_questions(
        QuestionDraft(question.key, question.text, tuple(map(Reference.from_dict, question.relevant)))
        for question in evaluation_set.questions.order_by("pk")
        if question.relevant
    )


def _unknown(shown: Sequence[str]) -> SetRefused:
    message = ngettext(
        "{n} passage or document is not in this knowledge base: {names}",
        "{n} passages or documents are not in this knowledge base: {names}",
        len(shown),
    )
    names = ", ".join(shown[:_SHOWN_ERRORS]) + (", …" if len(shown) > _SHOWN_ERRORS else "")
    return SetRefused("unknown_passages", message.format(n=len(shown), names=names))


def _checked_name(name: str) -> str:
    name = " ".join(clean(name).split())
    if not name:
        raise SetRefused("no_name", _("Enter a name for the question set."))
    if len(name) > 120:
        raise SetRefused("too_long", _("The name is longer than {limit} characters.").format(limit=120))
    return name


def _name_refused(error: IntegrityError, name: str) -> SetRefused:
    if "evaluation_set_name_unique" not in str(error):
        raise error
    return SetRefused(
        "name_taken", _("You already have a question set named “{name}” on this knowledge base.").format(name=name)
    )

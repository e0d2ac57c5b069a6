"""Assistants for evaluations: finding them, and answering questions without a session."""

import time
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from conversations.assistants import choice
from conversations.assistants.choice import Choices
from conversations.assistants.configuration import Configuration, ConfigurationError
from conversations.events import plain_text
from conversations.models import Assistant, AssistantVersion, Rehearsal
from conversations.pipeline.state import State
from conversations.turn_store import TurnRefused
from conversations.turns import unstored
from conversations.turns.lifecycle import find_node
from ragsite.db import in_database
from ragsite.language.detection import UI_LANGUAGE, language_of
from retrieval.evaluation import answering
from retrieval.evaluation.answering import Answered, AnswererRefused, Step

# The versions offered of each assistant.
_OFFERED = 5
# The refusals that are about the question; all others are about the assistant, whatever the question.
_ABOUT_QUESTION = {"empty_question", "question_too_long"}


class AssistantAnswerer:
    """An implementation of `retrieval.evaluation.answering.Answerer` by assistants."""

    def offered(self, user: Any) -> list[answering.Assistant]:
        """Return the newest versions of the assistants that a user may use, the default first."""
        versions = AssistantVersion.objects.filter(assistant__in=_measurable(user)).select_related("assistant")
        found: dict[int, list[answering.Assistant]] = {}
        for version in versions.order_by("-assistant__is_default", "assistant__name", "-number").defer("configuration"):
            group = found.setdefault(version.assistant_id, [])
            if len(group) < _OFFERED:
                group.append(answering.Assistant(version.assistant_id, version.number, str(version)))
        return [each for group in found.values() for each in group]

    def find(
        self, user: Any, assistant: int | str, version: int | None = None, rehearsal: int | None = None
    ) -> answering.Assistant:
        """Return an assistant that a user may use; raises `AnswererRefused`."""
        found = _version(user, assistant, version)
        return answering.Assistant(found.assistant_id, found.number, str(found), rehearsal)

    async def answer(
        self, user: Any, question: str, knowledge_base_ids: Sequence[int], by: answering.Assistant
    ) -> Answered:
        """Answer as in an empty chat of the user, in the question's language, without the user's remembered facts."""
        began = time.perf_counter()
        choices = await in_database(_choices, user, by)
        try:
            state = await unstored.answer(
                user,
                question,
                knowledge_base_ids=knowledge_base_ids,
                choices=choices,
                language=UI_LANGUAGE.get(language_of(question), "en"),
                memory=False,
            )
        except TurnRefused as refused:
            if refused.code not in _ABOUT_QUESTION:
                raise AnswererRefused(refused.code, refused.message) from refused
            return Answered(error=refused.message)
        return _answered(state, (time.perf_counter() - began) * 1000)


def _measurable(user: Any) -> QuerySet[Assistant]:
    """Return the assistants that a user may use, and for users who may edit assistants also the disabled ones."""
    if user is None:
        return Assistant.objects.none()
    return Assistant.objects.all() if user.has_perm("conversations.change_assistant") else choice.usable(user)


def _version(user: Any, assistant: int | str, number: int | None) -> AssistantVersion:
    named = {"assistant": assistant} if isinstance(assistant, int) else {"assistant__name": assistant}
    versions = AssistantVersion.objects.filter(assistant__in=_measurable(user), **named).select_related("assistant")
    found = versions.filter(**{} if number is None else {"number": number}).order_by("-number").first()
    if found is None:
        raise AnswererRefused("no_assistant", _("This assistant or version doesn't exist, or you may not use it."))
    return found


def _choices(user: Any, by: answering.Assistant) -> Choices:
    version = _version(user, by.id, by.version)
    configuration = version.configuration
    if by.rehearsal is not None:
        rehearsal = Rehearsal.objects.filter(pk=by.rehearsal, assistant=version.assistant_id).first()
        if rehearsal is None:
            raise AnswererRefused("no_assistant", _("The change to rehearse no longer exists."))
        configuration = rehearsal.configuration
    try:
        return Choices(version_id=version.pk, tried=Configuration.from_dict(configuration))
    except ConfigurationError as error:
        raise AnswererRefused("assistant_unusable", str(error)) from error


def _answered(state: State, took_ms: float) -> Answered:
    answer, steps = state.answer, []
    for ran in sorted(state.trace, key=lambda entry: entry.started_at):
        if ran.status != "skipped":
            node = find_node(ran.key)
            label = str(node.title) if node is not None and node.title else ran.key.replace("_", " ")
            steps.append(Step(ran.key, label, ran.ms))
    return Answered(
        hits=state.found.hits,
        answer=plain_text(answer.blocks),
        answer_state=answer.answer_state,
        citations=[
            {
                "number": citation["index"],
                "chunk_id": citation["chunk_id"],
                "document_id": citation["document_id"],
                "title": citation.get("title") or citation["filename"],
                "page": citation.get("page"),
            }
            for citation in answer.citations
            if citation["index"] in state.prompt.cited
        ],
        usage={name: count for name, count in answer.usage.items() if name.endswith("_tokens")},
        took_ms=took_ms,
        error=str(answer.error["message"]) if answer.error else "",
        queries=[query.text for query in state.plan.queries],
        steps=steps,
    )

"""The example conversation on the sample documents: what answers look like, before anyone types.

Its questions are asked like any others, so that it shows what this site does, with its model or without one.
"""

import asyncio
import uuid
from contextlib import aclosing
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from conversations import services
from conversations.inbox import unseen
from conversations.models import ChatSession
from conversations.turn_store import TurnRefused
from conversations.turns import broker
from conversations.turns.lifecycle import Ask, start_turn
from knowledge.models import Document, KnowledgeBase
from ragsite.db import context_of_its_own, in_database

# By language: two questions that the samples answer, one that they only come close to, and one on something else.
QUESTIONS = {
    "en": (
        "How long does a firmware update take?",
        "年假有多少天？",
        "Can the LS-2408 be mounted on a wall outdoors?",
        "Who won the World Cup in 2018?",
    ),
    "zh": (
        "年假有多少天？",
        "How long does a firmware update take?",
        "员工可以带宠物上班吗？",
        "2018 年世界杯谁夺冠？",
    ),
}
# It is made soon after the samples were added, or not at all: somebody may have deleted it since.
MADE_WITHIN = timedelta(hours=1)
# Seconds to wait for the sample documents, and between two looks.
PATIENCE, PACE = 60.0, 0.5
_IDS = uuid.UUID("5f0f2a52-6f6f-4d0c-9f4e-0a1c7d1f3e55")


def request_id(base_id: int, number: int) -> uuid.UUID:
    """Return the request id of a question of a base's example, by which it is asked only once."""
    return uuid.uuid5(_IDS, f"{base_id}/{number}")


def find_example(base_id: int) -> tuple[int | None, bool]:
    """Return the id of a base's example conversation, or None if there is none; and whether it can be made."""
    session = ChatSession.objects.filter(turns__request_id=request_id(base_id, 0)).first()
    if session is not None:
        return (session.pk if session.status == ChatSession.Status.ACTIVE else None), False
    since = timezone.now() - MADE_WITHIN
    return None, KnowledgeBase.objects.filter(pk=base_id, created_at__gte=since).exists()


# Examples that this process is making, by base.
_under_way: dict[int, asyncio.Task[int | None]] = {}


async def make_example(user: Any, base_id: int, language: str) -> int | None:
    """Ask the example's questions in a new conversation about a base; return its id, or None if that isn't possible.

    Waits until the base's documents are ready, and for the answers. It is completed even if the caller is cancelled,
    as a view is when its page is left.
    """
    task = _under_way.get(base_id)
    if task is None:
        task = _under_way[base_id] = asyncio.create_task(_made(user, base_id, language), context=context_of_its_own())
        task.add_done_callback(lambda _done: _under_way.pop(base_id, None))
    return await asyncio.shield(task)


async def _made(user: Any, base_id: int, language: str) -> int | None:
    unfinished = Document.objects.filter(knowledge_base=base_id, status__in=Document.UNFINISHED)
    looks = round(PATIENCE / PACE)
    while looks and await unfinished.aexists():
        looks -= 1
        await asyncio.sleep(PACE)
    with override(language):
        title = _("Example: what answers look like")
    session = await in_database(services.create_session, user, title, [base_id])
    try:
        for number, question in enumerate(QUESTIONS["zh" if language.startswith("zh") else "en"]):
            key = request_id(base_id, number)
            started = await start_turn(
                user, Ask(session.pk, question, request_id=key, language=language, awaited=False)
            )
            async with aclosing(broker.follow(started.assistant_message_id)) as batches:
                while await anext(batches, None) is not None:  # until its end
                    continue
    except TurnRefused:  # another page has begun it, or too many answers are running
        await in_database(session.delete)
        return None
    # Below the conversations that were begun in the meantime.
    made = await KnowledgeBase.objects.aget(pk=base_id)
    await ChatSession.objects.filter(pk=session.pk).aupdate(last_activity_at=made.created_at)
    await unseen.announce(user.pk, session.pk, ended=False)
    return session.pk

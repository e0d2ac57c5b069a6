"""Chat titles written by a model, which is asked after the first answer, so that nobody waits for them."""

import logging
import re

from channels.layers import get_channel_layer

from conversations.groups import session_group
from conversations.models import ChatSession
from conversations.pipeline.state import State
from conversations.prompts import side_calls
from conversations.prompts.no_reply import NoReply
from conversations.services import TITLE_LENGTH, shortened, title_from_question
from ragsite.db import in_database

logger = logging.getLogger(__name__)

SECONDS = 30.0
# Characters of a reply that are read: it may be long, but the marks around a title are short.
_LOOKED_AT = 1000
_AROUND = re.compile(r"""^[\s"'“”‘’「」《》*#`]+|[\s"'“”‘’「」《》*`.。!！]+$""")
_LABEL = re.compile(r"^(title|标题)\s*[:：]\s*", re.IGNORECASE)


async def improve(state: State) -> None:
    """Replace a title that was taken from a question by a model's, and notify the pages.

    Without a model, or if somebody has renamed the chat meanwhile, the title stays.
    """
    request, started = state.request, state.started
    if started is None or state.past.turns:  # only the first question has named the chat
        return
    made = title_from_question(request.question)[:TITLE_LENGTH]
    session = ChatSession.objects.filter(pk=started.session_id, title=made)
    if not made or not await in_database(session.exists):
        return
    try:
        answered = await side_calls.ask("title", request.question_language, SECONDS, question=request.question)
    except NoReply as reason:
        if str(reason) != "no model":
            logger.info("Session %d keeps its title: %s", started.session_id, reason)
        return
    title = cleaned(answered.text)
    if not title:
        return
    if await in_database(session.update, title=title):
        await get_channel_layer().group_send(session_group(started.session_id), {"type": "session.changed"})


def cleaned(reply: str) -> str:
    """Return a model's reply as a title: its first line without quotation marks, label and markup, cut to size."""
    line = next((line for line in reply.splitlines() if line.strip()), "").strip()[:_LOOKED_AT]
    return shortened(_AROUND.sub("", _LABEL.sub("", _AROUND.sub("", line))))[:TITLE_LENGTH]

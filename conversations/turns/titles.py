"""Chat titles written by a model after the first answer, so that nobody waits for them."""

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
# The most characters read of a reply, which may be long.
_READ = 1000
_AROUND = re.compile(r"""^[\s"'“”‘’「」《》*#`]+|[\s"'“”‘’「」《》*`.。!！]+$""")
_LABEL = re.compile(r"^(title|标题)\s*[:：]\s*", re.IGNORECASE)


async def improve(state: State) -> None:
    """Replace a title taken from a question with one written by a model, and notify the pages.

    The title stays if there is no model or the chat has been renamed in the meantime.
    """
    request, started = state.request, state.started
    if started is None or state.past.turns:  # only the first question names the chat
        return
    current = title_from_question(request.question)[:TITLE_LENGTH]
    session = ChatSession.objects.filter(pk=started.session_id, title=current)
    if not current or not await in_database(session.exists):
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
    line = next((line for line in reply.splitlines() if line.strip()), "").strip()[:_READ]
    return shortened(_AROUND.sub("", _LABEL.sub("", _AROUND.sub("", line))))[:TITLE_LENGTH]

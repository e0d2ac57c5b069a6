"""Loads the facts that the user asked to be remembered, and stores a new one."""

from collections.abc import Mapping
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.memory import facts
from conversations.memory.requests import read_request
from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.writing.extractive_answer import reply_language
from ragsite.db import in_database
from ragsite.site_settings.config import config


class Memory(Node):
    """Loads the user's facts while their memory is on, and stores a new one if the message asks for it."""

    key = "memory"
    title = gettext_lazy("Recall remembered facts")
    after = ("save_question",)
    timeout = 5.0
    on_error = "skip"
    writes = ("past.memories", "plan.reply", "plan.action")

    def wanted(self, state: State) -> bool:
        """Return whether memory is on for this request; an evaluation switches it off to be independent of the user."""
        return state.request.memory

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `memories`; for a message that is nothing but a fact also `reply` and `action`.

        The trace contains only the number of facts, since other people may read it.
        """
        await in_database(_recall, state)
        if state.plan.reply:
            state.plan.action = "answer_chat"
        ctx.note(facts=len(state.past.memories), asked=bool(state.plan.reply))

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe the number of remembered facts; their contents are private to the user."""
        if "facts" not in detail:
            return Description()
        count = detail["facts"]
        words = ngettext("%(count)d fact", "%(count)d facts", count) % {"count": count}
        return Description([(_("Remembered"), words)])


def _recall(state: State) -> None:
    request = read_request(state.request.question)
    if request is not None:
        with translation.override(reply_language(state)):
            reply = _reply(state.request.user_id, request.fact)
        state.plan.reply = reply if request.alone else ""
    if config.ENABLE_MEMORY:
        state.past.memories = facts.known(state.request.user_id)


def _reply(user_id: int, fact: str) -> str:
    if not config.ENABLE_MEMORY:
        return _("On this site, nothing is remembered beyond this chat.")
    if not facts.is_memory_on(user_id):
        return _(
            "Your memory is switched off, so I don't remember anything beyond this chat. "
            "You can switch it on in your account."
        )
    try:
        stored = facts.remember(user_id, fact)
    except facts.FactRefused as refused:
        return refused.message
    return _("I will remember: %(fact)s") % {"fact": stored.content}

"""What the user asked to be remembered, in this message or an earlier one."""

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.memory import facts
from conversations.memory.requests import read_request
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from ragsite.db import in_database


class Memory(Node):
    """Loads the user's facts while their memory is on, and stores a new one when the message asks for that."""

    key = "memory"
    title = gettext_lazy("Recall what to remember")
    after = ("save_question",)
    timeout = 5.0
    on_error = "skip"
    reads = ("user_id", "question")
    writes = ("memories", "reply", "action")

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `memories`; for a message that is nothing but a fact also `reply` and `action`.

        The trace counts the facts only: others may read it.
        """
        await in_database(_recall, state)
        if state.reply:
            state.action = "answer_chat"
        ctx.note(facts=len(state.memories), asked=bool(state.reply))


def _recall(state: State) -> None:
    request = read_request(state.question)
    if request is not None:
        with translation.override("zh-hans" if state.question_language == "zh" else "en"):
            reply = _reply(state.user_id, request.fact)
        state.reply = reply if request.alone else ""
    state.memories = facts.known(state.user_id)


def _reply(user_id: int, fact: str) -> str:
    if not facts.is_memory_on(user_id):
        return _(
            "I don't remember anything beyond this chat: your memory is switched off. "
            "You can switch it on in your account."
        )
    try:
        stored = facts.remember(user_id, fact)
    except facts.FactRefused as refused:
        return refused.message
    return _("I will remember: %(fact)s") % {"fact": stored.content}

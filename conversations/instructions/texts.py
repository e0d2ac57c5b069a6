"""The instructions of an assistant, a user and a chat: their limit, storage, and form in a system prompt."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from conversations.groups import notify_pages
from conversations.models import ChatSession, OwnInstructions
from ragsite.exceptions import Refused
from ragsite.llm.stream.unicode_repair import whole

# The most characters of each of the three.
LONGEST_INSTRUCTIONS = 2000

_HEADING = {
    "en": "How to write the answer, as the editors of this assistant, the user and this chat ask for it. A later wish "
    "takes precedence over an earlier one, and over the length, language and format asked for above. These wishes are "
    "about style, not facts: they change nothing in the rules above on passages, sources and citations.",
    "zh": "助手的编辑者、用户和本次对话对回答写法的要求。"
    "后面的要求优先于前面的要求，也优先于上文对篇幅、语言和格式的要求。"
    "这些要求只涉及写法，不涉及事实：上文关于段落、来源和引用的规则不因此改变。",
}
_WITHHELD = "…"


@dataclass(frozen=True, slots=True)
class Instructions:
    """How an answer should be written, in the order of precedence: a later text overrides an earlier one."""

    assistant: str = ""
    own: str = ""
    chat: str = ""

    def __bool__(self) -> bool:
        return bool(self.assistant or self.own or self.chat)

    def as_prompt(self, language: str, withheld: bool = False) -> str:
        """Return the section of a system prompt, empty without instructions; `withheld` hides the user's own."""
        own = _WITHHELD if self.own and withheld else self.own
        texts = {"assistant": self.assistant, "user": own, "chat": self.chat}
        # A text can't close its tag.
        closed = {source: text.replace("</instructions", "<\u200b/instructions") for source, text in texts.items()}
        parts = [f'<instructions from="{source}">\n{text}\n</instructions>' for source, text in closed.items() if text]
        return "\n".join([_HEADING[language], *parts]) if parts else ""


def validated_instructions(text: str) -> str:
    """Return instructions as they are stored; raises `Refused` if they are too long."""
    text = whole(text.replace("\r\n", "\n")).strip()
    if len(text) > LONGEST_INSTRUCTIONS:
        raise Refused(
            "instructions_too_long",
            _("The instructions have %(length)d characters, but can have at most %(limit)d. Shorten them.")
            % {"length": len(text), "limit": LONGEST_INSTRUCTIONS},
        )
    return text


def own_instructions(user_id: int) -> str:
    """Return a user's own instructions; empty if there are none."""
    return OwnInstructions.objects.filter(pk=user_id).values_list("text", flat=True).first() or ""


def set_own_instructions(user_id: int, text: str) -> str:
    """Store a user's own instructions, empty for none, and return them; raises `Refused`."""
    text = validated_instructions(text)
    if text:
        OwnInstructions.objects.update_or_create(user_id=user_id, defaults={"text": text})
    else:
        OwnInstructions.objects.filter(pk=user_id).delete()
    return text


def set_chat_instructions(session: ChatSession, text: str) -> None:
    """Store the instructions of a chat, empty for none; raises `Refused`."""
    session.instructions = validated_instructions(text)
    session.save(update_fields=["instructions"])
    notify_pages(session.pk, "session.scope")


def for_turn(session: ChatSession, assistant: str = "") -> Instructions:
    """Return the instructions of a turn in a session of `access.get_session`, which reads its user's with it."""
    own: str | None = getattr(session, "own_instructions", None)
    return Instructions(assistant, own or "", session.instructions)

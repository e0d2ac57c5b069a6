"""What is said without a language model where there is nothing to quote: small talk, and asking back. Pure.

Texts are in the language that is active.
"""

import re

from django.utils.translation import gettext as _

from conversations.pipeline.understanding.keywords import content_terms
from conversations.pipeline.understanding.missing_object import lacks_object
from conversations.pipeline.writing.blocks import escape_markdown
from ragsite.language import GREETS_EN, GREETS_ZH

# Characters of a message that are repeated to who wrote it.
_REPEATED = 60

_KINDS = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        "thanks": r"\b(thanks?|thx|cheers)\b|谢|感谢",
        "farewell": r"\b((good)?bye|see you|good night)\b|再见|拜拜|晚安",
        "help": r"\b(who are you|what (are|can) you|help)\b|你是谁|你叫什么|你能|你会|帮助",
        "greeting": rf"\b({GREETS_EN}|how are you)\b|{GREETS_ZH}|在吗",
        "agreed": r"^\W*(ok(ay)?|great|perfect|nice|cool|got it)\b|^\W*(好的?|好吧|明白了?|知道了)",
    }.items()
}
_TRANSLATE = re.compile(
    r"""^\W*(?:(?:please|ok|now|and|(?:can|could|would)\ you)\W+)*translate
        (?:\s+(?:it|this|that|these|those|everything|your|the\s+(?:above|answer|last))\b|\s.*\b(?:in)?to\s+(?-i:[A-Z]))
    |^\W*(?:请|帮我|麻烦|再|能否|可以)*[你您]?(?:把.{1,40}?)?(?:翻译|译)(?:[成为这那]|一下|上面)""",
    re.IGNORECASE | re.VERBOSE,
)
_POINTS = re.compile(
    r"\b(it|its|they|them|their|this|that|these|those|he|she|him|her|his|the former|the latter|former|latter|there)\b"
    r"|它们?|(?<!其)他们?|她们?|这个|那个|这些|那些|这位|那位|这里|那里|前者|后者|上述",
    re.IGNORECASE,
)


def asks_to_translate(message: str) -> bool:
    """Whether a message wants something translated, and not how that is done."""
    return bool(_TRANSLATE.search(message))


def reply(message: str) -> str:
    """Return an answer to a greeting, thanks, a farewell, "who are you" or the like."""
    if asks_to_translate(message):
        return _("I can't translate: no language model is configured, so I quote your documents as they are.")
    kind = next((kind for kind, pattern in _KINDS.items() if pattern.search(message)), "")
    match kind:
        case "greeting":
            return _("Hello! Ask me anything about your documents.") + " " + _how_i_answer()
        case "thanks":
            return _("You're welcome. Ask me anything else whenever you like.")
        case "farewell":
            return _("Goodbye! This chat is kept for you.")
        case "help":
            return _("I answer questions from the documents in your knowledge bases.") + " " + _how_i_answer()
        case "agreed":
            return _("Good. What else would you like to know?")
    return _("I can answer only from your documents, since no language model is configured. What should I look for?")


def clarifying_question(message: str) -> str:
    """Return a question back that names what is unclear."""
    if not re.search(r"\w", message):
        return _("There is no word in your message to search for. What would you like to know?")
    pointer = _POINTS.search(message)
    if pointer:
        told = _("What does “%(word)s” stand for? Please name the thing or the document that you mean.")
        return told % {"word": pointer.group()}
    if lacks_object(message) or not content_terms(message):
        told = _("“%(message)s” does not say what it is about. Please name the thing or the document that you mean.")
        text = " ".join(message.split())
        return told % {"message": escape_markdown(text if len(text) <= _REPEATED else text[:_REPEATED] + "…")}
    return _("What would you like to know? Please name the thing or the document that you mean.")


def _how_i_answer() -> str:
    return _(
        "I show you the passages that answer, each with its source; no language model is configured, so I quote "
        "instead of writing."
    )

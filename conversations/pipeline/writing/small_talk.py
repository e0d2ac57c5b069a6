"""Replies without a language model and without quotes: small talk and clarifying questions. Pure.

Texts are in the active language.
"""

import re

from django.utils.translation import gettext as _

from conversations.pipeline.writing.blocks import escape_markdown
from ragsite.language.content_words import content_terms
from ragsite.language.missing_object import lacks_object
from ragsite.language.small_talk import asks_to_translate, kind_of, pointer_in

# The most characters of a message that a reply repeats.
_REPEATED = 60


def reply(message: str) -> str:
    """Return an answer to a greeting, thanks, a farewell, "who are you" or the like."""
    if asks_to_translate(message):
        return _("I can't translate: no language model is configured, so I quote your documents as they are.")
    match kind_of(message):
        case "greeting":
            return _("Hello! Ask me anything about your documents.") + " " + _how_i_answer()
        case "thanks":
            return _("You're welcome. Ask me anything else whenever you like.")
        case "farewell":
            return _("Goodbye! This chat stays in your history.")
        case "help":
            return _("I answer questions from the documents in your knowledge bases.") + " " + _how_i_answer()
        case "agreed":
            return _("Good. What else would you like to know?")
    return _("I can answer only from your documents, since no language model is configured. What should I look for?")


def clarifying_question(message: str) -> str:
    """Return a question that asks the user to clarify what is unclear."""
    if not re.search(r"\w", message):
        return _("There is no word in your message to search for. What would you like to know?")
    if pointer := pointer_in(message):
        question = _("What does “%(word)s” refer to? Please name the subject or the document you mean.")
        return question % {"word": pointer}
    if lacks_object(message) or not content_terms(message):
        question = _("“%(message)s” does not say what it is about. Please name the subject or the document you mean.")
        text = " ".join(message.split())
        return question % {"message": escape_markdown(text if len(text) <= _REPEATED else text[:_REPEATED] + "…")}
    return _("What would you like to know? Please name the subject or the document you mean.")


def _how_i_answer() -> str:
    return _(
        "I show you the passages that answer your question, each with its source. No language model is configured, so "
        "I quote instead of writing."
    )

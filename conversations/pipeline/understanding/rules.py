"""Decides without a model what to do with a question, and what to search for. Pure.

Greetings are chat; a first question without an object needs clarification; a question that depends on earlier turns is
searched as it is and also with the words that it needs from them. `manage.py bench_followups` measures the figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.history import PastTurn
from conversations.pipeline.understanding.carry_over import Known, agreement, joint_query
from conversations.pipeline.understanding.coreference import asks_the_same, resolve, with_carried_words
from ragsite.language.content_words import content_terms
from ragsite.language.context_dependence import dependence_on_context, names_another
from ragsite.language.detection import language_of
from ragsite.language.missing_object import lacks_object
from ragsite.language.small_talk import is_small_talk
from retrieval.engine.fulltext import Frequencies

# The `carry_over.agreement` above which passages connect a question with the conversation.
CONNECTED = 0.2
# The weight of a question relative to its rewritten or expanded form.
BESIDE = 0.5


@dataclass(frozen=True, slots=True)
class Understanding:
    """The action (`retrieve_vector`, `answer_chat`, `clarify`), the queries with their weights, and the reason.

    `carried` contains the words of the conversation added to the question, and `ranking_query` is the query that
    passages are judged by: the question, with these words if it depends on them. `clarify` has a query if a model might
    understand more.
    """

    action: str
    queries: tuple[tuple[str, float], ...] = ()
    reason: str = ""
    ranking_query: str = ""
    carried: tuple[str, ...] = ()


def understand(question: str, history: Sequence[PastTurn], known: Known) -> Understanding:
    """Decide by rules; `history` is oldest first, and `known` has the conversation's words in the documents.

    A question that depends on the conversation is searched as it is and also with the words that it needs. One that is
    only short is not, if it is in another language than all questions before it and no passage connects them.
    """
    text = question.strip()
    if is_small_talk(text):
        return Understanding("answer_chat", reason="greeting")
    named = content_terms(text)
    earlier = earlier_questions(history)
    if not earlier:
        if known.titles and (not named or lacks_object(text)):  # "What is this about?" means these documents
            full = " ".join([text, *known.titles])
            return Understanding("retrieve_vector", ((full, 1.0),), "about the documents", full, known.titles)
        if named and lacks_object(text):
            return Understanding("clarify", ((text, 1.0),), "no object", text)
        return _alone(text)
    reason = dependence_on_context(text)
    if reason == "fragment" and named:
        languages = {language_of(turn) for turn in earlier}
        changes_language = "" not in languages and language_of(text) not in {"", *languages}
        if changes_language and agreement(text, earlier, known) <= CONNECTED:
            reason = ""
    if not reason:
        return _alone(text)
    full, carried = with_carried_words(text, earlier, known)
    asks_again = named and names_another(text) and full.endswith(text)
    if full == text or (asks_again and all(len(word) == 1 for word in carried)):
        return _alone(text)
    bare = ((text, BESIDE),) if named else ()
    return Understanding("retrieve_vector", (*bare, (full, 1.0)), reason, full, carried)


def earlier_questions(history: Sequence[PastTurn]) -> list[str]:
    """Return the questions of a conversation (oldest first) that a later one may depend on, without greetings.

    A question that `asks_the_same`, such as "And the LS-2424?", is given in full.
    """
    found: list[str] = []
    for turn in history:
        if not is_small_talk(turn.question):
            found.append(asks_the_same(turn.question, found) or turn.question)
    return found


def context_probe_query(question: str, earlier: Sequence[str], frequencies: Frequencies) -> str:
    """Return the query text for passages that show which words a question needs from earlier ones (oldest first).

    It is empty if the question stands alone, or if no passage could show it.
    """
    text = question.strip()
    if not dependence_on_context(text):
        return ""
    resolved, _replaced, left = resolve(text, earlier)
    return joint_query(resolved, left, frequencies)


def queries_with_rewrite(question: str, rewrite: str) -> tuple[tuple[str, float], ...]:
    """Return the queries for a rewritten question, and the question itself for what rewriting lost.

    Passages are judged by both. Recall@5 on later turns with people's rewritings, without and with the question: cloud
    .324 and .340, government .519 and .539.
    """
    if rewrite == question.strip():
        return ((rewrite, 1.0),)
    return ((rewrite, 1.0), (question, BESIDE))


def _alone(text: str) -> Understanding:
    if not content_terms(text):
        return Understanding("clarify", reason="no searchable word")
    return Understanding("retrieve_vector", ((text, 1.0),), "stands alone", text)

"""Decides without a model what to do with a question, and what to search for. Pure.

Greetings are chat; a first question without an object needs clarification; a question that depends on earlier turns is
searched as it is and also with the words that it needs from them. `manage.py bench_followups` measures the figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.history import PastTurn
from conversations.pipeline.understanding.carry_over import Known, agreement, joint_query
from conversations.pipeline.understanding.coreference import resolve, with_carried_words
from conversations.pipeline.understanding.keywords import specificity
from ragsite.language.content_words import content_terms
from ragsite.language.context_dependence import dependence_on_context, introduces, names_another
from ragsite.language.detection import language_of
from ragsite.language.missing_object import lacks_object
from ragsite.language.small_talk import is_small_talk
from retrieval.engine.fulltext import Frequencies

# Reasons for which the words carried over count as much as the question.
POINTING = ("pronoun", "continuation")
# How specific a question is that stands alone, see `keywords.specificity`.
ENOUGH_ALONE = 1.5
# The same if passages connect the question and the conversation. It is lower for English, which seldom leaves out its
# subject without a sign.
ENOUGH_TOGETHER = {"zh": 4.0, "en": 2.5}
# The `carry_over.agreement` from which passages connect them a little, and fully.
TOGETHER = (0.2, 0.6)
# A question that is this much less specific than one that stands alone depends as fully as one with a pronoun.
FULLY_DEPENDENT = 0.8
LEAST_WEIGHT = 0.05
# The highest weight of the conversation for a question that names its own subject, or that names something in another
# language than all questions before it and that no passage connects to them.
INTRODUCES = 0.25
# The weight of the question relative to its rewritten form, and of a fully dependent one relative to its expanded form.
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

    A question that depends on the conversation is searched as it is and also with the words that it needs. The latter
    have full weight if the question refers to them; otherwise the more specific the question is, the less they weigh,
    unless passages connect question and conversation.
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
    full, carried = with_carried_words(text, earlier, known)
    weight = 1.0
    if reason not in POINTING:
        # Weigh by how specific it is, and by how far the documents connect it to what came before.
        little, fully = TOGETHER
        connection = min(1.0, max(0.0, (agreement(text, earlier, known) - little) / (fully - little)))
        enough = ENOUGH_ALONE + (_enough_together(text) - ENOUGH_ALONE) * connection
        lacks = 1.0 - specificity(text, known.frequencies) / enough
        languages = {language_of(turn) for turn in earlier}
        changes_language = bool(named) and "" not in languages and language_of(text) not in {"", *languages}
        names_itself = introduces(text) or (changes_language and not connection)
        weight = min(lacks / FULLY_DEPENDENT, INTRODUCES if names_itself else 1.0)
    if (
        weight < LEAST_WEIGHT
        or full == text
        or (named and names_another(text) and full.endswith(text) and all(len(word) == 1 for word in carried))
    ):
        return _alone(text)
    bare = ((text, BESIDE if weight == 1.0 else 1.0),) if named else ()
    queries = (*bare, (full, round(weight, 2) if named else 1.0))
    ranking_query = full if weight >= BESIDE or not named else text
    return Understanding("retrieve_vector", queries, reason or "common words", ranking_query, carried)


def earlier_questions(history: Sequence[PastTurn]) -> list[str]:
    """Return the questions of a conversation (oldest first) that a later one may depend on, without greetings."""
    return [turn.question for turn in history if not is_small_talk(turn.question)]


def context_probe_query(question: str, earlier: Sequence[str], frequencies: Frequencies) -> str:
    """Return the query text for passages that show whether a question depends on earlier ones (oldest first).

    It is empty if the question clearly stands alone, or if no passage could show it.
    """
    text = question.strip()
    clear = dependence_on_context(text) not in POINTING and specificity(text, frequencies) >= _enough_together(text)
    resolved, _replaced, left = resolve(text, earlier)
    return "" if clear else joint_query(resolved, left, frequencies)


def queries_with_rewrite(question: str, rewrite: str) -> tuple[tuple[str, float], ...]:
    """Return the queries for a rewritten question, and the question itself for what rewriting lost.

    Passages are judged by both. Recall@5 on later turns with people's rewritings, without and with the question: cloud
    .324 and .340, government .519 and .539.
    """
    if rewrite == question.strip():
        return ((rewrite, 1.0),)
    return ((rewrite, 1.0), (question, BESIDE))


def _enough_together(text: str) -> float:
    return ENOUGH_TOGETHER.get(language_of(text), ENOUGH_ALONE)


def _alone(text: str) -> Understanding:
    if not content_terms(text):
        return Understanding("clarify", reason="no searchable word")
    return Understanding("retrieve_vector", ((text, 1.0),), "stands alone", text)

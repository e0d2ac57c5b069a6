"""Understanding a question without a model: what to do with it, and what to search for. Pure.

Greetings are chat; a question whose object is missing, with nothing before it, is asked back; a question that depends
on the turns before it is searched as it stands and, beside it, with the words of theirs that it needs. The figures
are in `manage.py bench_followups`.
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
ENOUGH = 1.5
# The same if passages join the question and the conversation. Lower for English, which seldom leaves out its subject
# without a sign.
ENOUGH_TOGETHER = {"zh": 4.0, "en": 2.5}
# The `carry_over.agreement` from which passages join them a little, and fully.
TOGETHER = (0.2, 0.6)
# A question that is this much less specific than one that stands alone depends as fully as one with a pronoun.
LEANS_FULLY = 0.8
LEAST_WEIGHT = 0.05
# The highest weight of the conversation for a question that names its subject itself, or names something in another
# language than all before it, which no passage joins to that.
INTRODUCES = 0.25
# The weight of the question beside its rewritten form, and of a fully dependent one beside its expanded form.
BESIDE = 0.5


@dataclass(frozen=True, slots=True)
class Understanding:
    """The action (`retrieve_vector`, `answer_chat`, `clarify`), the queries with their weights, and the reason.

    `carried` are the words of the conversation added to the question, and `ranking_query` is what passages are judged
    by: the question, with these words if it depends on them. `clarify` has a query if a model might understand more.
    """

    action: str
    queries: tuple[tuple[str, float], ...] = ()
    reason: str = ""
    ranking_query: str = ""
    carried: tuple[str, ...] = ()


def understand(question: str, history: Sequence[PastTurn], known: Known) -> Understanding:
    """Decide by rules; `history` is oldest first, and `known` has the conversation's words in the documents.

    A question that depends on the conversation is searched as it is and also with the words that it needs. The weight
    of the latter is full if the question points at them; else it is lower the more specific the question is, unless
    passages join question and conversation.
    """
    text = question.strip()
    if is_small_talk(text):
        return Understanding("answer_chat", reason="greeting")
    named = content_terms(text)
    earlier = spoken_of(history)
    if not earlier:
        if known.titles and (not named or lacks_object(text)):  # "What is this about?": it's what is asked
            full = " ".join([text, *known.titles])
            return Understanding("retrieve_vector", ((full, 1.0),), "about the documents", full, known.titles)
        if named and lacks_object(text):
            return Understanding("clarify", ((text, 1.0),), "no object", text)
        return _alone(text)
    reason = dependence_on_context(text)
    full, carried = with_carried_words(text, earlier, known)
    weight = 1.0
    if reason not in POINTING:  # the less specific it is, and the less the documents join it to what came before
        little, fully = TOGETHER
        joined = min(1.0, max(0.0, (agreement(text, earlier, known) - little) / (fully - little)))
        lacks = 1.0 - specificity(text, known.frequencies) / (ENOUGH + (_enough_together(text) - ENOUGH) * joined)
        spoken = {language_of(turn) for turn in earlier}
        changes_language = bool(named) and "" not in spoken and language_of(text) not in {"", *spoken}
        names_itself = introduces(text) or (changes_language and not joined)
        weight = min(lacks / LEANS_FULLY, INTRODUCES if names_itself else 1.0)
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


def spoken_of(history: Sequence[PastTurn]) -> list[str]:
    """Return the questions of a conversation (oldest first) that a later one may depend on, without greetings."""
    return [turn.question for turn in history if not is_small_talk(turn.question)]


def context_probe_query(question: str, earlier: Sequence[str], frequencies: Frequencies) -> str:
    """Return the query text that finds passages which show whether a question depends on earlier ones (oldest first).

    An empty string where the question clearly stands alone, or no passage could show it.
    """
    text = question.strip()
    clear = dependence_on_context(text) not in POINTING and specificity(text, frequencies) >= _enough_together(text)
    resolved, _replaced, left = resolve(text, earlier)
    return "" if clear else joint_query(resolved, left, frequencies)


def queries_with_rewrite(question: str, rewrite: str) -> tuple[tuple[str, float], ...]:
    """Return what to search for with a stand-alone form of the question, and the question beside it for what it lost.

    Passages are judged by both. Recall@5 on later turns with people's rewritings alone, and so: cloud .324 and .340,
    government .519 and .539.
    """
    if rewrite == question.strip():
        return ((rewrite, 1.0),)
    return ((rewrite, 1.0), (question, BESIDE))


def _enough_together(text: str) -> float:
    return ENOUGH_TOGETHER.get(language_of(text), ENOUGH)


def _alone(text: str) -> Understanding:
    if not content_terms(text):
        return Understanding("clarify", reason="no searchable word")
    return Understanding("retrieve_vector", ((text, 1.0),), "stands alone", text)

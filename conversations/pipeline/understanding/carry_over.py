"""Selects the words of the conversation that a question needs, by the passages that contain words of both. Pure.

Rarity alone says little: after 卡塔尔世界杯的口号, the question 韩国队踢得怎么样 needs only 卡塔尔世界杯. Passages that
contain the question's words together with that one show it. Where people's rewritings are known, the mean average
precision of the words that these carry over, ranked by rarity and age, and ranked by passages, is: MTRAG cloud .52 and
.65, government .57 and .68, Chinese news .80 and .96, longer talks about it .60 and .83, a Chinese manual .65 and .79,
an English one .76 and .79.

Passages also show whether a question needs any words at all. Chinese leaves out what was said before without any sign
of it: 花了多少钱 after a question about a purchase. A passage that contains only the question's words, or only those of
the conversation, proves nothing; one that contains both does, since it hardly ever does so by chance.

If the documents are about other things than the conversation, they show nothing, and a word counts by its kind and
position. Recall and precision of the words that people carry over in 305 Chinese dialogues of daily life, which were
not used to choose any figure here: with news as documents .65 and .46 (.49 and .34 if all words were weighted by
passages), with a manual .77 and .54 (.38 and .33), and with no documents .82 and .54 (.80 and .40).
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from conversations.pipeline.understanding.keywords import lacking, rarest_lacking, rarity_of, top_words
from ragsite.language.content_words import content_terms
from retrieval.engine.fulltext import Frequencies

# The most words that are carried over, and the least share of the highest weight that each must have.
CARRIED = 4
LEAST_SHARE = 0.4
# The number of words of the conversation that passages are searched for, in addition to those of the question.
LOOKED_FOR = 4
# Factor of a word's weight for each turn that it is older, and weight of a word that no passage contains together with
# words of the question. All of these were chosen on six lists of follow-up questions together.
DECAY = 0.7
NOT_JOINED = 0.1
# The `agreement` from which the passages alone decide; and the least weight of a word, relative to the heaviest of its
# phrase, where they show nothing.
DECISIVE = 0.3
PHRASE = 0.9


@dataclass(frozen=True, slots=True)
class Known:
    """The words of a conversation in the documents: in how many passages each occurs, and which occur together.

    `passages` are the best ones for question and conversation together, each as the set of their terms that it
    contains. `languages` are those of the documents. `titles` are those of the documents to which a chat is limited.
    """

    frequencies: Frequencies
    passages: Sequence[Set[str]] = ()
    languages: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()


def joint_query(question: str, earlier: Sequence[str], frequencies: Frequencies) -> str:
    """Return the query text that finds passages about a question and earlier ones (oldest first) together.

    The text is empty if one of them names nothing.
    """
    words = rarest_lacking(question, earlier, frequencies, LOOKED_FOR) if content_terms(question) else ()
    return " ".join([*words, question]) if words else ""


def needed(question: str, earlier: Sequence[str], known: Known) -> tuple[str, ...]:
    """Return the words of earlier questions (oldest first) that a question needs, best first.

    A word counts by how much of the question is in the passages that contain the word, or by its rarity if no passages
    are known, and less the older it is. The less the passages connect question and conversation, the more it counts by
    its kind and position, and as much as its phrase.
    """
    words = lacking(question, earlier, known.frequencies)
    asked = _weighed(content_terms(question), known)
    doubt = 1.0 - min(1.0, agreement(question, earlier, known) / DECISIVE)
    weights = []
    for word in words:
        value = word.rarity
        if known.passages:  # the mean share of the question in the passages, 0 for those without the word
            joined = sum(_share(asked, passage) for passage in known.passages if word.terms <= passage)
            value = NOT_JOINED + joined / len(known.passages)
        weights.append(DECAY**word.age * word.likely**doubt * value)
    highest: dict[tuple[int, int] | None, float] = {}
    for weight, word in zip(weights, words, strict=True):
        highest[word.phrase] = max(weight, highest.get(word.phrase, 0.0))
    highest[None] = 0.0
    lifted = [max(weight, PHRASE * doubt * highest[word.phrase]) for weight, word in zip(weights, words, strict=True)]
    return top_words(zip(lifted, words, strict=True), CARRIED, LEAST_SHARE)


def agreement(question: str, earlier: Sequence[str], known: Known) -> float:
    """Return how much of both the question and the conversation's words one passage contains, from 0 to 1.

    It is the lesser of the two shares, each term weighted by its rarity, in the passage where this is highest. Don't
    compute it over the carried-over words: they were selected by the same criterion.
    """
    asked = _weighed(content_terms(question), known)
    words = rarest_lacking(question, earlier, known.frequencies, LOOKED_FOR)
    terms: list[str] = []
    for word in words:  # the terms that passages contain, or all if they contain none
        named = content_terms(word)
        terms += [term for term in named if known.frequencies.rarity(term)] or named
    before = _weighed([term for term in terms if term not in asked], known)
    if not any(asked.values()) or not any(before.values()):
        return 0.0
    return max((min(_share(asked, passage), _share(before, passage)) for passage in known.passages), default=0.0)


def _weighed(found: Sequence[str], known: Known) -> dict[str, float]:
    return {term: rarity_of(term, known.frequencies) for term in found}


def _share(weights: dict[str, float], passage: Set[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in passage) / (sum(weights.values()) or 1.0)

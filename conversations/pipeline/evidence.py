"""Whether the documents speak of a question and of the conversation before it in one breath. Pure.

Chinese leaves out what was said before without a sign of it: 花了多少钱 after a question about a purchase. That a
passage holds the question's words is no proof, nor that it holds those of the conversation; one that holds both is,
for by chance there is hardly any. Of questions that nothing else tells from stand-alone ones, asked after questions
of the same conversation and after others, so many pairs are told rightly by it and by `salience.specificity`: Chinese
news .98 and .88, a Chinese manual .77 and .77, an English one .94 and .78, MTRAG cloud .69 and .63, government .78
and .67.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from conversations.pipeline.salience import content_terms
from retrieval.fulltext import Frequencies


@dataclass(frozen=True, slots=True)
class Known:
    """What the documents hold of a conversation's words: in how many passages each stands, and which stand together.

    `passages` are the first for the question with the words before it: of each, those terms of both that it holds.
    """

    frequencies: Frequencies
    passages: Sequence[Set[str]] = ()


def agreement(question: str, carried: Sequence[str], known: Known) -> float:
    """Return how much of both a question and the words carried over to it one passage holds, from 0 to 1.

    It is the lesser of the two shares, each term weighed by its rarity, in the passage where this is highest.
    """
    rarity = known.frequencies.rarity
    asked = {term: rarity(term) for term in content_terms(question)}
    before = {term: rarity(term) for word in carried for term in content_terms(word) if term not in asked}
    if not any(asked.values()) or not any(before.values()):
        return 0.0
    return max((min(_share(asked, passage), _share(before, passage)) for passage in known.passages), default=0.0)


def _share(weights: dict[str, float], passage: Set[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in passage) / sum(weights.values())

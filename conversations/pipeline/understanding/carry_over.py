"""What the documents say of a question and of the conversation before it in one breath. Pure.

It tells which words of the conversation a question needs. That a word is rare tells little: after 卡塔尔世界杯的口号,
the question 韩国队踢得怎么样 needs only the first. Passages that hold the question's words and this one do tell. Where
people's rewritings are known, the words that these carry over come so far up among those of the conversation (mean
average precision) by rarity and age, and by the passages: MTRAG cloud .52 and .65, government .57 and .68, Chinese
news .80 and .96, longer talks about it .60 and .83, a Chinese manual .65 and .79, an English one .76 and .79.

And it tells whether it needs any. Chinese leaves out what was said before without a sign of it: 花了多少钱 after a
question about a purchase. That a passage holds the question's words is no proof, nor that it holds those of the
conversation; one that holds both is, for by chance there is hardly any.

Where the documents speak of other things than the conversation, they tell nothing, and a word counts by what it is and
where it stands. Of what people carry over in 305 Chinese dialogues of daily life, none of which chose a figure here,
so much is found, and so much of what is found is theirs: with news as documents .65 and .46 (.49 and .34 were all words
weighed by these passages), with a manual .77 and .54 (.38 and .33), and with none .82 and .54 (.80 and .40).
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from conversations.pipeline.understanding.keywords import content_terms, heaviest, lacking, rarity_of, salient
from retrieval.engine.fulltext import Frequencies

# Words that are carried over, at most; and the share of the most telling one's weight that each must have.
CARRIED = 4
LEAST_TELLING = 0.4
# Words of the conversation that passages are looked for with, beside those of the question.
LOOKED_FOR = 4
# What a word weighs less for each turn that it is older, and what one weighs that no passage joins to the question. All
# of these were chosen on six lists of later questions together.
DECAY = 0.7
NOT_JOINED = 0.1
# From which `agreement` on the passages alone decide, and what a word weighs, at least, beside the heaviest of its
# phrase where they tell nothing.
TOLD = 0.3
PHRASE = 0.9


@dataclass(frozen=True, slots=True)
class Known:
    """What the documents hold of a conversation's words: in how many passages each stands, and which stand together.

    `passages` are the first for the question with the words before it: of each, those terms of both that it holds.
    `languages` are those of the documents. `titles` are those of the documents that alone are asked.
    """

    frequencies: Frequencies
    passages: Sequence[Set[str]] = ()
    languages: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()


def joint_query(question: str, earlier: Sequence[str], frequencies: Frequencies) -> str:
    """Return the query text that finds passages about a question and earlier ones (oldest first) together.

    An empty string where either names nothing.
    """
    words = salient(question, earlier, frequencies, LOOKED_FOR) if content_terms(question) else ()
    return " ".join([*words, question]) if words else ""


def needed(question: str, earlier: Sequence[str], known: Known) -> tuple[str, ...]:
    """Return the words of earlier questions (oldest first) that a question needs, most telling first.

    A word counts by how much of the question the passages hold that hold it, or by its rarity where no passages are
    known, and less the older it is. The less the passages speak of question and conversation together, the more a word
    counts by what it is and where it stands, and as much as the phrase that it is of.
    """
    words = lacking(question, earlier, known.frequencies)
    asked = _weighed(content_terms(question), known)
    doubt = 1.0 - min(1.0, agreement(question, earlier, known) / TOLD)
    weights = []
    for word in words:
        telling = word.rarity
        if known.passages:  # the mean share of the question that passages hold, of those without the word none
            joined = sum(_share(asked, passage) for passage in known.passages if word.terms <= passage)
            telling = NOT_JOINED + joined / len(known.passages)
        weights.append(DECAY**word.age * word.likely**doubt * telling)
    highest: dict[tuple[int, int] | None, float] = {}
    for weight, word in zip(weights, words, strict=True):
        highest[word.phrase] = max(weight, highest.get(word.phrase, 0.0))
    highest[None] = 0.0
    lifted = [max(weight, PHRASE * doubt * highest[word.phrase]) for weight, word in zip(weights, words, strict=True)]
    return heaviest(zip(lifted, words, strict=True), CARRIED, LEAST_TELLING)


def agreement(question: str, earlier: Sequence[str], known: Known) -> float:
    """Return how much of both a question and the words looked for beside it one passage holds, from 0 to 1.

    It is the lesser of the two shares, each term weighted by its rarity, in the passage where this is highest. Don't
    compute it over the carried-over words: they were selected by the same criterion.
    """
    asked = _weighed(content_terms(question), known)
    words = salient(question, earlier, known.frequencies, LOOKED_FOR)
    terms: list[str] = []
    for word in words:  # those that passages hold, and all where they hold none
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

"""Contradictions by polarity: negations and opposites, compared word by word. Pure.

Each word of a clause has a sign, from being negated or not and from being the first or second of two opposites. A
claim's word is compared with the same word of the source in the most similar context; different signs contradict.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from math import fsum
from operator import attrgetter

from conversations.citations.rules.antonyms import is_opposite, phrases, side_of
from ragsite.language.analysis import terms
from ragsite.language.detection import HAN_BMP
from ragsite.language.questions import question_words
from ragsite.language.word_tokens import PARTICLES, cut

# Double negations, which affirm, as 不得不 does.
_AFFIRMS = (
    r"(?:cannot|(?:ca|could)n[’']t|(?<=can )not|(?<=could )not)\s+(?:but|help\s+(?:but|\w+ing))\b"
    r"|no\s+(?:choice|option|alternative)\s+but\b"
)
_NEGATIONS = re.compile(
    rf"\b(?!{_AFFIRMS})(?:no longer|not yet|not|no|never|none|neither|nor|without|cannot|nobody|nothing|hardly|lacks?"
    r"|\w+n[’']t"
    r"|free of|rather than|drop(?:s|ped|ping)?(?= support))\b"
    r"|\b(?:un|non-?)(?=(?:able|available|necessary|needed|permitted|affected|changed|limited|supported|paid|used)\b)"
    r"|(?<!不[得能可])不(?:再|予|(?!仅|但|过|断|同|久|锈|动产|少|如|论|管|[得能可]不))"
    r"|无法|没有|没|未|无(?!线|论|锡|人机)|非(?!常|洲)|勿|莫|别(?=再|用|把)|禁止|严禁",
    re.IGNORECASE,
)
# These also negate the words before them.
_FORBIDDING = re.compile(r"\b(?:banned|forbidden|prohibited|refused|denied|forfeit\w*)\b|作废", re.IGNORECASE)
# The ways in which a text makes an exception, or keeps something from happening.
_EXCEPTIONS = re.compile(
    r"(?P<only>\b(?:only|just|solely|merely|exclusively|nothing but|as long as|provided)\b"
    r"|\b(?:not|n[’']t|cannot|never)\b[^.;]{0,60}\b(?:until|unless|before)\b"
    r"|只(?=[能有可在需要对是限剩允用会])|仅|才(?=[能可会])|唯一)"
    r"|(?P<but>\b(?:except\w*|unless|other than|apart from|otherwise)\b|除(?!了?以)|以外|否则)"
    r"|(?P<without>\bwithout\b)"
    r"|(?P<not_so>\b(?:ignor|suppress|skip|bypass|avoid|prevent|omit|prohibit|stop|fail|refus)\w*"
    r"|忽略|抑制|跳过|绕过|避免|防止)",
    re.IGNORECASE,
)
# A negation does not reach past these, which begin another statement about the same subject.
_GOES_ON = re.compile(
    r"\b(?:and|but)\s+(?:must|should|can|may|will|is|are|was|were|has|have)\b|但|而(?!且)", re.IGNORECASE
)
# "No traces of deleted content" negates only the traces.
_NO_MORE = re.compile(r"\bno\s+\w+\s+(of|from|in|for|to|at|by|with)\b", re.IGNORECASE)
_TOKEN = re.compile(rf"[{HAN_BMP}]+|[^\W{HAN_BMP}]+(?:[.'’/-][^\W{HAN_BMP}]+)*|[()\[\]（）,;:，；：、]")
# The number of words that a negation reaches, and of neighbours on each side of a word.
REACH = 3
NEAR = 4
# The number of words that must have the other sign in a clause of the source; one word with an opposite is enough.
ENOUGH_WORDS = 2


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clause: its terms, the terms of its neighbours, and its sign.

    It may be the `second` of two opposites, `denied` by a negation that reaches it, and the `first` word reached. It is
    `unsure` if an opposite comes between it and the negation, which may apply only to the opposite: what isn't open in
    March is closed in March.
    """

    terms: frozenset[str]
    second: bool
    denied: bool
    first: bool
    unsure: bool
    before: frozenset[str]
    after: frozenset[str]

    @property
    def neighbours(self) -> frozenset[str]:
        """The terms of the words on both sides."""
        return self.before | self.after

    @property
    def negative(self) -> bool:
        """Its sign: whether it is either denied or the second of two opposites, but not both."""
        return self.denied != self.second

    @property
    def opposite(self) -> bool:
        """Whether it is one of a pair of opposites."""
        return is_opposite(self.terms)


@dataclass(slots=True)
class _Token:
    """A word, a negation with the directions that it `reaches`, or a boundary of negations: punctuation and 的."""

    start: int
    terms: frozenset[str] = frozenset()
    second: bool = False
    denied: bool = False
    first: bool = False
    unsure: bool = False
    reaches: tuple[int, ...] = ()

    @property
    def opposite(self) -> bool:
        """Whether it is one of a pair of opposites."""
        return is_opposite(self.terms)


@lru_cache(512)
def read(clause: str) -> tuple[Word, ...]:
    """Return the content words of a clause, in order, with their signs."""
    tokens = sorted(_tokens(clause), key=lambda token: token.start)
    for place, token in enumerate(tokens):
        for step in token.reaches:
            spent = False
            for distance in range(1, REACH + 1):
                at = place + step * distance
                if not 0 <= at < len(tokens) or not tokens[at].terms or tokens[at].reaches:
                    break
                reached = tokens[at]
                reached.denied = not reached.denied
                reached.first = reached.first or distance == 1
                reached.unsure = reached.unsure or spent
                spent = spent or reached.opposite
    kept = [token for token in tokens if token.terms or not (token.reaches or clause[token.start] == "的")]
    return tuple(
        Word(word.terms, word.second, word.denied, word.first, word.unsure, *_neighbours(kept, place))
        for place, word in enumerate(kept)
        if any(not term[0].isdigit() for term in word.terms)
    )


def exceptions(text: str) -> set[str | None]:
    """Return the ways in which a text makes an exception, or keeps something from happening.

    "Only on the terrace" means "nowhere but on the terrace": if the ways differ, signs can't be compared.
    """
    return {match.lastgroup for match in _EXCEPTIONS.finditer(text)}


def contradicts(claim: Sequence[Word], source: Sequence[Sequence[Word]], weight: Callable[[str], float]) -> bool:
    """Return whether enough words of a claim's clause have the other sign in a clause of the source.

    Each is compared with the same word in the most similar context. The claim's negated words aren't compared, since
    they may say in other words what the source affirms. `weight` returns the rarity of a term.
    """
    turned: Counter[int] = Counter()
    for word in (word for word in claim if not word.denied):
        alike, other = (_nearest(word, source, weight, sign) for sign in (True, False))
        if other.score > max(alike.score, 0.0) and not (
            _has_both(word, claim) and _has_both(word, source[other.clause])
        ):
            # "A is larger than B" and "B is smaller than A" mean the same.
            straight = len(word.before & other.word.before) + len(word.after & other.word.after)
            crossed = len(word.before & other.word.after) + len(word.after & other.word.before)
            if other.word.unsure or (word.opposite and crossed > straight):
                continue
            # A different sign far from the negation is weaker evidence.
            turned[other.clause] += ENOUGH_WORDS if word.opposite or other.word.first else 1
    return any(count >= ENOUGH_WORDS for count in turned.values())


def _has_both(word: Word, clause: Sequence[Word]) -> bool:
    """Return whether a clause has both of the opposites of which the word is one, such as off at first and on later."""
    return word.opposite and len({other.negative for other in clause if word.terms & other.terms}) == 2


@dataclass(frozen=True, slots=True)
class _Match:
    """A word of the source, its clause's index, and the similarity of its neighbours to those of a claim's word."""

    score: float
    clause: int
    word: Word


def _nearest(word: Word, source: Sequence[Sequence[Word]], weight: Callable[[str], float], alike: bool) -> _Match:
    """Return the same word of the source, with the same or the other sign, whose neighbours are most similar."""
    found = (
        _Match(fsum(map(weight, word.neighbours & other.neighbours)), place, other)
        for place, clause in enumerate(source)
        for other in clause
        if word.terms & other.terms and (word.negative == other.negative) is alike
    )
    return max(found, key=lambda match: match.score, default=_Match(-1.0, -1, word))


def _neighbours(words: Sequence[_Token], place: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms of the words before and after a word, up to the nearest punctuation."""
    before = takewhile(attrgetter("terms"), reversed(words[max(0, place - NEAR) : place]))
    after = takewhile(attrgetter("terms"), words[place + 1 : place + 1 + NEAR])
    one, other = (frozenset(term for word in side for term in word.terms) for side in (before, after))
    return one - words[place].terms, other - words[place].terms


def _tokens(clause: str) -> Iterator[_Token]:
    """Yield the opposites of several words, the negations, and then the other tokens of a clause."""
    rest = clause
    for pattern, reaches in ((phrases(), ()), (_FORBIDDING, (-1, 1)), (_NEGATIONS, (1,))):
        for match in pattern.finditer(rest):
            yield _token(match.start(), match.group(), reaches)
        rest = pattern.sub(lambda match: " " * len(match.group()), rest)
    yield from (_Token(match.start()) for match in _GOES_ON.finditer(rest))
    yield from (_Token(match.start(1)) for match in _NO_MORE.finditer(clause))
    for match in _TOKEN.finditer(rest):
        for start, word in cut(match.group()):
            token = _token(match.start() + start, word)
            if token.terms or word == "的" or not re.search(r"\w", word):
                yield token


def _token(start: int, word: str, reaches: tuple[int, ...] = ()) -> _Token:
    if side := side_of(word):
        return _Token(start, side.pairs, side.second, reaches=reaches)
    if reaches or word in PARTICLES:
        return _Token(start, reaches=reaches)
    return _Token(start, frozenset(term for term in terms(word) if term not in question_words()))

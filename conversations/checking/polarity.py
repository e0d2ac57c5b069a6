"""What turns a sentence into its opposite, word by word: negations and opposites, aligned by their neighbours. Pure.

Each word of a clause has a sign: negated or not, and of two opposites the one or the other. A claim's word is held
against the same word of the source where it has the same neighbours; where the signs differ, they disagree.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, takewhile

from retrieval.analysis import terms
from retrieval.words import QUESTION_WORDS

_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|hardly|lacks?|\w+n[’']t|free of|instead of"
    r"|rather than)\b"
    r"|\b(?:un|non-?)(?=(?:able|available|necessary|needed|permitted|affected|changed|limited|supported|paid|used)\b)"
    r"|不(?!仅|但|过|断|同|久|锈|动产|少|如|论|管|得不)|没有|没|未|无(?!线|论|锡|人机)|非(?!常|洲)|勿|莫|别(?=再|用|把)",
    re.IGNORECASE,
)
# These negate what stands before them, too.
_FORBIDDING = re.compile(r"\b(?:banned|forbidden|prohibited|refused|denied|excluded|forfeit\w*)\b|作废", re.IGNORECASE)
# Opposites: one side, and the other. Each is read as the same word, with the other sign.
_OPPOSITES = (
    (
        r"\benabl(?:ed?|es|ing)\b|\b(?:turn|switch)(?:ed|s|ing)? on\b",
        r"\bdisabl(?:ed?|es|ing)\b|\b(?:turn|switch)(?:ed|s|ing)? off\b",
    ),
    (r"\b(?:allow|permit)\w*", r"\b(?:forbid|prohibit)\w*|\bbann?(?:s|ed)?\b"),
    (
        r"\bincreas\w*|\bris(?:e|es|ing|en)\b|\brose\b|\bgr[eo]w\w*|\bup by\b|\bgained\b",
        r"\bdecreas\w*|\bf[ae]ll(?:s|ing|en)?\b|\bdropp?(?:s|ed|ing)?\b|\bdown by\b|\bshr[aiu]nk\w*|\breduc\w+"
        r"|\blower(?:s|ed|ing)\b",
    ),
    (r"\bbefore\b|\bprior to\b|\bearlier than\b", r"\bafter\b|\bfollowing\b|\blater than\b"),
    (
        r"\bmore than\b|\b(?:greater|longer|higher|over|above|at least|minimum)\b",
        r"\bless than\b|\b(?:fewer|shorter|lower|under|below|at most|maximum|up to)\b",
    ),
    (r"\binclud\w+", r"\bexclud\w+"),
    (r"\baccept(?:s|ed|ing)?\b|\bapprov\w*", r"\breject\w*|\bdeclined\b|\brefus\w*"),
    (r"\bopen(?:s|ed)?\b", r"\bclos(?:es?|ed)\b"),
    (r"\buseful\b", r"\buseless\b"),
    (r"\b(?:identical|same)\b", r"\b(?:differ\w*)\b"),
    (r"\bascending\b", r"\bdescending\b"),
    (r"启用|开启|打开|开放", r"禁用|关闭|停用|关停"),
    (r"允许|可以|可(?=[在由用从将把经])|准许", r"禁止|不得|不可|严禁|不准|不能"),
    (r"增加|上升|增长|提高|上涨|上调|增至|升至|放大", r"减少|下降|降低|下跌|下调|降至|减至|缩小"),
    (r"以上|超过|高于|大于|多于|不少于|不低于|至少|最低", r"以下|低于|少于|小于|不足|不超过|不高于|最多|至多|最高"),
    (r"之?前", r"之?后"),
    (r"必须|应当|需要|须", r"可选|自愿|无需|不必|不需|无须"),
    (r"包括|包含", r"不包括|不含|除外"),
    (r"收费|付费", r"免费"),
    (r"批准|同意", r"否决|驳回|拒绝"),
    (r"相同|一致", r"不同|不一致"),
    (r"可见", r"不可见"),
    (r"升序", r"降序"),
)  # fmt: skip
_SIDES = tuple(
    (f"±{number}", bool(side), re.compile(pattern, re.IGNORECASE))
    for number, pair in enumerate(_OPPOSITES)
    for side, pattern in enumerate(pair)
)
_TOKEN = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+(?:[.'’/-][^\W\u3400-\u9fff]+)*|[()\[\]（）,;:，；：、]")
# Words that a negation reaches, and those on each side that are a word's neighbours.
REACH = 3
NEAR = 4
# So many words must have the other sign in a clause of the source; of a pair of opposites, one.
ENOUGH = 2


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clause: its terms, whether it is negated or the second of two opposites, its neighbours' terms."""

    terms: frozenset[str]
    negative: bool
    neighbours: frozenset[str]

    @property
    def opposite(self) -> bool:
        """Whether it is one of a pair of opposites."""
        return any(term[0] == "±" for term in self.terms)


@dataclass(slots=True)
class _Token:
    """A word, a negation (`reaches` forth only, or both ways), or what a negation ends at: punctuation, and 的."""

    start: int
    terms: frozenset[str] = frozenset()
    negative: bool = False
    reaches: tuple[int, ...] = ()


@lru_cache(512)
def read(clause: str) -> tuple[Word, ...]:
    """Return the words of a clause that tell something, in order, with their signs."""
    tokens = sorted(_tokens(clause), key=lambda token: token.start)
    for place, token in enumerate(tokens):
        for step in token.reaches:
            for reached in _reached(tokens, place, step):
                reached.negative = not reached.negative
    said = [token for token in tokens if not token.reaches]
    return tuple(
        Word(word.terms, word.negative, _neighbours(said, place)) for place, word in enumerate(said) if word.terms
    )


def negations(clause: str) -> int:
    """Return how often a clause negates."""
    return len(_NEGATIONS.findall(clause)) + len(_FORBIDDING.findall(clause))


def contradicts(claim: Sequence[Word], source: Sequence[Sequence[Word]], weight: Callable[[str], float]) -> bool:
    """Whether the words of a claim's clause have the other sign in a clause of the source.

    Each is held against the same word where its neighbours are most alike. A clause that negates any as the claim does
    is of one mind with it. `weight` is how much a term tells.
    """
    turned: Counter[int] = Counter()
    for word in claim:
        alike, other = (_nearest(word, source, weight, sign) for sign in (True, False))
        if other[0] > max(alike[0], 0.0):
            turned[other[1]] += ENOUGH if word.opposite else 1
        elif word.negative and alike[0] > 0:
            turned[alike[1]] -= 2 * ENOUGH
    return any(count >= ENOUGH for count in turned.values())


def _nearest(
    word: Word, source: Sequence[Sequence[Word]], weight: Callable[[str], float], alike: bool
) -> tuple[float, int]:
    """Return how much of a word's neighbours are those of the same word in the source, and in which clause."""
    return max(
        (
            (sum(map(weight, word.neighbours & other.neighbours)), place)
            for place, clause in enumerate(source)
            for other in clause
            if word.terms & other.terms and (word.negative == other.negative) is alike
        ),
        default=(-1.0, -1),
    )


def _reached(tokens: Sequence[_Token], place: int, step: int) -> Iterator[_Token]:
    """Yield the words that a negation reaches in one direction, up to a mark of punctuation."""
    left = REACH
    place += step
    while left and 0 <= place < len(tokens) and (tokens[place].terms or tokens[place].reaches):
        if tokens[place].terms:
            yield tokens[place]
            left -= 1
        place += step


def _neighbours(words: Sequence[_Token], place: int) -> frozenset[str]:
    before = takewhile(_tells, reversed(words[max(0, place - NEAR) : place]))
    after = takewhile(_tells, words[place + 1 : place + 1 + NEAR])
    return frozenset(term for word in chain(before, after) for term in word.terms) - words[place].terms


def _tells(word: _Token) -> bool:
    return bool(word.terms)


def _tokens(clause: str) -> Iterator[_Token]:
    """Yield the opposites, the negations, and then what else stands in a clause."""
    spans = [
        (match.start(), match.end(), _Token(match.start(), frozenset({name}), second))
        for name, second, pattern in _SIDES
        for match in pattern.finditer(clause)
    ]
    spans.sort(key=lambda span: span[0] - span[1])
    for pattern, reaches in ((_FORBIDDING, (-1, 1)), (_NEGATIONS, (1,))):
        spans += [
            (match.start(), match.end(), _Token(match.start(), reaches=reaches)) for match in pattern.finditer(clause)
        ]
    rest = clause
    for start, end, token in spans:
        if rest[start:end] == clause[start:end]:
            rest = rest[:start] + " " * (end - start) + rest[end:]
            yield token
    for match in _TOKEN.finditer(rest):
        for start, word in _words(match.group()):
            named = frozenset(term for term in terms(word) if not term[0].isdigit() and term not in QUESTION_WORDS)
            if named or word == "的" or not re.search(r"\w", word):
                yield _Token(match.start() + start, named)


def _words(token: str) -> Iterator[tuple[int, str]]:
    if not "\u3400" <= token[0] <= "\u9fff":
        yield 0, token
        return
    import rjieba  # reads its dictionary when loaded

    place = 0
    for word in rjieba.cut(token, True):
        yield place, word
        place += len(word)

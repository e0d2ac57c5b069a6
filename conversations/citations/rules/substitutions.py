"""Exchanged words: a claim has other words than its source, between the same words. Pure.

A paraphrase also uses other words for the same thing. So exchanged words count only if they can't mean the same: two
numbers, two names, two words of which the claim or its source uses both, or two nouns with nothing in common.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ragsite.language.quantities import quantities
from ragsite.language.word_lists import words_of
from ragsite.language.word_tokens import WordToken, word_tokens

# The share of a clause's words that a sentence of the source must contain for the two to be aligned, and the share for
# words that might be synonyms.
ALIKE, NEARLY_THE_SAME = 0.5, 0.75
# With more pairs of words, a clause and a sentence aren't aligned: the time grows faster than their number.
MOST_PAIRS = 40_000
# The number of equal words next to a slot, on both sides together, for a frame and for a wide frame.
FRAME, WIDE_FRAME = 2, 3
# More words than these are a rewording rather than an exchange.
LONGEST = 3
# The words that an English noun can follow.
_BEFORE_NOUNS = frozenset(words_of("words_before_nouns"))


@dataclass(frozen=True, slots=True)
class Slot:
    """The content words in which a claim and its source differ, between the same words.

    `around` are the claim's words next to them. `before` and `after` are the numbers of equal words on each side, and
    `share` is the share of equal words in the whole clause.
    """

    mine: Sequence[WordToken]
    theirs: Sequence[WordToken]
    around: tuple[WordToken | None, WordToken | None]
    before: int
    after: int
    share: float

    @property
    def is_framed(self) -> bool:
        """Whether enough words around it are equal, on both sides or more of them on one."""
        if self.before and self.after:
            return self.before + self.after >= FRAME
        return max(self.before, self.after) >= WIDE_FRAME

    @property
    def is_of_nouns(self) -> bool:
        """Whether both are nouns.

        In English, this is a word after an article or a preposition and not before a content word; in Chinese, a word
        that jieba tags as a noun, if the two have no character in common.
        """
        (mine,), (theirs,) = self.mine, self.theirs
        if mine.is_chinese != theirs.is_chinese:
            return False
        if mine.is_chinese:
            return mine.is_noun and theirs.is_noun and not set(mine.text) & set(theirs.text)
        lead, next_ = self.around
        return lead is not None and lead.key in _BEFORE_NOUNS and not (next_ is not None and next_.is_content_word)


def exchanged(clause: str, sentence: Sequence[WordToken]) -> Iterator[str]:
    """Yield the words of a claim's clause that replace others of a sentence of the source."""
    claim = word_tokens(clause)
    if len(claim) * len(sentence) > MOST_PAIRS:
        return
    matcher = SequenceMatcher(None, [word.key for word in claim], [word.key for word in sentence], autojunk=False)
    codes = matcher.get_opcodes()
    same = sum(word.is_content_word for kind, start, end, *_ in codes if kind == "equal" for word in claim[start:end])
    share = same / (sum(word.is_content_word for word in claim) or 1)
    if share < ALIKE:
        return
    for place, (kind, start, end, from_, to) in enumerate(codes):
        if kind != "replace" or max(end - start, to - from_) > LONGEST:
            continue
        mine, theirs = _content_words(claim[start:end]), _content_words(sentence[from_:to])
        if mine and len(mine) == len(theirs):
            around = (claim[start - 1] if start else None, claim[end] if end < len(claim) else None)
            slot = Slot(mine, theirs, around, _length(codes, place - 1), _length(codes, place + 1), share)
            if _is_another(slot, claim, sentence):
                yield clause[mine[0].start : mine[-1].end]


def _content_words(words: Sequence[WordToken]) -> list[WordToken]:
    return [word for word in words if word.is_content_word]


def _length(codes: Sequence[tuple[str, int, int, int, int]], place: int) -> int:
    """Return the number of equal words in the stretch next to a slot; 0 beyond either end."""
    if not 0 <= place < len(codes) or codes[place][0] != "equal":
        return 0
    return codes[place][2] - codes[place][1]


def _is_another(slot: Slot, claim: Sequence[WordToken], sentence: Sequence[WordToken]) -> bool:
    """Return whether the words of a slot can't mean the same as those of the source."""
    if not slot.is_framed:
        return False
    mine, theirs = ("".join(word.text for word in side) for side in (slot.mine, slot.theirs))
    if slot.mine[0].is_chinese and (mine in theirs or theirs in mine):
        return False  # jieba has only split it differently: 没有 and 障碍, 无障碍
    are_numbers = [word.is_number for word in (*slot.mine, *slot.theirs)]
    if any(are_numbers):
        if slot.before + slot.after < WIDE_FRAME or not all(are_numbers):
            return False
        ours, others = (quantities(" ".join(word.text for word in side)) for side in (slot.mine, slot.theirs))
        return not any(one.agrees(other) for one in ours for other in others)
    if slot.mine[0].is_chinese != slot.theirs[0].is_chinese:
        return False
    if _contains(claim, slot.theirs) or _contains(sentence, slot.mine):
        return True
    if all(word.is_name for word in (*slot.mine, *slot.theirs)):
        return True
    return slot.share >= NEARLY_THE_SAME and len(slot.mine) == 1 and slot.is_of_nouns


def _contains(words: Sequence[WordToken], wanted: Sequence[WordToken]) -> bool:
    keys = {word.key for word in words}
    return all(word.key in keys for word in wanted)

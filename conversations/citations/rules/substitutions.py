"""What stands in another's place: words of a claim where its source, in the same words around it, has others. Pure.

A paraphrase too has other words for the same thing. So what is in the place of another counts only where the two can't
be the same: two numbers; two names; two words that the claim or its source tells apart by using both; two nouns without
anything in common.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ragsite.language.quantities import quantities
from ragsite.language.word_lists import words_of
from ragsite.language.word_tokens import WordToken, word_tokens

# The share of a clause's words that must stand in a sentence of the source for the two to be laid side by side, and
# that for what may be but another word for the same.
ALIKE, NEARLY_THE_SAME = 0.5, 0.75
# Of more pairs of words, a clause and a sentence aren't laid side by side: the time grows with them, and faster.
MOST_PAIRS = 40_000
# In how many words in a row, on both sides together, the frame of a slot must be the same.
FRAME, WIDE_FRAME = 2, 3
# More words than these are said in another way rather than exchanged.
LONGEST = 3
# Before these, an English noun phrase begins.
_BEFORE_NOUNS = frozenset(words_of("words_before_nouns"))


@dataclass(frozen=True, slots=True)
class Slot:
    """The content words in which a claim and its source differ between the same words.

    `around` them are the claim's next words; `before` and `after` are how many words on each side are the same, and
    `share` is the share of the whole clause that is.
    """

    mine: Sequence[WordToken]
    theirs: Sequence[WordToken]
    around: tuple[WordToken | None, WordToken | None]
    before: int
    after: int
    share: float

    @property
    def is_framed(self) -> bool:
        """Whether enough words around it are the same, on both sides unless it begins or ends the clause."""
        if self.before and self.after:
            return self.before + self.after >= FRAME
        return max(self.before, self.after) >= WIDE_FRAME

    @property
    def is_of_nouns(self) -> bool:
        """Whether both are nouns.

        In English, a word after an article or a preposition and not before a content word; in Chinese, what jieba tags
        as a noun, if the two have no character in common.
        """
        (mine,), (theirs,) = self.mine, self.theirs
        if mine.is_chinese != theirs.is_chinese:
            return False
        if mine.is_chinese:
            return mine.is_noun and theirs.is_noun and not set(mine.text) & set(theirs.text)
        lead, next_ = self.around
        return lead is not None and lead.key in _BEFORE_NOUNS and not (next_ is not None and next_.is_content_word)


def exchanged(clause: str, sentence: Sequence[WordToken]) -> Iterator[str]:
    """Yield what of a claim's clause stands in the place of another thing, by the sentence of the source next to it."""
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
    """Return how many words are the same in a stretch next to a slot; none beyond either end."""
    if not 0 <= place < len(codes) or codes[place][0] != "equal":
        return 0
    return codes[place][2] - codes[place][1]


def _is_another(slot: Slot, claim: Sequence[WordToken], sentence: Sequence[WordToken]) -> bool:
    """Whether what stands in the slot can't be another word for what the source has there."""
    if not slot.is_framed:
        return False
    mine, theirs = ("".join(word.text for word in side) for side in (slot.mine, slot.theirs))
    if slot.mine[0].is_chinese and (mine in theirs or theirs in mine):
        return False  # jieba has only cut it in another way: 没有 and 障碍, 无障碍
    are_numbers = [word.is_number for word in (*slot.mine, *slot.theirs)]
    if any(are_numbers):
        if slot.before + slot.after < WIDE_FRAME or not all(are_numbers):
            return False
        ours, others = (quantities(" ".join(word.text for word in side)) for side in (slot.mine, slot.theirs))
        return not any(one.agrees(other) for one in ours for other in others)
    if slot.mine[0].is_chinese != slot.theirs[0].is_chinese:
        return False
    if _holds(claim, slot.theirs) or _holds(sentence, slot.mine):
        return True
    if all(word.is_name for word in (*slot.mine, *slot.theirs)):
        return True
    return slot.share >= NEARLY_THE_SAME and len(slot.mine) == 1 and slot.is_of_nouns


def _holds(words: Sequence[WordToken], wanted: Sequence[WordToken]) -> bool:
    keys = {word.key for word in words}
    return all(word.key in keys for word in wanted)

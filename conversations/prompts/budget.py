"""Fitting a prompt into a model's window. Pure.

The question and the system prompt are always kept. The rest of 95 % of the window, less the answer's reserve, goes to
the evidence first, then to the summary, the remembered facts, relevant history, and recent history from the newest
turn. A piece that does not fit is left out as a whole and recorded. Of facts and recent history, everything older than
a piece that was left out is left out too, because a conversation with gaps misleads. A follow-up question makes no
sense without the turn before it, so tokens can be reserved for that turn that only the best passage may use.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ragsite.llm.prompt_tokens import count_prompt_tokens

SAFETY = 0.95
# Tokens that a chat format adds around each message (role, separators).
MESSAGE_OVERHEAD = 4
# In the order in which they are fitted. Of the kinds in the second set, the last piece, which is the newest, is first.
KINDS = ("evidence", "summary", "facts", "relevant", "recent")
_FROM_THE_NEWEST = {"facts", "recent"}


@dataclass(frozen=True, slots=True)
class Window:
    """A model's context window in tokens; `factor` is the model's tokens per token of the site's own count."""

    size: int
    reserve: int
    factor: float = 1.0

    @classmethod
    def of(cls, size: int, answer_tokens: int, factor: float = 1.0) -> "Window":
        """Return a window with a reserve for the answer, of at most half the window."""
        return cls(size, min(answer_tokens, size // 2), factor)

    @property
    def limit(self) -> int:
        """The tokens that a prompt may take."""
        return max(0, int(self.size * SAFETY) - self.reserve)

    def measure(self, text: str) -> int:
        """Return the tokens that a text takes as a message or as part of one."""
        return math.ceil(count_prompt_tokens(text) * self.factor) + MESSAGE_OVERHEAD

    def room(self, tokens: int) -> int:
        """Return the longest text, in tokens of the site's own count, that measures at most `tokens`."""
        tokens = max(0, tokens - MESSAGE_OVERHEAD)
        room = int(tokens / self.factor)
        # Because of float rounding: 187 / 1.1 is 170, but 170 * 1.1 is more than 187.
        return room - 1 if math.ceil(room * self.factor) > tokens else room


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece that was left out; `tokens` is its size, `left` the tokens that were left for it."""

    kind: str
    position: int
    tokens: int
    left: int


@dataclass(slots=True)
class Fitted:
    """The pieces that fit, as positions in the offered lists, in order, and the tokens that they take.

    `taken` are these tokens by kind, with those of the parts that are always kept under `fixed`.
    """

    evidence: list[int] = field(default_factory=list)
    summary: list[int] = field(default_factory=list)
    facts: list[int] = field(default_factory=list)
    relevant: list[int] = field(default_factory=list)
    recent: list[int] = field(default_factory=list)
    tokens: int = 0
    limit: int = 0
    reserved: int = 0
    cuts: list[Cut] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """The tokens that are still free."""
        return max(0, self.limit - self.tokens)


def fit(
    fixed: int,
    offered: dict[str, Sequence[Sequence[str]]],
    limit: int,
    measure: Callable[[str], int],
    reserved: int = 0,
) -> Fitted:
    """Choose the pieces of a prompt of at most `limit` tokens.

    `fixed` are the tokens of the parts that are always kept (system prompt, question), even if they exceed the limit.
    `offered` maps `KINDS` to their pieces, history oldest first; each piece is a sequence of texts (a turn has two
    messages). `measure` returns the tokens of a text. `reserved` tokens are kept for recent history; of the other
    pieces, only the best passage may use them.
    """
    result = Fitted(limit=limit, tokens=fixed, reserved=reserved, taken={"fixed": fixed})
    for kind in KINDS:
        pieces = offered.get(kind, ())
        positions = range(len(pieces) - 1, -1, -1) if kind in _FROM_THE_NEWEST else range(len(pieces))
        kept: list[int] = []
        for position in positions:
            tokens = sum(map(measure, pieces[position]))
            broken = kind in _FROM_THE_NEWEST and position + 1 + len(kept) < len(pieces)
            free = result.left if kind == "recent" or (kind == "evidence" and not position) else result.left - reserved
            if not broken and tokens <= free:
                result.tokens += tokens
                result.taken[kind] = result.taken.get(kind, 0) + tokens
                kept.append(position)
            else:
                result.cuts.append(Cut(kind, position, tokens, max(0, free)))
        getattr(result, kind).extend(sorted(kept))
    return result

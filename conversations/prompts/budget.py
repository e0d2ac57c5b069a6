"""Fitting a prompt into a model's window. Pure.

The question and the system prompt always stay. Of what is left of 95 % of the window after the answer's
reserve, evidence claims first, then the summary, then the facts that the user asked to be remembered, then relevant
history, then recent history from the newest; whatever does not fit is left out whole, and why is said. Of facts and
recent history nothing is kept before one that was left out: a conversation with a hole misleads. A follow-up means
nothing without the turn before it: a share of what the passages after the best one may claim can be kept for that turn.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ragsite.llm.prompt_tokens import count_prompt_tokens

SAFETY = 0.95
# What a chat format adds around each message (role, separators).
MESSAGE_OVERHEAD = 4
# In the order in which they claim, and those of which the newest, the last in their list, claims first.
KINDS = ("evidence", "summary", "facts", "relevant", "recent")
_FROM_THE_NEWEST = {"facts", "recent"}


@dataclass(frozen=True, slots=True)
class Window:
    """What a model reads at once, in tokens; `factor` is how many of its tokens one of our count makes."""

    size: int
    reserve: int
    factor: float = 1.0

    @classmethod
    def of(cls, size: int, answer_tokens: int, factor: float = 1.0) -> "Window":
        """Return the window with the answer's reserve, which takes half of it at most."""
        return cls(size, min(answer_tokens, size // 2), factor)

    @property
    def limit(self) -> int:
        """The tokens that a prompt may take."""
        return max(0, int(self.size * SAFETY) - self.reserve)

    def measure(self, text: str) -> int:
        """Return the tokens that a text takes as a message, or as a part of one."""
        return math.ceil(count_prompt_tokens(text) * self.factor) + MESSAGE_OVERHEAD

    def room(self, tokens: int) -> int:
        """Return how long, in tokens of our count, a text may be to measure at most `tokens`."""
        tokens = max(0, tokens - MESSAGE_OVERHEAD)
        room = int(tokens / self.factor)
        # Floats: 187 / 1.1 is 170, and 170 * 1.1 more than 187.
        return room - 1 if math.ceil(room * self.factor) > tokens else room


@dataclass(frozen=True, slots=True)
class Cut:
    """Something that was left out. `tokens` is its size, `left` what was left for it."""

    kind: str
    position: int
    tokens: int
    left: int


@dataclass(slots=True)
class Fitted:
    """What fits: positions into the lists that were offered, in their order, and the tokens they take."""

    evidence: list[int] = field(default_factory=list)
    summary: list[int] = field(default_factory=list)
    facts: list[int] = field(default_factory=list)
    relevant: list[int] = field(default_factory=list)
    recent: list[int] = field(default_factory=list)
    tokens: int = 0
    limit: int = 0
    reserved: int = 0
    cuts: list[Cut] = field(default_factory=list)

    @property
    def left(self) -> int:
        """The tokens that nobody has claimed."""
        return max(0, self.limit - self.tokens)


def fit(
    fixed: int,
    offered: dict[str, Sequence[Sequence[str]]],
    limit: int,
    measure: Callable[[str], int],
    reserved: int = 0,
) -> Fitted:
    """Choose what goes into a prompt of at most `limit` tokens.

    `fixed` are the tokens of what always stays (system prompt, question), also where they alone are over the limit;
    `offered` maps `KINDS` to what is offered of each, history oldest first, every piece as its texts (a turn is two
    messages); `measure` returns the tokens of a text. `reserved` tokens are for recent history: the others leave them
    free, apart from the best passage.
    """
    result = Fitted(limit=limit, tokens=fixed, reserved=reserved)
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
                kept.append(position)
            else:
                result.cuts.append(Cut(kind, position, tokens, max(0, free)))
        getattr(result, kind).extend(sorted(kept))
    return result

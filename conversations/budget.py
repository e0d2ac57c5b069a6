"""Fitting a prompt into a model's window. Pure.

The question and the system prompt always stay. Of what is left of 95 % of the window after the answer's
reserve, evidence claims first, then the summary, then relevant history, then recent history from the
newest; whatever does not fit is left out whole, and why is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SAFETY = 0.95
# What a chat format adds around each message (role, separators).
MESSAGE_OVERHEAD = 4


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
    relevant: list[int] = field(default_factory=list)
    recent: list[int] = field(default_factory=list)
    tokens: int = 0
    limit: int = 0
    cuts: list[Cut] = field(default_factory=list)


def fit(
    fixed: Sequence[str],
    offered: dict[str, Sequence[str]],
    *,
    window: int,
    reserve: int,
    count_tokens: Callable[[str], int],
) -> Fitted:
    """Choose what goes into the prompt.

    `fixed` are the texts that always stay (system prompt, question); `offered` maps evidence, summary, relevant
    and recent to their texts, history oldest first; `window` and `reserve` are tokens.
    """
    result = Fitted(limit=int(window * SAFETY) - reserve)
    result.tokens = sum(count_tokens(text) + MESSAGE_OVERHEAD for text in fixed)
    for kind in ("evidence", "summary", "relevant", "recent"):
        texts = offered.get(kind, ())
        positions = range(len(texts) - 1, -1, -1) if kind == "recent" else range(len(texts))
        kept = [position for position in positions if _claim(result, kind, position, texts[position], count_tokens)]
        getattr(result, kind).extend(sorted(kept))
    return result


def _claim(result: Fitted, kind: str, position: int, text: str, count_tokens: Callable[[str], int]) -> bool:
    tokens = count_tokens(text) + MESSAGE_OVERHEAD
    if result.tokens + tokens <= result.limit:
        result.tokens += tokens
        return True
    result.cuts.append(Cut(kind, position, tokens, max(0, result.limit - result.tokens)))
    return False

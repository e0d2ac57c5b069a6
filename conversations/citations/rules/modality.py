"""What a sentence permits and what it forbids. Pure."""

import re
from collections.abc import Set

from conversations.citations.rules.polarity import exceptions
from conversations.citations.source import Clause, Source

_FORBIDS = re.compile(
    r"\b(?:may|must|can|could|should|shall)\s*(?:not|n?[’']t)\b|\bcannot\b|\bnot (?:allowed|permitted|admitted)\b"
    r"|\b(?:forbidden|prohibited|banned)\b|不得|禁止|严禁|禁(?=[用烟酒食止入])|不可|不能|不准|不许|不允许|不予|请?勿",
    re.IGNORECASE,
)
_PERMITS = re.compile(
    r"\b(?:may|can|could|allowed|permitted|welcome|okay|free to)\b|可以|允许|准许|可(?=[以在由用自向])"
    r"|(?<![功性职智技动不])能(?![力源量耗级效])",
    re.IGNORECASE,
)
# A clause of the source speaks of the same from this share of a claim's words on, and those with nearly as many too.
SAME, NEARLY = 0.3, 0.8


def permits_what_is_forbidden(clause: str, wanted: Set[str], source: Source) -> bool:
    """Whether a claim's clause permits, and the clauses of the source that speak most of the same all forbid."""
    if _FORBIDS.search(clause) or not _PERMITS.search(clause):
        return False
    shares = [(source.share(wanted, other), other) for other in source.clauses]
    most = max((share for share, _ in shares), default=0.0)
    if most < SAME:
        return False
    ways = exceptions(clause)
    return all(_forbids(other) and exceptions(other.text) == ways for share, other in shares if share >= NEARLY * most)


def _forbids(clause: Clause) -> bool:
    rest, forbidden = _FORBIDS.subn(" ", clause.text)
    return bool(forbidden) and not _PERMITS.search(rest)

"""Fitting prompts: never over the window, question and system prompt never cut, cuts explained."""

from hypothesis import given
from hypothesis import strategies as st

from conversations.budget import MESSAGE_OVERHEAD, SAFETY, fit

TEXTS = st.lists(st.integers(1, 400).map(lambda size: "x" * size), max_size=8)


@given(
    evidence=TEXTS,
    summary=TEXTS,
    relevant=TEXTS,
    recent=TEXTS,
    window=st.integers(64, 3000),
    reserve=st.integers(0, 64),
)
def test_never_over_the_window_and_every_text_is_kept_or_explained(
    evidence: list[str], summary: list[str], relevant: list[str], recent: list[str], window: int, reserve: int
) -> None:
    offered = {"evidence": evidence, "summary": summary, "relevant": relevant, "recent": recent}
    fixed = ["s" * 5, "q" * 5]
    fitted = fit(fixed, offered, window=window, reserve=reserve, count_tokens=len)
    used = sum(len(text) + MESSAGE_OVERHEAD for text in fixed)
    for kind, texts in offered.items():
        kept = getattr(fitted, kind)
        assert kept == sorted(kept)
        used += sum(len(texts[position]) + MESSAGE_OVERHEAD for position in kept)
        cut = [entry.position for entry in fitted.cuts if entry.kind == kind]
        assert sorted([*kept, *cut]) == list(range(len(texts)))
    assert fitted.tokens == used
    if any(getattr(fitted, kind) for kind in offered):
        assert used <= int(window * SAFETY) - reserve


def test_recent_history_is_kept_from_the_newest() -> None:
    fitted = fit([], {"recent": ["a" * 40, "b" * 40, "c" * 40]}, window=100, reserve=0, count_tokens=len)
    assert fitted.recent == [1, 2]
    assert [(cut.kind, cut.position, cut.tokens) for cut in fitted.cuts] == [("recent", 0, 44)]


def test_evidence_claims_before_history() -> None:
    fitted = fit([], {"recent": ["h" * 60], "evidence": ["e" * 60]}, window=100, reserve=0, count_tokens=len)
    assert (fitted.evidence, fitted.recent) == ([0], [])

"""Tests of fitting prompts: the limit, the order of fitting, and the record of pieces left out."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conversations.prompts.budget import KINDS, MESSAGE_OVERHEAD, Window, fit

PIECES = st.lists(st.lists(st.integers(1, 400).map(lambda size: "x" * size), min_size=1, max_size=2), max_size=8)


def test_order_of_fitting() -> None:
    assert KINDS == ("evidence", "summary", "facts", "relevant", "recent")


@given(
    offered=st.fixed_dictionaries(dict.fromkeys(KINDS, PIECES)), fixed=st.integers(0, 900), limit=st.integers(0, 3000)
)
def test_never_over_the_limit_and_every_piece_is_kept_or_explained(
    offered: dict[str, Sequence[Sequence[str]]], fixed: int, limit: int
) -> None:
    fitted = fit(fixed, offered, limit, len)
    used = fixed
    for kind, pieces in offered.items():
        kept = getattr(fitted, kind)
        assert kept == sorted(kept)
        used += sum(len(text) for position in kept for text in pieces[position])
        cut = [entry.position for entry in fitted.cuts if entry.kind == kind]
        assert sorted([*kept, *cut]) == list(range(len(pieces)))
    assert fitted.tokens == used == sum(fitted.taken.values()) and fitted.taken["fixed"] == fixed
    assert used <= max(limit, fixed)


@given(kind=st.sampled_from(["facts", "recent"]), pieces=PIECES, limit=st.integers(0, 2000))
def test_kinds_fitted_from_the_newest_have_no_gaps(kind: str, pieces: Sequence[Sequence[str]], limit: int) -> None:
    kept = getattr(fit(0, {kind: pieces}, limit, len), kind)
    assert kept == list(range(len(pieces) - len(kept), len(pieces)))


def test_recent_history_is_kept_from_the_newest() -> None:
    fitted = fit(0, {"recent": [["a" * 20, "a" * 20], ["b" * 40], ["c" * 40]]}, 95, len)
    assert fitted.recent == [1, 2]
    assert [(cut.kind, cut.position, cut.tokens, cut.left) for cut in fitted.cuts] == [("recent", 0, 40, 15)]


@pytest.mark.parametrize("place", range(len(KINDS) - 1))
def test_kinds_are_fitted_in_order(place: int) -> None:
    first, second = KINDS[place : place + 2]
    fitted = fit(0, {second: [["s" * 60]], first: [["f" * 60]]}, 100, len)
    assert (getattr(fitted, first), getattr(fitted, second)) == ([0], [])


def test_smaller_passage_replaces_one_that_does_not_fit() -> None:
    assert fit(0, {"evidence": [["e" * 60], ["e" * 80], ["e" * 30]]}, 100, len).evidence == [0, 2]


def test_window_reserves_five_percent_and_the_answer() -> None:
    assert Window.of(10_000, 2_000).limit == 7_500
    assert Window.of(4_096, 8_000) == Window(4_096, 2_048)
    assert Window.of(100, 0).limit == 95


def test_calibrated_window_measures_more() -> None:
    assert Window(1000, 0).measure("one two three") == 3 + MESSAGE_OVERHEAD
    assert Window(1000, 0, 1.5).measure("one two three") == 5 + MESSAGE_OVERHEAD


@given(st.integers(0, 5000), st.floats(0.5, 4.0))
@example(191, 1.1)
def test_text_of_the_room_fits(tokens: int, factor: float) -> None:
    window = Window(10_000, 0, factor)
    room = window.room(tokens)
    assert room == 0 or window.measure(" a" * room) <= tokens

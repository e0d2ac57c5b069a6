"""Tests of the tree of turns: branches, newest descendants, and versions."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conversations.turn_tree import Stretch, TurnTree

#  1 ─ 2 ─ 4
#    └ 3 ─ 5
#        └ 6 ─ 7
TREE = TurnTree([(1, None), (2, 1), (3, 1), (4, 2), (5, 3), (6, 3), (7, 6)])


def test_default_branch_ends_at_the_newest_turn() -> None:
    assert TREE.branch() == [1, 3, 6, 7]
    assert TurnTree([(1, None), (2, 1), (3, 1), (4, 2)]).branch() == [1, 2, 4]


def test_branch_leads_through_a_turn_to_its_newest_descendant() -> None:
    assert TREE.branch(2) == [1, 2, 4]
    assert TREE.branch(3) == [1, 3, 6, 7]
    assert TREE.branch(5) == [1, 3, 5]


def test_missing_turn_leads_to_the_newest() -> None:
    assert TREE.branch(99) == TREE.branch()
    assert TurnTree([]).branch(1) == []


def test_siblings_of_siblings() -> None:
    assert TREE.siblings(3) == [2, 3]
    assert TREE.siblings(6) == [5, 6]
    assert TurnTree([(1, None), (2, None)]).siblings(1) == [1, 2]


def test_children_of_removed_turns_are_roots() -> None:
    left = TurnTree([(4, 2), (5, 3), (6, 5)])
    assert left.siblings(4) == [4, 5]
    assert left.branch(4) == [4] and left.branch() == [5, 6]


def test_deep_branch() -> None:
    deep = TurnTree([(number, number - 1 or None) for number in range(1, 5001)])
    assert deep.branch(1) == list(range(1, 5001))


@given(st.lists(st.integers(0, 100), max_size=60), st.integers(1, 60))
def test_every_turn_is_on_the_branch_through_it(parents: list[int], through: int) -> None:
    pairs = [(turn, parent % turn or None) for turn, parent in enumerate(parents, 1)]
    tree = TurnTree(pairs)
    path = tree.branch(through)
    assert (through in path) == (through <= len(pairs))
    assert all(tree.parent[turn] == before for before, turn in zip([None, *path], path, strict=False))
    assert not path or not tree.children.get(path[-1])


def described(stretches: list[Stretch]) -> list[Any]:
    """Return each stretch as its first turn, `*` if it is shown, its turns and version, and what follows."""
    return [
        (f"{each.first}{'*' * each.is_shown}", each.turns, f"{each.version}/{each.versions}", described(each.following))
        for each in stretches
    ]


def test_outline_joins_turns_up_to_the_next_fork() -> None:
    assert TREE.leaves() == [4, 5, 7]
    assert described(TREE.outline(7, 10)) == [
        ("1*", 1, "1/1", [
            ("2", 2, "1/2", []),
            ("3*", 1, "2/2", [("5", 1, "1/2", []), ("6*", 2, "2/2", [])]),
        ]),
    ]  # fmt: skip
    assert described(TurnTree([(1, None), (2, 1), (3, 2)]).outline(3, 10)) == [("1*", 3, "1/1", [])]
    assert described(TurnTree([(1, None), (2, None)]).outline(1, 10)) == [("1*", 1, "1/2", []), ("2", 1, "2/2", [])]


def test_outline_keeps_the_shown_branch_and_the_newest_others() -> None:
    assert described(TREE.outline(4, 2)) == [
        ("1*", 1, "1/1", [("2*", 2, "1/2", []), ("3", 3, "2/2", [])]),
    ]  # fmt: skip
    assert described(TREE.outline(7, 1)) == [("1*", 4, "1/1", [])]
    # Each of 500 questions was answered twice.
    twice = TurnTree(
        pair for turn in range(1, 1001, 2) for pair in ((turn, turn - 1 or None), (turn + 1, turn - 1 or None))
    )
    found = [stretch for root in twice.outline(1000, 20) for stretch in root.walk()]
    assert len(twice.leaves()) == 501 and len(found) == 39
    assert [stretch.turns for stretch in found if stretch.is_shown] == [481, *[1] * 19]


@given(st.lists(st.integers(0, 100), min_size=1, max_size=60), st.integers(1, 60), st.integers(1, 12))
def test_outline_is_bounded_and_has_each_of_its_turns_once(parents: list[int], through: int, most: int) -> None:
    tree = TurnTree((turn, parent % turn or None) for turn, parent in enumerate(parents, 1))
    path = tree.branch(through)
    found = [stretch for root in tree.outline(path[-1], most) for stretch in root.walk()]
    assert len(found) < 2 * most
    assert sum(stretch.turns for stretch in found if stretch.is_shown) == len(path)
    assert len({stretch.first for stretch in found}) == len(found)
    everything = [stretch for root in tree.outline(path[-1], len(parents)) for stretch in root.walk()]
    assert sum(stretch.turns for stretch in everything) == len(parents)

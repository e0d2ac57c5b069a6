"""Tests of the tree of turns: branches, newest descendants, and versions."""

from hypothesis import given
from hypothesis import strategies as st

from conversations.turn_tree import TurnTree

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

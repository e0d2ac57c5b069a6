"""The turns of a session as a tree, with its branches and sibling versions. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stretch:
    """The turns of a branch from one fork to the next, named after the `question` of the first one.

    `first` is the id of that turn, the `version`th of `versions` siblings. `is_shown` is whether the page's branch runs
    through it, and `following` are the stretches after it.
    """

    first: int
    turns: int
    version: int
    versions: int
    is_shown: bool
    following: list["Stretch"] = field(default_factory=list)
    question: str = ""

    def walk(self) -> Iterator["Stretch"]:
        """Yield the stretch and all after it."""
        yield self
        for stretch in self.following:
            yield from stretch.walk()


class TurnTree:
    """Turns from (id, parent id) pairs in order of creation; parents that are not among them are ignored."""

    def __init__(self, pairs: Iterable[tuple[int, int | None]]) -> None:
        given = dict(pairs)
        self.parent = {turn: parent if parent in given else None for turn, parent in given.items()}
        self.children: dict[int | None, list[int]] = defaultdict(list)
        for turn, parent in self.parent.items():
            self.children[parent].append(turn)

    def siblings(self, turn: int) -> list[int]:
        """Return the versions of a turn, including itself, oldest first."""
        return self.children[self.parent[turn]]

    def branch(self, through: int | None = None) -> list[int]:
        """Return the path from the root through a turn to its newest descendant.

        Without a turn, or if it no longer exists, return the path to the newest turn.
        """
        if not self.parent:
            return []
        leaf = through if through in self.parent else next(reversed(self.parent))
        while self.children.get(leaf):
            leaf = self.children[leaf][-1]
        return self.path(leaf)

    def path(self, leaf: int) -> list[int]:
        """Return the turns from the root to a turn."""
        path: list[int] = []
        turn: int | None = leaf
        while turn is not None:
            path.append(turn)
            turn = self.parent[turn]
        return path[::-1]

    def leaves(self) -> list[int]:
        """Return the last turn of each branch, oldest first."""
        return [turn for turn in self.parent if not self.children.get(turn)]

    def outline(self, leaf: int, most: int) -> list[Stretch]:
        """Return the branch to a turn and the newest others, `most` together, as trees.

        They have fewer than twice as many stretches as branches.
        """
        others = [turn for turn in self.leaves() if turn != leaf]
        shown = set(self.path(leaf))
        kept = set(shown)
        for end in [leaf, *others[max(0, len(others) - most + 1) :]]:
            turn: int | None = end
            while turn is not None and turn not in kept:
                kept.add(turn)
                turn = self.parent[turn]

        def grow(first: int) -> Stretch:
            turns, last = 1, first
            while len(after := [turn for turn in self.children.get(last, ()) if turn in kept]) == 1:
                turns, last = turns + 1, after[0]
            siblings = self.siblings(first)
            place = siblings.index(first) + 1
            return Stretch(first, turns, place, len(siblings), first in shown, [grow(turn) for turn in after])

        return [grow(root) for root in self.children[None] if root in kept]

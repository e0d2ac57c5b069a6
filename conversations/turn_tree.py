"""The turns of a session as a tree, with its branches and sibling versions. Pure."""

from collections import defaultdict
from collections.abc import Iterable


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

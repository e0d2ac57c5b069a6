"""Fills the cells below the name of a group of rows that stands only once."""

import re
from collections.abc import Sequence

from knowledge.parsing.tables.headers import is_number

# The name of a row that belongs to no group.
_TOTAL = re.compile(r"(?:grand\s+|sub-?)?(?:totals?|sum)\b|总计|合计|小计|总和|總計|合計|小計|共计|共計", re.IGNORECASE)


class Groups:
    """Fills the cells below a group's name that stands only once, so that each row can be read alone.

    Whether the first columns hold such names is decided by the first rows given.
    """

    _MOST = 3  # columns of groups, one within the other
    _LEAST = 0.25  # the share of rows without a name; with fewer, they are gaps

    def __init__(self) -> None:
        """Start a table."""
        self._depth: int | None = None  # columns of groups; None before the first rows
        self._names: list[str] = []

    def fill(self, columns: Sequence[str], rows: Sequence[list[str]]) -> list[list[str]]:
        """Return the rows with the names of their groups."""
        if self._depth is None:
            self._depth = self._count(columns, rows)
        result = []
        for row in rows:
            row = list(row)
            for place in range(min(self._depth, len(row))):
                if row[place].strip():
                    self._names[place:] = [row[place]]
                elif place < len(self._names) and not any(map(_is_total, row)):
                    row[place] = self._names[place]
                else:
                    break
            result.append(row)
        return result

    def _count(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
        """Return how many of the first columns hold names of groups."""
        depth = 0
        for place in range(min(self._MOST, len(columns) - 1)):
            names = [row[place] for row in rows if row[place].strip()]
            without = [row for row in rows if not row[place].strip() and not any(map(_is_total, row))]
            if (
                not columns[place]
                or not rows[0][place].strip()
                or len(without) < max(1, self._LEAST * len(rows))
                or (place == 0 and len(set(names)) < len(names))
                or any(map(is_number, names))
                or not all(row[place + 1].strip() or place + 1 < self._MOST for row in without)
                or sum(bool(cell.strip()) for row in without for cell in row[place + 1 :])
                < len(without) * (len(columns) - place - 1) / 2
            ):
                break
            depth = place + 1
        return depth


def _is_total(cell: str) -> bool:
    return _TOTAL.match(cell.strip()) is not None

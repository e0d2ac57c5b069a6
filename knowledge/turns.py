"""Whose document is next: uploaders take turns, so that a thousand files of one person don't hold up another's one."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from knowledge.models import Document

# Documents of each uploader that one look at the queue takes: who comes after it waits for no more than these.
PER_LOOK = 4


@dataclass(slots=True)
class Turns:
    """Hands out waiting documents, one of each uploader in turn, the one served longest ago first.

    `waiting` gives the documents to choose from, anew for each look at the queue. Those of one uploader come in the
    order of their upload, after those that are further than they: a giant one, indexed bit by bit, lets others pass.
    """

    waiting: Callable[[], QuerySet[Document]]
    _lines: dict[int | None, deque[int]] = field(default_factory=dict)
    _served: dict[int | None, int] = field(default_factory=dict)  # by uploader: the number of the turn
    _turn: int = 0

    def next(self) -> int | None:
        """Return the number of the next document, or None when none waits. Another worker may have it by now."""
        if not self._lines:
            self._look()
        if not self._lines:
            return None
        self._turn += 1
        uploader = min(self._lines, key=lambda one: self._served.get(one, 0))
        self._served[uploader] = self._turn
        line = self._lines[uploader]
        document_id = line.popleft()
        if not line:
            del self._lines[uploader]
        return document_id

    def _look(self) -> None:
        """Read the heads of the lines, and forget who was served but has nothing waiting any more."""
        order = [F("progress").asc(), F("pk").asc()]
        place = Window(RowNumber(), partition_by=F("uploaded_by_id"), order_by=order)
        heads = self.waiting().annotate(place=place).filter(place__lte=PER_LOOK).order_by("place", "pk")
        for uploader, document_id in heads.values_list("uploaded_by_id", "pk"):
            self._lines.setdefault(uploader, deque()).append(document_id)
        self._served = {one: turn for one, turn in self._served.items() if one in self._lines}

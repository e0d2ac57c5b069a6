"""Whose document is next: uploaders take turns, so that a thousand files of one person don't hold up another's one.

So do the knowledge bases of one uploader: a file dropped on one overtakes the folder that fills another.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from knowledge.models import Document

# Documents of each line that one look at the queue takes, and the seconds for which it is good. Who comes after it
# waits for no more than these.
PER_LOOK, LOOK_SECONDS = 4, 1.0

# An uploader (None where the account is gone) and one of the bases that they fill.
Line = tuple[int | None, int]


@dataclass(slots=True)
class FairQueue:
    """Hands out waiting documents, one of each uploader in turn, the one served longest ago first.

    `waiting` gives the documents to choose from, anew for each look at the queue. Those of one line come in the order
    of their upload, after those that are further than they: a giant one, indexed bit by bit, lets others pass. Scanned
    pages come last, since they take longest.
    """

    waiting: Callable[[], QuerySet[Document]]
    _lines: dict[Line, deque[int]] = field(default_factory=dict)
    _served: dict[Line, int] = field(default_factory=dict)  # the number of the turn
    _turn: int = 0
    _looked_at: float = float("-inf")

    def next(self) -> int | None:
        """Return the number of the next document, or None when none waits. Another worker may have it by now."""
        if not self._lines or time.monotonic() - self._looked_at > LOOK_SECONDS:
            order = [F("reads_scans").asc(), F("progress").asc(), F("pk").asc()]
            place = Window(RowNumber(), partition_by=[F("uploaded_by_id"), F("knowledge_base_id")], order_by=order)
            self._looked_at = time.monotonic()
            self._lines.clear()
            heads = self.waiting().annotate(place=place).filter(place__lte=PER_LOOK).order_by("place", "pk")
            for user, base, document in heads.values_list("uploaded_by_id", "knowledge_base_id", "pk"):
                self._lines.setdefault((user, base), deque()).append(document)
            # Who was served but has nothing waiting any more is forgotten.
            self._served = {line: turn for line, turn in self._served.items() if line in self._lines}
        if not self._lines:
            return None
        self._turn += 1
        uploaders: dict[int | None, int] = {}  # the turn in which each was served last
        for (uploader, _), turn in self._served.items():
            uploaders[uploader] = max(turn, uploaders.get(uploader, 0))
        line = min(self._lines, key=lambda one: (uploaders.get(one[0], 0), self._served.get(one, 0)))
        self._served[line] = self._turn
        documents = self._lines[line]
        document_id = documents.popleft()
        if not documents:
            del self._lines[line]
        return document_id

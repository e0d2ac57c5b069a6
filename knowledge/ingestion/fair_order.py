"""The order in which documents are processed: uploaders take turns, so that a thousand files don't delay others'.

The knowledge bases of one uploader take turns too: a file for one base doesn't wait for a folder uploaded to another.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from knowledge.models import Document

# The number of documents of each line that a query of the queue fetches, and the seconds after which it is repeated,
# which is how long a new uploader may wait to be considered. A query sorts all waiting documents: with 50,000 of them,
# fetching 4 takes ten times as long per document as fetching 32.
PER_LOOK, LOOK_SECONDS = 32, 1.0

# An uploader (None if the account was deleted) and one of their knowledge bases.
Line = tuple[int | None, int]


@dataclass(slots=True)
class FairQueue:
    """A queue of waiting documents that serves uploaders in turn, starting with the one served longest ago.

    `waiting` returns the documents to choose from, and is called for each query of the queue. Documents of one line are
    ordered by progress, least first, so that others can overtake a large one that is indexed in parts, and then by
    upload. Documents whose scanned pages have to be read come last, since they take longest.
    """

    waiting: Callable[[], QuerySet[Document]]
    _lines: dict[Line, deque[int]] = field(default_factory=dict)
    _served: dict[Line, int] = field(default_factory=dict)  # the number of the turn
    _turn: int = 0
    _looked_at: float = float("-inf")

    def next(self) -> int | None:
        """Return the id of the next document, or None if none waits. Another worker may have claimed it by now."""
        if not self._lines or time.monotonic() - self._looked_at > LOOK_SECONDS:
            order = [F("reads_scans").asc(), F("progress").asc(), F("pk").asc()]
            place = Window(RowNumber(), partition_by=[F("uploaded_by_id"), F("knowledge_base_id")], order_by=order)
            self._looked_at = time.monotonic()
            self._lines.clear()
            heads = self.waiting().annotate(place=place).filter(place__lte=PER_LOOK).order_by("place", "pk")
            for user, base, document in heads.values_list("uploaded_by_id", "knowledge_base_id", "pk"):
                self._lines.setdefault((user, base), deque()).append(document)
            # Lines without waiting documents are forgotten.
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

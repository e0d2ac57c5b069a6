"""The order in which documents are processed: uploaders take turns, so that a thousand files don't delay others'.

The knowledge bases of one uploader take turns too: a file for one base doesn't wait for a folder uploaded to another.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from django.db.models import Case, F, IntegerField, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber

from knowledge.models import Document

# The number of documents of each line that a query of the queue fetches, and the seconds after which it is repeated,
# which is how long a new uploader may wait to be considered. A query sorts all waiting documents: with 50,000 of them,
# fetching 4 takes ten times as long per document as fetching 32.
PER_LOOK, LOOK_SECONDS = 32, 1.0
# Every fourth turn of a line is its oldest document's, which newer ones would overtake otherwise, however many follow.
AGEING = 4
_OLDEST_PER_LOOK = PER_LOOK // AGEING
_MOST_LINES = 10_000  # whose turns are remembered

# An uploader (None if the account was deleted) and one of their knowledge bases.
Line = tuple[int | None, int]


@dataclass(slots=True)
class Turns:
    """Which line was served when. A worker keeps it for longer than a round, which may last for one slow file only."""

    number: int = 0
    last: dict[Line, int] = field(default_factory=dict)  # the number of each line's last turn
    count: dict[Line, int] = field(default_factory=dict)  # the turns of each line

    def give(self, line: Line) -> None:
        """Note a turn of a line."""
        self.number += 1
        self.last[line] = self.number
        self.count[line] = self.count.get(line, 0) + 1
        if len(self.last) > _MOST_LINES:
            first = min(self.last, key=self.last.__getitem__)
            del self.last[first], self.count[first]

    def choose(self, lines: Collection[Line]) -> Line:
        """Return the line whose turn it is: of the uploader served longest ago, the one served longest ago."""
        uploaders: dict[int | None, int] = {}
        for (uploader, _), number in self.last.items():
            uploaders[uploader] = max(number, uploaders.get(uploader, 0))
        return min(lines, key=lambda line: (uploaders.get(line[0], 0), self.last.get(line, 0)))


@dataclass(slots=True)
class FairQueue:
    """A queue of waiting documents that serves uploaders in turn, starting with the one served longest ago.

    `waiting` returns the documents to choose from, and is called for each query of the queue. Those of one line that
    wait to be indexed are ordered by progress, least first, so that others can overtake a large one that is indexed in
    parts; those that wait to be read by upload, with documents whose scanned pages have to be read last, since they
    take longest, and first among these the one already begun. Every `AGEING`th turn of a line serves its oldest one.
    """

    waiting: Callable[[], QuerySet[Document]]
    turns: Turns = field(default_factory=Turns)
    line: Line | None = None  # of the document that was served last
    _lines: dict[Line, list[int]] = field(default_factory=dict)
    _looked_at: float = float("-inf")

    def next(self, besides: Collection[int | None] = ()) -> int | None:
        """Return the id of the next document, or None if none waits, of uploaders that are not in `besides`.

        Another worker may have claimed it by now.
        """
        if not self._lines or time.monotonic() - self._looked_at > LOOK_SECONDS:
            self._look()
        lines = [line for line in self._lines if line[0] not in besides]
        if not lines:
            return None
        self.line = line = self.turns.choose(lines)
        self.turns.give(line)
        documents = self._lines[line]
        document_id = min(documents) if self.turns.count[line] % AGEING == 0 else documents[0]
        documents.remove(document_id)
        if not documents:
            del self._lines[line]
        return document_id

    def _look(self) -> None:
        """Query the documents of each line that may be served until the next query."""
        begun_first = When(status=Document.Status.QUEUED, then=-F("progress"))
        progress = Case(begun_first, default=F("progress"), output_field=IntegerField())
        lines = [F("uploaded_by_id"), F("knowledge_base_id")]
        place = Window(RowNumber(), lines, [F("reads_scans").asc(), progress.asc(), F("pk").asc()])
        age = Window(RowNumber(), lines, F("pk").asc())
        self._looked_at = time.monotonic()
        self._lines.clear()
        found = self.waiting().annotate(place=place, age=age)
        found = found.filter(Q(place__lte=PER_LOOK) | Q(age__lte=_OLDEST_PER_LOOK)).order_by("place", "pk")
        for user, base, document in found.values_list("uploaded_by_id", "knowledge_base_id", "pk"):
            self._lines.setdefault((user, base), []).append(document)

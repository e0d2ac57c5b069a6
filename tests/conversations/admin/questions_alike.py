"""Pairs of questions on a subject, which ask the same or don't, and which of them the first page joins.

They were written before any likeness of theirs was seen: the threshold was picked on the `first` ones and judged on
the `second`. `manage.py shell --settings tests.settings -c "from tests.conversations.admin import questions_alike;
questions_alike.print_table()"` prints the figures.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone

from conversations.admin.dashboard import unanswered
from ragsite.llm.embedding.local import LocalEmbedder, languages_of


@dataclass(frozen=True, slots=True)
class Joined:
    """Of pairs: how many are joined that ask the same, and how many that don't; `same` is how many ask the same."""

    right: int
    wrong: int
    same: int

    @property
    def precision(self) -> float:
        """Return the share of the joined pairs that ask the same; 1 where none is joined."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Return the share of the pairs asking the same that are joined."""
        return self.right / self.same


def joined(of: str, language: str) -> Joined:
    """Return which pairs of a set (`first`, `second`) and a language (`en`, `zh`) the bundled model joins."""
    embedder, now, right, wrong, same = LocalEmbedder(), timezone.now(), 0, 0, 0
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if row[:2] == [of, language]]
    for _set, _language, truth, *texts in rows:
        asked = [
            unanswered.Asked(
                number, text, 1, now, 1, unanswered.direction(text, embedder.embed_query(text), languages_of("bundled"))
            )
            for number, text in enumerate(texts)
        ]
        is_joined = bool(unanswered.likeness(asked)[0, 1] >= 1)
        same += truth == "same"
        right += is_joined and truth == "same"
        wrong += is_joined and truth != "same"
    return Joined(right, wrong, same)


def print_table() -> None:
    """Print the figures at several cosines."""
    usual = unanswered.ALIKE
    for cosine in (0.6, 0.65, 0.68, 0.7, 0.73, 0.76, 0.8):
        unanswered.ALIKE = cosine
        for of in ("first", "second"):
            found = joined(of, "en")
            print(f"{cosine:.2f} {of:6} precision {found.precision:.2f} recall {found.recall:.2f} {found}")
    unanswered.ALIKE = usual

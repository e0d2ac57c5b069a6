"""Pairs of questions on one subject that ask the same or not, and whether the dashboard groups them.

They were written before any similarity was computed: the threshold was chosen on the `first` set and evaluated on the
`second`. `manage.py shell --settings tests.settings -c "from tests.conversations.admin import questions_alike;
questions_alike.print_table()"` prints the figures.
"""

import csv
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from django.utils import timezone

from conversations.admin.dashboard import unanswered
from ragsite.llm.embedding.local import LocalEmbedder


@dataclass(frozen=True, slots=True)
class Joined:
    """Counts of grouped pairs that ask the same and that don't; `same` is the number of pairs that ask the same."""

    right: int
    wrong: int
    same: int

    @property
    def precision(self) -> float:
        """Return the share of the grouped pairs that ask the same; 1 if none is grouped."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Return the share of the pairs asking the same that are grouped."""
        return self.right / self.same


def joined(of: str, language: str, alike: float | None = None) -> Joined:
    """Return which pairs of a set (`first`, `second`) and a language (`en`, `zh`) the bundled model groups.

    Pairs are grouped from a cosine of `alike`, by default the model's own threshold.
    """
    embedder, now, right, wrong, same = LocalEmbedder(), timezone.now(), 0, 0, 0
    usual = embedder.calibration.alike
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if row[:2] == [of, language]]
    for _set, _language, truth, *texts in rows:
        asked = [
            unanswered.Asked(
                number, text, 1, now, 1, unanswered.direction(embedder.embed_query(text)), 0, alike or usual
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
    for cosine in (0.9, 0.91, 0.915, 0.92, 0.922, 0.925, 0.93, 0.94):
        for of, language in product(("first", "second"), ("en", "zh")):
            found = joined(of, language, cosine)
            print(f"{cosine} {language} {of:6} precision {found.precision:.2f} recall {found.recall:.2f} {found}")

"""`manage.py bench_citations PAIRS.jsonl…`."""

import asyncio
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conversations.citations.verifiers import configured
from tests.benchmarks.conversations.citations import Row, measure, read_pairs, total


class Command(BaseCommand):
    """Prints a table in Markdown for each file."""

    help = (
        "Measure how well the citation check distinguishes true sentences from false ones. Each line of a file is "
        "JSON: `sentence`, `passage`, `language` and `label`, which is `true` or names the error in the sentence."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the files of labelled pairs."""
        parser.add_argument("files", nargs="+", type=Path, metavar="PAIRS.jsonl")
        parser.add_argument("--verifier", help="dotted path of another verifier (default: that of the settings)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure each file; a file that can't be read is reported in one line."""
        try:
            verifier = configured(options["verifier"])
        except (ImportError, TypeError) as error:
            raise CommandError(f"--verifier: {error}") from None
        for file in options["files"]:
            try:
                pairs = list(read_pairs(file.read_text(encoding="utf-8").splitlines()))
                rows = asyncio.run(measure(pairs, verifier))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise CommandError(f"{file}: {error!r}") from None
            self._print(file.name, rows)

    def _print(self, name: str, rows: list[Row]) -> None:
        languages = list(dict.fromkeys(row.language for row in rows))
        self.stdout.write(f"\n| {name} | {' | '.join(languages)} | all |")
        self.stdout.write("|---" * (len(languages) + 2) + "|")
        for label in dict.fromkeys(row.label for row in rows):
            kind = [row for row in rows if row.label == label]
            cells = [_rightly([row for row in kind if row.language == language]) for language in languages]
            self.stdout.write(f"| {label} | {' | '.join(cells)} | {_rightly(kind)} |")
        groups = [[row for row in rows if row.language == language] for language in languages] + [rows]
        for name, what in (
            ("precision", "precision"),
            ("recall", "recall"),
            ("true sentences doubted", "false_alarms"),
        ):
            shares = (getattr(total(group), what) for group in groups)
            cells = ["–" if share is None else f"{share:.3f}" for share in shares]
            self.stdout.write(f"| {name} | {' | '.join(cells)} |")


def _rightly(rows: list[Row]) -> str:
    return f"{sum(row.right for row in rows)}/{sum(row.pairs for row in rows)}"

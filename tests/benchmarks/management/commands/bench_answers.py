"""`manage.py bench_answers SET.jsonl… --knowledge-base NAME [--foreign OTHERSET.jsonl…]`."""

import json
import signal
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from conversations.turn_store import TurnRefused
from knowledge.management.lookups import base_to_read, find_user
from tests.benchmarks.conversations import answers
from tests.benchmarks.conversations.answers import Outcome, Question
from tests.benchmarks.retrieval.measuring import table


class Command(BaseCommand):
    """Prints tables in Markdown."""

    help = (
        "Measure how honest answers are: ask the questions of sets in a base, each in a separate chat that is deleted "
        "afterwards, with the site's model. Prints the outcomes by kind of question, the position of the answer in the "
        "text, and the effect of thresholds. Each line of a set is JSON: `id`, `kind` (answerable, near, elsewhere, "
        "objectless), `language`, `question`; for answerable ones also `document` and `answers`, one of which any "
        "correct answer contains."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the sets and their knowledge base."""
        parser.add_argument("sets", nargs="+", type=Path, metavar="SET.jsonl")
        parser.add_argument("--knowledge-base", required=True, metavar="NAME")
        parser.add_argument("--user", metavar="USER", help="user who asks (default: the base's owner)")
        parser.add_argument(
            "--foreign",
            nargs="+",
            type=Path,
            default=[],
            metavar="OTHERSET.jsonl",
            help="sets of other bases, whose answerable questions this base can't answer",
        )
        parser.add_argument(
            "--limit", type=int, metavar="N", help="maximum number of questions of each kind and language"
        )
        parser.add_argument("--json", type=Path, metavar="OUT", help="file for the figures and all answers")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask the questions and print the figures; errors in the arguments are reported in one line."""
        base = base_to_read(options["knowledge_base"], options["user"])
        user = base.owner if options["user"] is None else find_user(options["user"])
        asked = [question for file in options["sets"] for question in _read(file)]
        asked += answers.as_foreign(question for file in options["foreign"] for question in _read(file))
        if options["limit"] is not None:
            asked = answers.first_of_each(asked, options["limit"])
        if not asked:
            raise CommandError("The sets contain no questions.")
        out = options["json"]
        if out is not None and not out.parent.is_dir():
            raise CommandError(f"{out} can't be written: the folder {out.parent} doesn't exist.")
        # On SIGTERM, it deletes its chats first.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with tqdm(total=len(asked), desc="Asking", unit="question", file=sys.stderr) as bar:
                outcomes = answers.ask_all(user, base.pk, asked, bar.update)
        except TurnRefused as error:
            raise CommandError(error.message) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        self._print(outcomes)
        if out is not None:
            out.write_text(_as_json(outcomes), encoding="utf-8")

    def _print(self, outcomes: list[Outcome]) -> None:
        if failed := sum(outcome.failed for outcome in outcomes):
            self.stderr.write(self.style.WARNING(f"{failed} answers failed; they count as {answers.OTHER!r}."))
        states = [
            [row.kind, row.language, str(row.questions), *(_cell(row.shares[state]) for state in answers.STATES)]
            for row in answers.state_rows(outcomes)
        ]
        self.stdout.write("\n" + table(["questions", "language", "n", *answers.STATES], states))
        places = [
            [row.which, row.language, str(row.questions)]
            + [_cell(share) for share in (row.passage, row.own_passage, row.first, row.first_three)]
            for row in answers.place_rows(outcomes)
        ]
        if places:
            headings = ["answerable", "language", "n", "passage in 5", "from its document", "1st sentence", "first 3"]
            self.stdout.write("\n" + table(headings, places))
        for score in answers.SCORES:
            for language in answers.languages(outcomes):
                self._print_curve(score, language, answers.in_language(outcomes, language))

    def _print_curve(self, score: answers.Score, language: str, outcomes: list[Outcome]) -> None:
        points = answers.curve(outcomes, score)
        if points:
            headings = [f"{score}, {language}: wrongly below", "threshold", *points[0].caught]
            rows = [
                [f"{point.wrongly} %", f"{point.threshold:.3f}", *map(_cell, point.caught.values())] for point in points
            ]
            self.stdout.write("\n" + table(headings, rows))


def _read(file: Path) -> list[Question]:
    try:
        return list(answers.read_questions(file.read_text(encoding="utf-8").split("\n")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{file}: {error!r}") from None


def _cell(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"


def _as_json(outcomes: list[Outcome]) -> str:
    figures = {
        "states": [asdict(row) for row in answers.state_rows(outcomes)],
        "places": [asdict(row) for row in answers.place_rows(outcomes)],
        "curves": {score: [asdict(point) for point in answers.curve(outcomes, score)] for score in answers.SCORES},
        "questions": [asdict(outcome) for outcome in outcomes],
    }
    return json.dumps(figures, ensure_ascii=False, indent=1) + "\n"

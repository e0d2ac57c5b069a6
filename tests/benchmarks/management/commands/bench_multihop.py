"""`manage.py bench_multihop FOLDER [--pipelines default,…] [--set held] [--scripted]`."""

import json
import logging
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from tests.benchmarks.conversations.instant_model import configured
from tests.benchmarks.conversations.multihop import asking, corpus, figures, questions
from tests.benchmarks.conversations.multihop.asking import Outcome, UnknownPassages
from tests.benchmarks.conversations.multihop.questions import Question
from tests.benchmarks.conversations.multihop.script import ScriptedModel
from tests.benchmarks.retrieval import scratch
from tests.benchmarks.retrieval.measuring import table
from tests.benchmarks.retrieval.passages import NoTexts
from tests.benchmarks.retrieval.scratch import NoDatabase


class Command(BaseCommand):
    """Prints tables in Markdown."""

    help = (
        "Measure how many of the needed passages several pipelines find for questions that need several searches. Uses "
        "a separate database beside the site's, and the model that the environment names, if any."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the documents, the pipelines and the set of questions."""
        parser.add_argument("folder", type=Path, help="folder of the documents that the questions are about")
        parser.add_argument(
            "--pipelines",
            default="default",
            metavar="NAME,…",
            help="names in PIPELINES; the others are compared with the first (default: %(default)s)",
        )
        parser.add_argument("--set", choices=(*questions.SETS, "all"), default="held", help="default: %(default)s")
        parser.add_argument("--scripted", action="store_true", help="let a scripted model split the questions")
        parser.add_argument("--keep", action="store_true", help="keep the database for the next run")
        parser.add_argument("--json", type=Path, metavar="OUT", help="file for all outcomes")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask the questions and print the figures; errors in the arguments are reported in one line."""
        pipelines = list(dict.fromkeys(options["pipelines"].split(",")))
        if unknown := [name for name in pipelines if name not in settings.PIPELINES]:
            raise CommandError(f"There is no pipeline {unknown[0]!r}; there are: {', '.join(settings.PIPELINES)}.")
        sets = questions.SETS if options["set"] == "all" else (options["set"],)
        asked = {name: questions.load(name) for name in sets}
        every = [question for of_set in asked.values() for question in of_set]
        try:
            with scratch.database("ragsite_bench_multihop", keep=options["keep"]), _quiet():
                base = corpus.filled(options["folder"])
                self.stdout.write(f"{corpus.size(base)}; the first {asking.RANKS} passages count.")
                with _model(every if options["scripted"] else None), tqdm(total=len(every), file=sys.stderr) as bar:
                    outcomes = asking.ask_all(base, pipelines, every, bar.update)
        except (NoTexts, NoDatabase, UnknownPassages, OSError) as error:
            raise CommandError(str(error)) from error
        for name, of_set in asked.items():
            ids = {question.id for question in of_set}
            self._print(name, {key: [one for one in ones if one.question.id in ids] for key, ones in outcomes.items()})
        if options["json"] is not None:
            found = {name: [asdict(outcome) for outcome in ones] for name, ones in outcomes.items()}
            options["json"].write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def _print(self, name: str, outcomes: dict[str, list[Outcome]]) -> None:
        for pipeline, ones in outcomes.items():
            if failed := sum(outcome.failed for outcome in ones):
                self.stderr.write(self.style.WARNING(f"{failed} turns through {pipeline} failed."))
        first, *others = outcomes
        groups = figures.groups(outcomes[first])
        rows = []
        for language, kind, belongs in groups:
            of_first = figures.row(language, kind, list(filter(belongs, outcomes[first])))
            for pipeline, ones in outcomes.items():
                row = figures.row(language, kind, list(filter(belongs, ones)))
                shares = [row.recall, row.whole, row.reaching, row.reported]
                cells = [kind, language, str(row.questions), pipeline]
                cells += ["–" if share is None else f"{share:.3f}" for share in shares]
                cells += [f"{row.searches:.1f}", f"{row.ms:.0f}"]
                rows.append([*cells, _ratio(row.recall, of_first.recall), _ratio(row.ms, of_first.ms)])
        headings = ["questions", "language", "n", "pipeline", f"recall@{asking.RANKS}", "all found", "reach the answer"]
        headings += ["missing reported", "searches", "ms", "recall ×", "ms ×"]
        self.stdout.write(f"\n## {name}\n\n{table(headings, rows)}")
        for pipeline in others:
            rows = []
            for language, kind, belongs in groups:
                pair = [list(filter(belongs, outcomes[key])) for key in (first, pipeline)]
                found = figures.compare(*pair)
                cells = [kind, language, f"{found.difference:+.3f}", f"{found.low:+.3f} … {found.high:+.3f}"]
                rows.append([*cells, str(found.better), str(found.worse), f"{found.p:.3f}"])
            headings = [f"{pipeline} − {first}", "language", "recall", "95 %", "better", "worse", "p"]
            self.stdout.write("\n" + table(headings, rows))


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}" if other else "–"


@contextmanager
def _model(scripted: Sequence[Question] | None) -> Iterator[None]:
    """Have the site use a model scripted for these questions, or its own model."""
    if scripted is None:
        yield
        return
    with ScriptedModel(scripted) as model, configured(model.base_url):
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    log = logging.getLogger("ragsite.qa")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before

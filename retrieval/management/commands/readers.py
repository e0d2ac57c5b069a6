"""`manage.py readers list|try`: the readers of the site."""

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ragsite.llm.reranking.reader import OFF
from retrieval.evaluation.models import EvaluationSet
from retrieval.evaluation.runs import RunFailed
from retrieval.evaluation.sets import SetRefused
from retrieval.management.commands.embedding_models import disk_size
from retrieval.management.commands.reembed import progress_bar
from retrieval.readers import registry, trial
from retrieval.readers.registry import NoSuchReader


class Command(BaseCommand):
    """The actions of the page “Readers” in the admin, run in this process instead of a worker."""

    help = "List the site's readers, and compare one with the current settings. READER_MODEL sets the one in use."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the actions and their arguments."""
        actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
        actions.add_parser("list", help="list the readers, the one in use first").add_argument(
            "--json", action="store_true", help="print JSON"
        )
        tried = actions.add_parser("try", help="compare a reader with the current settings on question sets")
        tried.add_argument("name", metavar="NAME")
        tried.add_argument(
            "--set", action="append", default=[], metavar="SET", help="name of a question set (default: all)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the action; errors say what to do."""
        try:
            getattr(self, f"_{options['action']}")(options)
        except (NoSuchReader, RunFailed, SetRefused) as error:
            raise CommandError(str(error)) from error

    def _list(self, options: dict[str, Any]) -> None:
        found = registry.all_readers()
        if options["json"]:
            same = "name", "source", "state", "problem", "license", "size", "finds_answers", "finds_places"
            rows = [
                {name: getattr(each, name) for name in same}
                | {"languages": each.languages if each.languages != [] else ["all"], "calibrated": each.is_calibrated}
                for each in found
            ]
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        for each in found:
            self.stdout.write(f"{each.name}  ({each.state.label})")
            known = "languages unknown" if each.languages is None else ", ".join(each.languages) or "all languages"
            facts = [
                each.source.label,
                known,
                each.license or "licence unknown",
                "size unknown" if each.size is None else disk_size(each.size),
                each.tells,
                "calibrated" if each.is_calibrated else "no calibration",
            ]
            self.stdout.write(f"    {' · '.join(map(str, facts))}")
            if each.problem:
                self.stdout.write(f"    {each.problem}")
        if settings.READER_MODEL == OFF:
            self.stdout.write("The reader is off: READER_MODEL is off.")

    def _try(self, options: dict[str, Any]) -> None:
        reader = trial.tryable(options["name"])
        sets = EvaluationSet.objects.filter(questions__isnull=False).distinct().select_related("knowledge_base")
        if options["set"]:
            sets = sets.filter(name__in=options["set"])
        if not sets:
            wanted = f" named {options['set'][0]!r}" if options["set"] else ""
            raise CommandError(f"There is no question set{wanted} that has questions.")
        for each in sets:
            with progress_bar("Trying", "question") as progress:
                found = trial.run(reader, each, progress)
            self.stdout.write(f"{each.name} ({each.knowledge_base.name}), questions: {found.run.question_count}")
            columns = [cells for _name, cells in found.rows()]
            self.stdout.write(f"    {'':<24}{'  '.join(f'{name:>12}' for name, _cells in found.rows())}")
            for name, *cells in zip(trial.headings(), *columns, strict=True):
                self.stdout.write(f"    {name:<24}{'  '.join(f'{cell.shown:>12}' for cell in cells)}".rstrip())
            for note in found.run.notes_said:
                self.stderr.write(self.style.WARNING(note))

"""`manage.py bench_followups --knowledge-base NAME --last FILE --questions FILE --rewrites FILE --qrels FILE`."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from knowledge.management.lookups import base_to_read
from knowledge.models import Document, KnowledgeBase
from retrieval.evaluation.loading import corpus
from retrieval.evaluation.loading.corpus import CorpusError
from retrieval.evaluation.questions import QuestionDraft
from retrieval.types import SearchFailed
from tests.benchmarks.conversations import followups
from tests.benchmarks.conversations.answers import ANSWERABLE, Question, read_questions
from tests.benchmarks.conversations.followups import Case, Row


class Command(BaseCommand):
    """Prints a table in Markdown."""

    help = (
        "Measure how well the passages for later questions of conversations are found with the question alone, the "
        "rules, all questions joined, and rewritings by people, and how much self-contained questions lose."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the base and the files of a public set."""
        parser.add_argument("--knowledge-base", required=True, metavar="NAME", help="base with the set's corpus")
        parser.add_argument("--user", metavar="USER", help="owner, if several bases have this name")
        parser.add_argument(
            "--corpus", type=Path, metavar="CORPUS.jsonl", help="corpus to load first, like `load_corpus`"
        )
        parser.add_argument("--last", type=Path, metavar="QUERIES.jsonl", help="the last questions")
        parser.add_argument(
            "--questions",
            type=Path,
            metavar="QUERIES.jsonl",
            help=f"all questions up to these, each after {followups.MARK} (default: all are first questions)",
        )
        parser.add_argument("--rewrites", type=Path, metavar="QUERIES.jsonl", help="stand-alone versions by people")
        parser.add_argument("--qrels", type=Path, metavar="QRELS.tsv")
        parser.add_argument(
            "--complete",
            type=Path,
            metavar="SET.jsonl",
            help="a set of `bench_answers` of the base, whose answerable questions are asked after one another instead",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Load, measure and print; errors in the arguments are reported in one line."""
        name, user = options["knowledge_base"], options["user"]
        if options["corpus"] is not None:
            if user is None:
                raise CommandError("--corpus needs --user, the owner of the passages.")
            call_command("load_corpus", options["corpus"], knowledge_base=name, user=user)
        base = base_to_read(name, user)
        if options["complete"] is not None:
            self._print_alone(_complete(options["complete"]), base)
            return
        if options["last"] is None or options["qrels"] is None:
            raise CommandError("--last and --qrels are needed, or --complete.")
        try:
            cases = _cases(base, options)
            rows = _measure(base, cases)
        except (CorpusError, SearchFailed) as error:
            raise CommandError(str(error)) from None
        self._print(name, cases, rows)

    def _print(self, name: str, cases: list[Case], rows: list[Row]) -> None:
        later = sum(1 for case in cases if case.earlier)
        self.stdout.write(f"{name}: {len(cases)} questions, of which {later} are later ones\n")
        self.stdout.write("| way | later: recall@5 | nDCG@5 | all: recall@5 | nDCG@5 |\n|---|---|---|---|---|")
        for row in rows:
            figures = [*(row.later or (None, None)), *row.all]
            cells = ["–" if figure is None else f"{figure:.3f}" for figure in figures]
            self.stdout.write(f"| {row.way} | {' | '.join(cells)} |")

    def _print_alone(self, questions: list[Question], base: KnowledgeBase) -> None:
        self.stdout.write("| complete questions after others about | language | questions | searched as they stand |")
        self.stdout.write("|---|---|---|---|")
        for row in followups.alone_rows(questions, base.pk):
            self.stdout.write(f"| {row.which} | {row.language} | {row.questions} | {row.share:.3f} |")


def _complete(file: Path) -> list[Question]:
    """Read the answerable questions that are asked first in a chat."""
    try:
        read = list(read_questions(file.read_text(encoding="utf-8").split("\n")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{file}: {error!r}") from None
    return [each for each in read if each.kind == ANSWERABLE and not each.earlier]


def _cases(base: KnowledgeBase, options: dict[str, Any]) -> list[Case]:
    """Read the files. Raises `CorpusError`, also if the base lacks passages."""
    documents = Document.objects.filter(knowledge_base=base).exclude(external_id="")
    ids = {external_id: str(pk) for external_id, pk in documents.values_list("external_id", "pk")}
    read: dict[str, list[QuestionDraft]] = {
        name: corpus.questions(options[name], options["qrels"], set(ids)) if options[name] else []
        for name in ("last", "questions", "rewrites")
    }
    texts = {name: {draft.key: draft.text for draft in drafts} for name, drafts in read.items()}
    relevant = {draft.key: {ids[each.passage]: each.grade for each in draft.relevant} for draft in read["last"]}
    return followups.cases(texts["last"], texts["questions"], texts["rewrites"], relevant)


def _measure(base: KnowledgeBase, cases: list[Case]) -> list[Row]:
    with tqdm(total=len(cases), desc="Asking", unit="question", file=sys.stderr) as bar:
        return async_to_sync(followups.measure)(cases, base.pk, bar.update)

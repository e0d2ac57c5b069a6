"""`manage.py load_corpus CORPUS.jsonl --knowledge-base NAME --user USER [--queries … --qrels … --set NAME]`."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, IntegrityError, transaction
from tqdm import tqdm

from knowledge.management.lookups import base_to_add_to, find_user
from ragsite.llm.errors import LLMError
from retrieval.evaluation import sets
from retrieval.evaluation.loading import corpus
from retrieval.evaluation.loading.corpus import CorpusError
from retrieval.evaluation.models import EvaluationSet
from retrieval.evaluation.sets import SetRefused

_AGAIN = "The passages stored so far are complete. Run the same command again to continue."


class Command(BaseCommand):
    """Loads a benchmark in BEIR's format."""

    help = (
        "Load a corpus in BEIR's format into a knowledge base, one passage per line, and its queries as a question "
        "set. Loading it again adds nothing twice; a passage whose text has changed is replaced."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the files, the base and the user."""
        parser.add_argument("corpus", type=Path, metavar="CORPUS.jsonl", help='lines of {"_id", "title", "text"}')
        parser.add_argument("--knowledge-base", required=True, metavar="NAME", help="created if it doesn't exist")
        parser.add_argument("--user", required=True, metavar="USER", help="user who adds the passages")
        parser.add_argument("--queries", type=Path, metavar="QUERIES.jsonl", help='lines of {"_id", "text"}')
        parser.add_argument(
            "--qrels", type=Path, metavar="QRELS.tsv", help="a header line, then query id, passage id and grade"
        )
        parser.add_argument("--set", metavar="NAME", help="name of the question set (default: the base's name)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Validate the files, then store their content."""
        user = find_user(options["user"])
        if (options["queries"] is None) != (options["qrels"] is None):
            raise CommandError("--queries and --qrels must be used together: the questions and their right passages.")
        if options["set"] is not None and options["queries"] is None:
            raise CommandError("--set requires --queries and --qrels.")
        try:
            known = corpus.passage_ids(options["corpus"])
            drafts = corpus.questions(options["queries"], options["qrels"], known) if options["queries"] else []
        except CorpusError as error:
            raise CommandError(str(error)) from None
        base = base_to_add_to(user, options["knowledge_base"])
        from retrieval.engine.vectors import SpaceChanged
        from retrieval.evaluation.loading.loading import load  # imports NumPy, which errors above needn't wait for

        with tqdm(total=len(known), desc="Loading", unit="passage", file=sys.stderr) as bar:
            try:
                loaded = load(base, user, corpus.passages(options["corpus"]), bar.update)
            except (CorpusError, LLMError) as error:
                raise CommandError(f"{error} {_AGAIN}") from error
            except SpaceChanged:
                raise CommandError(f"The embedding model was switched meanwhile. {_AGAIN}") from None
            except KeyboardInterrupt:
                raise CommandError(f"Interrupted. {_AGAIN}") from None
            except IntegrityError as error:
                raise CommandError(f"Another process is adding passages to {base.name!r}. {_AGAIN}") from error
            except DatabaseError as error:
                raise CommandError(f"Database error: {str(error).strip()}\n{_AGAIN}") from error
        self.stdout.write(f"Passages of {base.name!r}: {loaded.added} added, {loaded.here} already here.")
        if not drafts:
            return
        name = options["set"] or base.name
        try:
            with transaction.atomic():
                stored = EvaluationSet.objects.filter(owner_id=user.pk, knowledge_base=base, name=name).first()
                stored = stored or sets.create_set(user, base, name)
                new = sets.add_questions(stored, drafts)
        except SetRefused as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"Questions of the set {stored.name!r}: {len(drafts)}, of which {new} are new.")

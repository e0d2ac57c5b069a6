"""`manage.py evaluate SET --knowledge-base NAME [--user USER] [--mode …] [--reader …] [--assistant NAME …]`."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from knowledge.management.lookups import base_to_read, find_user
from knowledge.models import KnowledgeBase
from retrieval.evaluation import runs, sets
from retrieval.evaluation.answering import AnswererRefused, answerer
from retrieval.evaluation.metrics import FIGURES
from retrieval.evaluation.models import EvaluationSet
from retrieval.evaluation.options import MODES, RunOptions
from retrieval.evaluation.runs import RunFailed
from retrieval.evaluation.sets import SetRefused
from retrieval.management.commands.reembed import progress_bar
from retrieval.ranking.rerank_options import METHODS
from retrieval.types import AnswerState


class Command(BaseCommand):
    """Runs and scores a question set."""

    help = (
        "Run a question set and print nDCG@10, recall@5, recall@10 and MRR@10, and the number of questions that would "
        "be answered, get only the nearest passages, or nothing. The run is stored with each question's hits, and its "
        "answer if an assistant is asked. A file is stored as a set with its name, so that its runs can be compared."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the set, the base and the search options, which default to the site's settings."""
        parser.add_argument(
            "set", metavar="SET", help="name of a set, or a JSONL file of questions and their right passages"
        )
        parser.add_argument("--knowledge-base", required=True, metavar="NAME")
        parser.add_argument("--user", metavar="USER", help="owner of the set and base, if names are ambiguous")
        parser.add_argument("--mode", choices=MODES, help="default: hybrid")
        parser.add_argument("--reorder", choices=["on", "off"], help="reorder the first hits by their features")
        parser.add_argument(
            "--reader", choices=["on", "off"], help="have the reader read the first hits with the question"
        )
        parser.add_argument("--rerank", choices=METHODS, help="have a model score the first hits")
        parser.add_argument("--vector-weight", type=float, metavar="X", help="weight of vectors relative to words")
        parser.add_argument("--rrf-constant", type=int, metavar="N", help="constant of the reciprocal rank fusion")
        parser.add_argument("--vector-threshold", type=float, metavar="X", help="minimum similarity in meaning")
        parser.add_argument("--bm25-threshold", type=float, metavar="X", help="minimum BM25 score")
        parser.add_argument("--per-document", type=int, metavar="N", help="maximum number of hits per document")
        parser.add_argument(
            "--assistant", metavar="NAME", help="have it answer each question on behalf of the user or the base's owner"
        )
        parser.add_argument("--assistant-version", type=int, metavar="N", help="default: the newest")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the set and print the figures; errors in the arguments are reported in one line."""
        base = base_to_read(options["knowledge_base"], options["user"])
        user = find_user(options["user"]) if options["user"] is not None else None
        given = {name: options[name] for name in RunOptions.__dataclass_fields__ if name in options}
        for name in ("reorder", "reader"):
            given[name] = None if options[name] is None else options[name] == "on"
        asked_by = user or (base.owner if options["assistant"] else None)
        try:
            if options["assistant"]:
                given["assistant"] = answerer().find(asked_by, options["assistant"]).id
            chosen = RunOptions.from_dict(given)
        except (ValueError, AnswererRefused) as error:
            raise CommandError(str(error)) from None
        try:
            chosen_set = _set(options["set"], base, user)
            with progress_bar("Asking", "question") as progress:
                run = runs.run(chosen_set, chosen, asked_by, progress)
        except SetRefused as error:
            raise CommandError(error.message) from None
        except RunFailed as error:
            raise CommandError(str(error)) from None
        for note in run.notes_said:
            self.stderr.write(self.style.WARNING(note))
        self.stdout.write(
            f"{run.evaluation_set.name} on {base.name}, {RunOptions.from_stored(run.settings).label}; "
            f"questions: {run.question_count}"
        )
        for name in FIGURES:
            self.stdout.write(f"{name:<10} {run.figures[name]:.3f}")
        for state in AnswerState.values:
            self.stdout.write(f"{state:<10} {run.answer_states.get(state, 0)}")
        for name, count in run.usage.items():
            self.stdout.write(f"{name} {count}")


def _set(name: str, base: KnowledgeBase, user: AbstractBaseUser | None) -> EvaluationSet:
    """Return a base's set by its name, preferring the user's own.

    If the name is that of a file, return the set with the file's name, after replacing its questions with the file's.
    """
    found = list(EvaluationSet.objects.filter(knowledge_base=base, name=name).select_related("owner"))
    wanted = user.pk if user is not None else base.owner_id
    own = [each for each in found if each.owner_id == wanted]
    path = Path(name)
    if os.path.isfile(path):  # noqa: PTH113 - a set's name may be too long for a path
        owner, kept_as = user or base.owner, path.name[:120]
        try:
            with path.open("rb") as file:
                drafts = sets.parse_questions(file)
            with transaction.atomic():
                known = EvaluationSet.objects.filter(owner_id=owner.pk, knowledge_base=base, name=kept_as).first()
                kept = known or sets.create_set(owner, base, kept_as)
                sets.replace_questions(kept, drafts)
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error.strerror or error}") from None
        except SetRefused as error:
            raise CommandError(f"{path}: {error.message}") from None
        return kept
    if own or len(found) == 1:
        return (own or found)[0]
    if found:
        owners = ", ".join(each.owner.get_username() for each in found)
        raise CommandError(
            f"Several users have a set named {name!r} on {base.name!r}: {owners}. Choose the owner with --user."
        )
    there = ", ".join(base.evaluation_sets.order_by("name").values_list("name", flat=True)[:20])
    kind = "file" if path.suffix else "set"
    raise CommandError(f"There is no {kind} {name!r}. Sets of {base.name!r}: {there or 'none'}.")

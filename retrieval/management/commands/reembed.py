"""`manage.py reembed [--model NAME] [--provider local|openai] [--base-url URL] [--keep-old]`."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from tqdm import tqdm

from ragsite.llm.embedding.embedding import EmbeddingModel, configured
from ragsite.llm.errors import LLMError
from retrieval.engine import reembedding, spaces
from retrieval.engine.partitions import Busy
from retrieval.models import EmbeddingSpace

_AGAIN = "Nothing is lost: search goes on as before, and the same command goes on from here."


class Command(BaseCommand):
    """Changes the embedding model of a running site."""

    help = (
        "Compute the vectors of all passages with another model, beside those in use; then search by the new ones. "
        "Search and ingestion go on meanwhile. Cut off, it goes on where it was when it is run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the model; what is left out comes from the settings, of an endpoint first from its profile in the admin.

        The key comes from where the address does: the profile, or EMBEDDING_API_KEY.
        """
        parser.add_argument("--model", help="its name or folder")
        parser.add_argument(
            "--provider",
            choices=EmbeddingSpace.Provider.values,
            default=settings.EMBEDDING_PROVIDER,
            help="%(default)s",
        )
        parser.add_argument(
            "--base-url", type=url, metavar="URL", help="of an endpoint (that of the admin's profile for embedding)"
        )
        parser.add_argument("--dimension", type=dimension, metavar="N", help="numbers per vector (the model's own)")
        parser.add_argument(
            "--languages", type=languages, metavar="en,zh|all", help="that it knows (what its name tells)"
        )
        parser.add_argument("--keep-old", action="store_true", help="keep the vectors that are no longer searched")

    def handle(self, *args: Any, **options: Any) -> None:
        """Change the model; failures are told with what to do."""
        with told_in_words("Another reembed is running on this database; let it finish.", _AGAIN):
            model = _model(options)
            with progress_bar("Embedding", " passages") as progress:
                space = reembedding.reembed(model, progress, say)
            dropped = [] if options["keep_old"] else reembedding.drop_others()
        self.stdout.write(f"Search uses {space} now.")
        if dropped:
            self.stdout.write(f"Dropped: {', '.join(dropped)}.")
        if settings.EMBEDDING_GIVEN and not space.is_configured and spaces.profile_of(space) is None:
            self.stdout.write(
                f"Set EMBEDDING_PROVIDER={space.provider} and EMBEDDING_MODEL={space.model}, and restart the site, so "
                "that its settings say the same."
            )


@contextmanager
def told_in_words(running: str, again: str) -> Iterator[None]:
    """Raise `CommandError` for what ends a change of model: `running` where another one is under way."""
    try:
        yield
    except LLMError as error:
        raise CommandError(f"{error}\n{again}") from error
    except reembedding.AlreadyRunning:
        raise CommandError(running) from None
    except Busy:
        raise CommandError(f"The tables are too busy to be changed. {again}") from None
    except KeyboardInterrupt:
        raise CommandError(f"Interrupted. {again}") from None
    except DatabaseError as error:
        raise CommandError(f"The database failed: {str(error).strip()}\n{again}") from error


def say(line: str) -> None:
    """Write a line above the progress bar."""
    tqdm.write(line, file=sys.stderr)


@contextmanager
def progress_bar(title: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far something is: what is given takes how much is done, and of how much."""
    with tqdm(desc=title, unit=unit, unit_scale=unit == "B", file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            if bar.total != total:
                bar.reset(total)
                bar.initial = bar.n = bar.last_print_n = done
            bar.update(done - bar.n)

        yield progress


def _model(options: dict[str, Any]) -> EmbeddingModel:
    """Return the model that the options name; what they leave out comes from where the address does.

    Raises `CommandError`, and `LLMError` when a profile's key can't be read.
    """
    if remote := options["provider"] == "openai":
        address = options["base_url"]
        known = EmbeddingModel("openai", "", address or "", settings.EMBEDDING_API_KEY)
        for each in (configured(), spaces.profile()):
            if each is not None and each.provider == "openai" and address in (None, each.base_url):
                known = each
    else:
        known = configured() if configured().provider == "local" else EmbeddingModel("local", "bundled")
    name = options["model"] or known.model
    if remote and not (known.base_url and name):
        raise CommandError(
            "An endpoint takes --base-url and --model, a profile for embedding in the admin, or EMBEDDING_BASE_URL and "
            "EMBEDDING_MODEL."
        )
    model = replace(known, model=name, dimension=options["dimension"], languages=options["languages"])
    if name != known.model:
        return model
    told = known.languages if model.languages is None else model.languages
    return replace(model, dimension=model.dimension or known.dimension, languages=told)


def url(text: str) -> str:
    """Read the address of an endpoint."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ArgumentTypeError(f"{text!r} is no address that starts with http:// or https://.")
    return text.rstrip("/")


def dimension(text: str) -> int:
    """Read how many numbers a vector has."""
    if not text.isdigit() or not 1 <= int(text) <= 4000:
        raise ArgumentTypeError(f"{text!r} is no whole number from 1 to 4000.")
    return int(text)


def languages(text: str) -> tuple[str, ...]:
    """Read which languages a model knows; empty for every one."""
    codes = tuple(code.strip().lower() for code in text.split(","))
    if codes == ("all",):
        return ()
    if unknown := [code for code in codes if code not in ("en", "zh")]:
        raise ArgumentTypeError(f"{unknown[0]!r} is none of en, zh and all.")
    return codes

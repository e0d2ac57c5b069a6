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

_AGAIN = "Search still uses the old vectors, and nothing is lost: run the same command again to continue."


class Command(BaseCommand):
    """Switches the embedding model of a running site."""

    help = (
        "Compute the vectors of all passages with another model, then switch search to them. Search and ingestion "
        "stay available meanwhile. If interrupted, run it again to continue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the model's arguments, which default to the settings; for an endpoint, first to its profile in the admin.

        The key comes from the same place as the address: the profile, or EMBEDDING_API_KEY.
        """
        parser.add_argument("--model", help="name or folder of the model")
        parser.add_argument(
            "--provider",
            choices=EmbeddingSpace.Provider.values,
            default=settings.EMBEDDING_PROVIDER,
            help="default: %(default)s",
        )
        parser.add_argument(
            "--base-url",
            type=url,
            metavar="URL",
            help="URL of an endpoint (default: that of the embedding profile in the admin)",
        )
        parser.add_argument("--dimension", type=dimension, metavar="N", help="dimensions (default: the model's own)")
        parser.add_argument(
            "--languages",
            type=languages,
            metavar="en,zh|all",
            help="languages it knows (default: inferred from its name)",
        )
        parser.add_argument("--keep-old", action="store_true", help="keep the vectors that are no longer searched")

    def handle(self, *args: Any, **options: Any) -> None:
        """Switch the model; errors say what to do."""
        with command_errors("Another reembed is running on this database. Wait until it has finished.", _AGAIN):
            model = _model(options)
            with progress_bar("Embedding", " passages") as progress:
                space = reembedding.reembed(model, progress, say)
            dropped = [] if options["keep_old"] else reembedding.drop_others()
        self.stdout.write(f"Search now uses {space}.")
        if dropped:
            self.stdout.write(f"Deleted: {', '.join(dropped)}.")
        if settings.EMBEDDING_GIVEN and not space.is_configured and spaces.profile_of(space) is None:
            self.stdout.write(
                f"Set EMBEDDING_PROVIDER={space.provider} and EMBEDDING_MODEL={space.model} in the environment to "
                "match, and restart the site."
            )


@contextmanager
def command_errors(running: str, again: str) -> Iterator[None]:
    """Raise errors of a switch of models as `CommandError`; `running` is the message if another one is in progress."""
    try:
        yield
    except LLMError as error:
        raise CommandError(f"{error}\n{again}") from error
    except reembedding.AlreadyRunning:
        raise CommandError(running) from None
    except Busy:
        raise CommandError(f"The database tables are too busy to be changed. {again}") from None
    except KeyboardInterrupt:
        raise CommandError(f"Interrupted. {again}") from None
    except DatabaseError as error:
        raise CommandError(f"Database error: {str(error).strip()}\n{again}") from error


def say(line: str) -> None:
    """Write a line above the progress bar."""
    tqdm.write(line, file=sys.stderr)


@contextmanager
def progress_bar(title: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar; yield a function that takes the amount done and the total."""
    with tqdm(desc=title, unit=unit, unit_scale=unit == "B", file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            if bar.total != total:
                bar.reset(total)
                bar.initial = bar.n = bar.last_print_n = done
            bar.update(done - bar.n)

        yield progress


def _model(options: dict[str, Any]) -> EmbeddingModel:
    """Return the model that the options name; other values default to those of the profile or settings.

    Raises `CommandError`, and `LLMError` if a profile's key can't be read.
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
            "An endpoint needs --base-url and --model, an embedding profile in the admin, or EMBEDDING_BASE_URL and "
            "EMBEDDING_MODEL."
        )
    model = replace(known, model=name, dimension=options["dimension"], languages=options["languages"])
    if name != known.model:
        return model
    spoken = known.languages if model.languages is None else model.languages
    return replace(model, dimension=model.dimension or known.dimension, languages=spoken)


def url(text: str) -> str:
    """Parse the URL of an endpoint."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ArgumentTypeError(f"{text!r} is not a URL that starts with http:// or https://.")
    return text.rstrip("/")


def dimension(text: str) -> int:
    """Parse the number of dimensions."""
    if not text.isdigit() or not 1 <= int(text) <= 4000:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1 to 4000.")
    return int(text)


def languages(text: str) -> tuple[str, ...]:
    """Parse the languages that a model knows; empty for every language."""
    codes = tuple(code.strip().lower() for code in text.split(","))
    if codes == ("all",):
        return ()
    if unknown := [code for code in codes if code not in ("en", "zh")]:
        raise ArgumentTypeError(f"{unknown[0]!r} is not one of en, zh and all.")
    return codes

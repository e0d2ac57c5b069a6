"""`manage.py bench search|recall|ingest|contention|passages|parsing …`: measurements in separate databases."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tests.benchmarks.knowledge import parsing, tables
from tests.benchmarks.retrieval import contention, ingesting, passages, recall, searching
from tests.benchmarks.retrieval.baselines import ALL
from tests.benchmarks.retrieval.passages import NoTexts
from tests.benchmarks.retrieval.scratch import NoDatabase


class Command(BaseCommand):
    """Each subcommand prints tables in Markdown."""

    help = "Measure search and ingestion in separate databases beside the site's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the measurements and their arguments."""
        commands = parser.add_subparsers(dest="what", required=True)
        self._add_search(commands.add_parser("search", help="compare our search with others on the same chunks"))
        self._add_recall(commands.add_parser("recall", help="measure the recall of the vector index with filters"))
        self._add_ingest(
            commands.add_parser("ingest", help="compare ingestion with the bare embedder, and measure its memory")
        )
        self._add_contention(commands.add_parser("contention", help="measure workers that index in parallel"))
        self._add_passages(
            commands.add_parser("passages", help="write passages as JSON lines, so that runs needn't parse")
        )
        self._add_parsing(
            commands.add_parser("parsing", help="compare our reading of PDFs with pdftotext and pdfplumber")
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure. Raises `CommandError` if texts or a database aren't available."""
        try:
            getattr(self, f"_{options['what']}")(options)
        except (NoTexts, NoDatabase, parsing.NoFiles, OSError) as error:
            raise CommandError(str(error)) from error

    def _add_search(self, parser: ArgumentParser) -> None:
        _add_texts(parser)
        parser.add_argument(
            "--chunks", type=_sizes, default=[10_000], metavar="N,N…", help="numbers of chunks (default: 10000)"
        )
        parser.add_argument(
            "--ways", type=_ways, default=list(ALL), metavar="NAME,…", help=f"ways to search (default: {','.join(ALL)})"
        )
        parser.add_argument(
            "--samples", type=int, default=150, help="queries sampled from passages (default: %(default)s)"
        )
        parser.add_argument("--rounds", type=int, default=3, help="times each query is asked (default: %(default)s)")
        parser.add_argument(
            "--embed",
            type=int,
            default=20_000,
            help="passages whose vectors are computed; the rest are drawn at random (default: %(default)s)",
        )
        parser.add_argument("--keep", action="store_true", help="keep the databases for the next run")
        parser.add_argument(
            "--questions", type=int, default=300, help="maximum of the public set (default: %(default)s)"
        )
        for name in ("corpus", "queries", "qrels"):
            parser.add_argument(f"--{name}", type=Path, help="file of a public set in BEIR's format, for nDCG@10")

    def _add_recall(self, parser: ArgumentParser) -> None:
        _add_texts(parser)
        parser.add_argument("--vectors", type=int, default=100_000, help="number of vectors (default: %(default)s)")
        parser.add_argument(
            "--embed",
            type=int,
            default=20_000,
            help="sentences whose vectors are computed; the rest are drawn at random (default: %(default)s)",
        )
        parser.add_argument("--samples", type=int, default=200, help="number of questions (default: %(default)s)")
        parser.add_argument(
            "--depth", type=int, default=50, help="hits requested; the first 10 count (default: %(default)s)"
        )

    def _add_ingest(self, parser: ArgumentParser) -> None:
        _add_texts(parser)
        parser.add_argument(
            "--files", type=int, default=500, help="files to ingest, chosen at random (default: %(default)s)"
        )
        parser.add_argument("--pdf", type=Path, help="a PDF whose parsing is timed")

    def _add_contention(self, parser: ArgumentParser) -> None:
        _add_texts(parser)
        parser.add_argument("--passages", type=int, default=10_000, help="passages to index (default: %(default)s)")

    def _add_passages(self, parser: ArgumentParser) -> None:
        _add_texts(parser)
        parser.add_argument(
            "--limit", type=int, default=100_000, help="maximum number of passages (default: %(default)s)"
        )
        parser.add_argument("--output", type=Path, required=True, metavar="FILE.jsonl")

    def _add_parsing(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder",
            type=Path,
            help="folder of PDFs, whose tables are compared with twins in other formats, or of labelled tables",
        )
        parser.add_argument("--pages", type=int, default=40, help="maximum pages per file (default: %(default)s)")
        parser.add_argument("--alone", action="store_true", help="leave out pdfplumber, which takes longest")

    def _parsing(self, options: dict[str, Any]) -> None:
        if (options["folder"] / tables.LABELS).is_file():
            tables.run(options["folder"], self.stdout.write)
            return
        parsing.run(options["folder"], options["pages"], self.stdout.write, plumber=not options["alone"])

    def _search(self, options: dict[str, Any]) -> None:
        judged = (options["corpus"], options["queries"], options["qrels"])
        if any(judged) and not all(judged):
            raise CommandError("A public set needs --corpus, --queries and --qrels.")
        wanted = searching.Options(
            sizes=options["chunks"],
            texts=options["texts"],
            ways=options["ways"],
            queries=options["samples"],
            embed=options["embed"],
            rounds=options["rounds"],
            questions=options["questions"],
            keep=options["keep"],
            judged=judged if all(judged) else None,
        )
        searching.run(wanted, self.stdout.write)

    def _ingest(self, options: dict[str, Any]) -> None:
        ingesting.run(options["texts"], options["files"], self.stdout.write, options["pdf"])

    def _contention(self, options: dict[str, Any]) -> None:
        contention.run(options["texts"], options["passages"], self.stdout.write)

    def _recall(self, options: dict[str, Any]) -> None:
        wanted = recall.Options(
            texts=options["texts"],
            size=options["vectors"],
            embed=options["embed"],
            queries=options["samples"],
            depth=options["depth"],
        )
        recall.run(wanted, self.stdout.write)

    def _passages(self, options: dict[str, Any]) -> None:
        found = passages.read(options["texts"], options["limit"])
        passages.write(found, options["output"])
        self.stdout.write(f"{len(found)} passages written to {options['output']}.")


def _add_texts(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--texts",
        type=Path,
        nargs="+",
        required=True,
        metavar="PATH",
        help="folders of documents, or JSON lines of passages",
    )


def _sizes(text: str) -> list[int]:
    try:
        sizes = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of numbers such as 10000,100000.") from None
    if sizes[0] < 100:
        raise ArgumentTypeError("Use at least 100 chunks; fewer say nothing.")
    return sizes


def _ways(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in ALL]
    if unknown:
        raise ArgumentTypeError(f"{unknown[0]!r} is unknown; choose from {', '.join(ALL)}.")
    return names

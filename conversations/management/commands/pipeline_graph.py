"""`manage.py pipeline_graph [--output FILE]`: the pipeline as a Mermaid flow chart."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.pipeline.drawing import mermaid
from conversations.pipeline.graph import Graph


class Command(BaseCommand):
    """Writes the default pipeline of the settings as a flow chart."""

    help = "Write the default pipeline of the settings as a Mermaid flow chart."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the option for the output file."""
        parser.add_argument("--output", type=Path, help="file to write to; without it, the chart is printed")

    def handle(self, *args: Any, output: Path | None = None, **options: Any) -> None:
        """Write the chart; raises `CommandError` if the file can't be written."""
        chart = mermaid(Graph.from_settings())
        if output is None:
            self.stdout.write(chart, ending="")
            return
        try:
            output.write_text(chart, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{output} can't be written: {error.strerror}.") from None
        self.stdout.write(f"Wrote {output}.")

"""Prints every environment variable of the site, in Markdown: what `docs/settings.md` holds."""

from typing import Any

from django.core.management.base import BaseCommand, no_translations

from ragsite import env

_INTRODUCTION = """# Settings

Environment variables, read once at start. A value that makes no sense stops the start and is named. Those marked *any
time* administrators also change while the site runs, in the administration under *Settings*, unless the variable is
set; those marked *assistant* each assistant may have its own way as well. They count from the next question on.

<!-- Made from ragsite/options.py by `make docs`. -->
"""

_CHANGES = {"": "at a start", "site": "any time", "assistant": "any time, assistant"}


class Command(BaseCommand):
    """`list_settings`."""

    help = "Prints every environment variable with its default, its bounds and what it does, in Markdown."
    requires_system_checks: list[str] = []

    @no_translations
    def handle(self, *args: Any, **options: Any) -> None:
        """Print the page."""
        page = _INTRODUCTION
        for section, rows in env.rows():
            table = ["| variable | default | bounds | changes | meaning |", "|---|---|---|---|---|", *map(_row, rows)]
            parts = (f"## {section.title}", section.before, "\n".join(table), section.after)
            page += "\n" + "\n\n".join(filter(None, parts)) + "\n"
        self.stdout.write(page, ending="")


def _row(row: list[env.Option]) -> str:
    names = ", ".join(f"`{option.name}`" for option in row)
    defaults = ", ".join(filter(None, map(_default, row)))
    bounds = ", ".join(filter(None, (option.range for option in row)))
    return f"| {names} | {defaults} | {bounds} | {_CHANGES[row[0].live]} | {row[0].help} |"


def _default(option: env.Option) -> str:
    if option.unset or option.default in (None, "", ()):
        return str(option.unset)
    return f"`{env.written(option.default)}`"

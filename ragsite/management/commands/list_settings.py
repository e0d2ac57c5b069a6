"""Print the site's environment variables in Markdown, for `docs/settings.md`."""

from typing import Any

from django.core.management.base import BaseCommand, no_translations

from ragsite import env

_INTRODUCTION = """# Settings

Environment variables are read once at start; an invalid value prevents the site from starting and is reported. Settings
marked *any time* can also be changed while the site runs, in the administration under *Settings*, unless the variable
is set. Those marked *assistant* can also be set for each assistant. Changes apply from the next question.

<!-- Generated from ragsite/options.py by `make docs`. -->
"""

_CHANGES = {"": "on restart", "site": "any time", "assistant": "any time, assistant"}


class Command(BaseCommand):
    """`list_settings`."""

    help = "Print every environment variable with its default, bounds and meaning, in Markdown."
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

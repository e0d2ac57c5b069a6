#!/usr/bin/env python
"""Run Ragsite's management commands."""

import os
import sys


def main() -> None:
    """Hand the command line to Django; `--data-dir DIR` works for every command."""
    arguments = list(sys.argv)
    if "--data-dir" in arguments[:-1]:
        position = arguments.index("--data-dir")
        os.environ["RAGSITE_DATA_DIR"] = arguments[position + 1]
        del arguments[position : position + 2]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(arguments)


if __name__ == "__main__":
    main()

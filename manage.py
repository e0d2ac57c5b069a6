#!/usr/bin/env python
"""Run Ragsite's management commands."""

import gc
import os
import signal
import sys
from pathlib import Path
from types import FrameType


def main() -> None:
    """Hand the command line to Django; `--data-dir DIR` works for every command."""
    _end_in_order()
    arguments = _take_data_folder(sys.argv)
    benchmarks = "".join(arguments[1:2]).startswith("bench")  # which are no part of the site
    settings = "tests.benchmarks.settings" if benchmarks else "ragsite.settings"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings)
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        gc.disable()  # what is loaded stays: looking through it for garbage takes a seventh of the time
        django.setup()
        gc.enable()
        execute_from_command_line(arguments)
    except ImproperlyConfigured as error:
        if "--traceback" in arguments:
            raise
        sys.exit(f"Error: {error}")
    finally:
        signal.alarm(0)


def _end_in_order() -> None:
    """Have a command that is asked to stop end what it has started, first of all the embedded database.

    By default these signals end a process with nothing tidied up. Commands that serve put handlers of their own here.
    """

    def end(number: int, frame: FrameType | None) -> None:
        signal.alarm(10)  # seconds; again then, if this was raised in a finalizer, which swallows it
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        if signal.getsignal(number) == signal.SIG_DFL:  # under nohup the end of the terminal is not the command's
            signal.signal(number, end)


def _take_data_folder(arguments: list[str]) -> list[str]:
    """Return the arguments without `--data-dir`, whose value goes to the settings by the environment."""
    kept = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name != "--data-dir":
            kept.append(argument)
            continue
        folder = value if equals else next(rest, "")
        if not folder:
            sys.exit("Error: --data-dir takes a folder.")
        os.environ["RAGSITE_DATA_DIR"] = str(Path(folder).expanduser().absolute())
    return kept


if __name__ == "__main__":
    main()

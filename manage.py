#!/usr/bin/env python
"""Run Ragsite's management commands."""

import gc
import os
import signal
import sys
from pathlib import Path
from types import FrameType


def main() -> None:
    """Pass the command line to Django; `--data-dir DIR` works for every command."""
    _end_cleanly()
    arguments = _take_data_folder(sys.argv)
    benchmarks = "".join(arguments[1:2]).startswith("bench")  # these commands aren't part of the site
    settings = "tests.benchmarks.settings" if benchmarks else "ragsite.settings"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings)
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        gc.disable()  # loaded objects stay: looking for garbage among them takes a seventh of the time
        django.setup()
        gc.enable()
        execute_from_command_line(arguments)
    except ImproperlyConfigured as error:
        if "--traceback" in arguments:
            raise
        sys.exit(f"Error: {error}")
    finally:
        signal.alarm(0)


def _end_cleanly() -> None:
    """Let a command that is asked to stop clean up, and above all stop the embedded database.

    By default these signals kill a process without any clean-up. Server commands install handlers of their own.
    """

    def end(number: int, frame: FrameType | None) -> None:
        signal.alarm(10)  # try again after 10 seconds, in case this exits in a finalizer, which ignores it
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        if signal.getsignal(number) == signal.SIG_DFL:  # under nohup, SIGHUP stays ignored
            signal.signal(number, end)


def _take_data_folder(arguments: list[str]) -> list[str]:
    """Return the arguments without `--data-dir`, whose value is passed to the settings in the environment."""
    kept = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name != "--data-dir":
            kept.append(argument)
            continue
        folder = value if equals else next(rest, "")
        if not folder:
            sys.exit("Error: --data-dir needs a folder.")
        os.environ["RAGSITE_DATA_DIR"] = str(Path(folder).expanduser().absolute())
    return kept


if __name__ == "__main__":
    main()

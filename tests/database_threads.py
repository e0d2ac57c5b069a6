"""Shut down the threads of `ragsite.db`, so that a database can be dropped or connections can be counted."""

import threading

from django.conf import settings
from django.db import connections

from ragsite import db


def shut_down() -> None:
    """Close the threads' connections and end the threads; the next call starts new ones."""
    if db._executor is None:
        return
    together = threading.Barrier(settings.DATABASE_THREADS)  # so that each thread runs exactly one of them

    def close() -> None:
        together.wait()
        connections.close_all()

    for _thread in range(settings.DATABASE_THREADS):
        db._executor.submit(close)
    db._executor.shutdown(wait=True)
    db._executor = None

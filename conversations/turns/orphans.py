"""Ends answers whose process has died, even if no client reads them: every web process watches all answers."""

import logging
import threading
import time
from datetime import datetime

from django.db import Error, connection

from conversations import turn_store
from conversations.models import Message
from conversations.turns import broker

logger = logging.getLogger(__name__)

# Seconds between two checks.
INTERVAL = 5.0
# Consecutive checks that must see the same heartbeat before the answer is ended, 20 to 25 seconds after its process
# died. Live listeners, which may have more events than are stored, act earlier. A live heartbeat changes every 4 s.
LOOKS = 5


class Watch:
    """The heartbeats of answers that other processes write, remembered from check to check.

    Heartbeats are compared with earlier ones rather than with the clock, because the clocks of machines may differ and
    every heartbeat is old after a database outage.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[datetime | None, int]] = {}

    def look(self) -> int:
        """Check once, end the answers whose heartbeat has not changed for `LOOKS` checks, and return their number."""
        try:
            streaming = Message.objects.filter(status=Message.Status.STREAMING).exclude(pk__in=list(broker.running))
            before, self._seen = self._seen, {}
            for message_id, beat in streaming.values_list("pk", "heartbeat_at"):
                known, looks = before.get(message_id, (beat, 0))
                self._seen[message_id] = (beat, looks + 1 if known == beat else 1)
            dead = {message_id: beat for message_id, (beat, looks) in self._seen.items() if looks >= LOOKS}
            found = Message.objects.filter(pk__in=dead) if dead else ()
            return sum(turn_store.interrupt(message) for message in found if message.heartbeat_at == dead[message.pk])
        except Error:
            self._seen.clear()  # the database is away, also for the processes that write answers
            return 0


def keep_watch() -> None:
    """Check every `INTERVAL` seconds, as long as the process lives."""
    watch = Watch()
    while True:
        time.sleep(INTERVAL)
        try:
            if ended := watch.look():
                logger.warning("Ended %d answers whose process has died", ended)
        except Exception:
            logger.exception("Looking for answers whose process has died failed")
        finally:
            connection.close()


def start() -> None:
    """Start watching in a thread of its own."""
    threading.Thread(target=keep_watch, name="orphans", daemon=True).start()

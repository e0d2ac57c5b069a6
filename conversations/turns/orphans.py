"""Ending answers whose process has died, though nobody opens them: every web process keeps watch over all."""

import logging
import threading
import time
from datetime import datetime

from django.db import Error, connection

from conversations import turn_store
from conversations.models import Message
from conversations.turns import broker

logger = logging.getLogger(__name__)

# Seconds between two looks.
INTERVAL = 5.0
# Looks in a row at which the same heartbeat is seen before the answer is ended: 20 to 25 seconds after its death, so
# that who listened to it live, and has more of it than is stored, comes first. A live answer's beats every 4 seconds.
LOOKS = 5


class Watch:
    """What was seen of the answers that other processes write, from look to look.

    It compares heartbeats with themselves and not with the clock: machines may differ in their time, and after the
    database was away all hearts have stood still for a while.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[datetime | None, int]] = {}

    def look(self) -> int:
        """Look once, end what has not moved for `LOOKS` looks, and return how many answers were ended."""
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
            self._seen.clear()  # the database is away, for those who write as well
            return 0


def keep_watch() -> None:
    """Look every `INTERVAL` seconds, as long as the process lives."""
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
    """Keep watch beside everything else that the process does."""
    threading.Thread(target=keep_watch, name="orphans", daemon=True).start()

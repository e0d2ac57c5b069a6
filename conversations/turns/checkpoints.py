"""Checkpoints: the state of running answers, stored in one statement for all answers of a tick.

Each answer is stored about once a second; the overhead of a separate statement would exceed the cost of its row.
"""

import asyncio
import json
from weakref import WeakKeyDictionary

from django.db import DatabaseError, connection
from django.utils import timezone

from conversations.events import Answer, Event, plain_text
from ragsite.db import in_database, is_away

# Seconds between the ticks at which checkpoints are taken; all answers of an event loop share them.
TICK_SECONDS = 0.2

# SQL, because `bulk_update` can neither append to a log nor return which answers it updated.
_SAVE = """
UPDATE conversations_message AS message
SET blocks = new.blocks, content = new.content, thinking = new.thinking, answer_state = new.answer_state,
    last_seq = new.last_seq, heartbeat_at = %s, stream_log = message.stream_log || new.events
FROM jsonb_to_recordset(%s::jsonb) AS new (
    id bigint, blocks jsonb, content text, thinking text, answer_state text, last_seq integer, events jsonb
)
WHERE message.id = new.id AND message.status = 'streaming'
RETURNING message.id
"""


async def next_tick() -> None:
    """Wait until the next tick at which checkpoints are taken."""
    await asyncio.sleep(TICK_SECONDS - asyncio.get_running_loop().time() % TICK_SECONDS)


async def save(message_id: int, answer: Answer, new_events: list[Event]) -> bool:
    """Store the current state of an answer and its heartbeat; return False if it is no longer streaming.

    Raises `DatabaseError` if it can't be stored, or if the database is away, see `ragsite.db.is_away`.
    """
    row = {
        "id": message_id,
        "blocks": answer.blocks,
        "content": plain_text(answer.blocks),
        "thinking": answer.thinking,
        "answer_state": answer.answer_state,
        "last_seq": answer.last_seq,
        "events": [event.to_dict() for event in new_events],
    }
    loop = asyncio.get_running_loop()
    batch = _batches.get(loop)
    if batch is None:
        batch = _batches[loop] = _Batch()
    text = json.dumps(row)  # now, because the answer goes on changing
    batch.rows.append(text)
    try:
        return message_id in await asyncio.shield(batch.stored)
    except DatabaseError as error:
        if is_away(error) or len(batch.rows) == 1:
            raise
    return message_id in await in_database(_store, [text])  # alone: another row of the batch may have failed


class _Batch:
    """The rows saved during one iteration of the event loop."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.stored = asyncio.create_task(self._store())

    async def _store(self) -> set[int]:
        del _batches[asyncio.get_running_loop()]  # later rows go into the next batch
        return await in_database(_store, self.rows)


_batches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Batch] = WeakKeyDictionary()


def _store(rows: list[str]) -> set[int]:
    """Store rows, each given as JSON; return the ids of those that were still streaming."""
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, [timezone.now(), f"[{','.join(rows)}]"])
        return {stored for (stored,) in cursor.fetchall()}

"""Checkpoints: answers that are being written, stored as they stand; those of one moment in one statement.

Of many that are written at once each has one a second, and a statement of its own costs more than what it stores.
"""

import asyncio
import json
from weakref import WeakKeyDictionary

from django.db import DatabaseError, connection
from django.utils import timezone

from conversations.events import Answer, Event, plain_text
from ragsite.db import in_database, is_away

# Seconds between the moments at which checkpoints are taken, which are the same for all answers of an event loop.
BEAT = 0.2

# In SQL, as `bulk_update` can neither append to a log, nor say which answers it has met.
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


async def moment() -> None:
    """Wait until the next moment at which checkpoints are taken."""
    await asyncio.sleep(BEAT - asyncio.get_running_loop().time() % BEAT)


async def save(message_id: int, answer: Answer, new_events: list[Event]) -> bool:
    """Store an answer as it stands, with its heartbeat; False when it is no longer streaming.

    Raises a `DatabaseError` when it can't be stored as it is, or not now; `ragsite.db.is_away` tells.
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
    text = json.dumps(row)  # here, as the answer goes on meanwhile
    batch.rows.append(text)
    try:
        return message_id in await asyncio.shield(batch.stored)
    except DatabaseError as error:
        if is_away(error) or len(batch.rows) == 1:
            raise
    return message_id in await in_database(_store, [text])  # alone: it may be another that can't be stored


class _Batch:
    """What is saved in one turn of the event loop."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.stored = asyncio.create_task(self._store())

    async def _store(self) -> set[int]:
        del _batches[asyncio.get_running_loop()]  # who comes from now on is of the next
        return await in_database(_store, self.rows)


_batches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Batch] = WeakKeyDictionary()


def _store(rows: list[str]) -> set[int]:
    """Store rows, each as JSON; return the ids of those that were still streaming."""
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, [timezone.now(), f"[{','.join(rows)}]"])
        return {stored for (stored,) in cursor.fetchall()}

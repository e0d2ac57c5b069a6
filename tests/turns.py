"""Wait for the turns that a test starts."""

import asyncio

from conversations.turns import lifecycle


async def wait_for_all() -> None:
    """Wait until every turn of this process has ended, including the work after it."""
    for runner in list(lifecycle._runners):
        await runner.wait()
    if lifecycle._afterwards:
        await asyncio.wait(lifecycle._afterwards)

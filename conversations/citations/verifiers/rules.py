"""Judging citations by rules, without a model."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile

from conversations.citations.verdict import Verdict, check
from conversations.citations.verifiers import Verified, Written

# The most seconds for an answer, far more than one of usual length takes.
SECONDS = 10.0
# Answers are checked one at a time: more threads would slow down the thread that streams answers.
_thread = ThreadPoolExecutor(1, thread_name_prefix="check")


class Rules:
    """The default: compares numbers, names, quotations, polarity and words, deterministically and in milliseconds."""

    async def verify(self, written: Written) -> Verified:
        """Judge every sentence; raises `TimeoutError` if that takes too long."""
        return Verified(await self.by_rules(written), {})

    async def by_rules(self, written: Written) -> list[Verdict]:
        """Return the verdicts of the rules."""
        given_up = threading.Event()  # cancelling the wait doesn't end the thread

        def judge() -> list[Verdict]:
            found = (verdict for text in written.texts for verdict in check(text, written.passages, written.known))
            return list(takewhile(lambda _verdict: not given_up.is_set(), found))

        try:
            async with asyncio.timeout(SECONDS):
                return await asyncio.get_running_loop().run_in_executor(_thread, judge)
        finally:
            given_up.set()

"""After the answer: each cited sentence is held against its passages, without a model."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.citations import check
from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from retrieval.search import Hit

# One answer is checked after the other: several threads would take turns with the one that streams the others.
_thread = ThreadPoolExecutor(1, thread_name_prefix="check")


class Check(Node):
    """Checks the citations. It runs also after a failure or a stop, for what came."""

    key = "check"
    title = gettext_lazy("Check the citations")
    timeout = 10.0
    on_error = "skip"
    always = True
    reads = ("answer.blocks", "prompt.cited", "prompt.evidence")
    writes = ("answer.checks",)

    def wanted(self, state: State) -> bool:
        """Something must be cited."""
        return bool(state.prompt.cited and state.answer.blocks)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `checks`, in the order in which the markers stand in the answer."""
        passages = {number: _passage(hit) for number, hit in enumerate(state.prompt.evidence, 1)}
        given_up = threading.Event()  # a thread doesn't end with who waits for it
        try:
            loop = asyncio.get_running_loop()
            state.answer.checks = await loop.run_in_executor(_thread, _check, state.answer.blocks, passages, given_up)
        finally:
            given_up.set()
        ctx.note(checks=state.answer.checks)

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Count the sentences that their sources bear out."""
        supported = sum(item["status"] == "supported" for item in state.answer.checks)
        total = len(state.answer.checks)
        text = ngettext(
            "%(supported)d of %(total)d cited sentence supported",
            "%(supported)d of %(total)d cited sentences supported",
            total,
        )
        return text % {"supported": supported, "total": total}

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Count the sentences that their sources bear out."""
        checks = detail.get("checks", [])
        supported = sum(check.get("status") == "supported" for check in checks)
        words = _("%(supported)d of %(total)d sentences with sources") % {"supported": supported, "total": len(checks)}
        return Description([(_("Supported"), words)])


def _passage(hit: Hit) -> str:
    return "\n".join(part for part in (hit.filename, hit.heading, hit.content) if part)


def _check(blocks: list[dict[str, Any]], passages: dict[int, str], given_up: threading.Event) -> list[dict[str, Any]]:
    verdicts = (verdict.to_dict() for text in _texts(blocks) for verdict in check(text, passages))
    return list(takewhile(lambda _verdict: not given_up.is_set(), verdicts))


def _texts(blocks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what may carry markers, in the order of the page: running text, and tables row by row."""
    for block in blocks:
        if block["kind"] == "table":
            yield from (" | ".join(map(str, row)) for row in [block["columns"], *block["rows"]])
        elif block["kind"] == "text":
            yield block["text"]

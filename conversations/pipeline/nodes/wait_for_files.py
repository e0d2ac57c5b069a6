"""Waits until the files that were added to the chat can be searched."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.files.chat_files import reading_of
from conversations.pipeline.description import Description
from conversations.pipeline.graph import Context, Node, elapsed
from conversations.pipeline.node_run import step_event
from conversations.pipeline.state import State
from conversations.pipeline.writing.blocks import BlockWriter, escape_markdown
from conversations.pipeline.writing.extractive_answer import reply_language
from ragsite.db import in_database
from ragsite.language.sentences import join_sentences
from ragsite.site_settings.config import config

# Seconds between two checks of the files' progress.
PACE = 0.3


class WaitForFiles(Node):
    """Delays a question until the chat's files can be searched, for at most `FILE_WAIT_SECONDS`.

    Files that can't be searched by then are named at the top of the answer.
    """

    key = "wait_for_files"
    title = gettext_lazy("Read the files of this chat")
    timeout = None  # `FILE_WAIT_SECONDS` limits it
    on_error = "skip"
    reports = ("wait_for_files",)
    after = ("save_question",)
    reads = ("started",)
    writes = ("answer.blocks", "found.unread_files")

    def wanted(self, state: State) -> bool:
        """Return whether the chat has files, and the site's answers use documents at all."""
        return state.request.files_id is not None and config.ANSWER_MODE != "chat"

    async def run(self, state: State, ctx: Context) -> None:
        """Wait, and name the files that can't be searched."""
        assert state.request.files_id is not None and state.started is not None
        began, step, shown = time.perf_counter(), replace(step_event(self, "processing"), step=1), ""
        reading = await in_database(reading_of, state.request.files_id, state.started.turn_id)
        while reading.unread and time.perf_counter() - began < config.FILE_WAIT_SECONDS:
            name, percent = reading.unread[0]
            others = f" · +{len(reading.unread) - 1}" if len(reading.unread) > 1 else ""
            message = _("Reading “%(name)s” · %(percent)d%%") % {"name": name, "percent": percent} + others
            if message != shown:
                await ctx.emit(replace(step, message=message))
                shown = message
            await asyncio.sleep(PACE)
            reading = await in_database(reading_of, state.request.files_id, state.started.turn_id)
        unread = [name for name, _percent in reading.unread]
        if shown:
            ms = elapsed(began)
            await ctx.emit(replace(step, status="completed", message=_not_ready(unread, reading.failed), ms=ms))
        ctx.note(waited=bool(shown), unread=unread, failed=list(reading.failed))
        if unread or reading.failed:
            writer = BlockWriter(state, ctx.emit)
            with translation.override(reply_language(state)):
                state.found.unread_files = "*" + escape_markdown(_not_ready(unread, reading.failed)) + "*"
            await writer.block(state.found.unread_files)

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """List the files that were not searched."""
        description = Description()
        description.add(_("Not read in time"), ", ".join(detail.get("unread", ())))
        description.add(_("Can't be read"), ", ".join(detail.get("failed", ())))
        if detail.get("waited") and not description.facts:
            description.facts.append((_("Waited for"), _("the files of this chat")))
        return description


def _not_ready(unread: Sequence[str], failed: Sequence[str]) -> str:
    """Return a note on the files that an answer does not cover, or an empty string if it covers all."""
    sentences = []
    for names, words in (
        (unread, ngettext("%(names)s was still being read and was not searched.",
                          "%(names)s were still being read and were not searched.", len(unread))),
        (failed, ngettext("%(names)s could not be read and was not searched.",
                          "%(names)s could not be read and were not searched.", len(failed))),
    ):  # fmt: skip
        if names:
            sentences.append(words % {"names": _(", ").join(_("“%(name)s”") % {"name": name} for name in names)})
    return join_sentences(*sentences)

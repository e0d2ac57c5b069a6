"""The relevance filter: a model judges each hit for whether it directly answers the question."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.pipeline.description import REASONS, Description, Passage, PassageList, reason
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.node_run import step_event
from conversations.pipeline.state import State
from conversations.prompts import side_calls
from conversations.prompts.no_reply import NoReply
from conversations.prompts.passages import fenced
from ragsite.llm.passage_tokens import truncate_to_tokens
from ragsite.llm.stream.json_reply import line, objects, truth
from ragsite.site_settings.config import config
from retrieval.search import Hit

# The most tokens of a passage that the model is shown.
PASSAGE_TOKENS = 1500


@dataclass(frozen=True, slots=True)
class PassageVerdict:
    """A model's verdict on a hit. `keep` is None if the reply was unusable, and `reason` then says why."""

    keep: bool | None
    key_passage: str = ""
    reason: str = ""


class Filter(Node):
    """Keeps the hits that directly answer the question, and those that could not be judged.

    If none is left, the turn continues like one without hits.
    """

    key = "filter"
    step = 6
    title = gettext_lazy("Judge each passage")
    timeout = None  # `FILTER_TIMEOUT` limits it; hits not judged by then are kept
    on_error = "skip"
    reads = ("found.hits",)
    may_read = ("plan.ranking_query",)
    writes = ("found.hits", "found.key_passages", "found.reasons", "found.answer_state")

    def wanted(self, state: State) -> bool:
        """Return whether the filter is requested or switched on, and there are hits."""
        asked = config.ENABLE_FILTER if state.request.use_filter is None else state.request.use_filter
        return asked and bool(state.found.hits)

    async def run(self, state: State, ctx: Context) -> None:
        """Remove the hits that don't answer from `hits`, and fill `key_passages` and `reasons`."""
        judged = state.found.hits[: config.FILTER_INPUT_TOP_N]
        try:
            verdicts = await self._judge(state, judged, ctx)
        except NoReply as none:
            ctx.note(note=none.reason, note_detail=none.detail)
            return
        pairs = list(zip(judged, verdicts, strict=True))
        state.found.hits = [hit for hit, verdict in pairs if verdict.keep is not False]
        if not state.found.hits:
            state.found.answer_state = "nothing"
        state.found.key_passages = {hit.chunk_id: verdict.key_passage for hit, verdict in pairs if verdict.key_passage}
        state.found.reasons = {hit.chunk_id: verdict.reason for hit, verdict in pairs if verdict.keep}
        ctx.note(judged=[
                {"chunk_id": hit.chunk_id, "score": round(hit.score, 5), "keep": verdict.keep,
                 "key_passage": verdict.key_passage, "reason": verdict.reason}
                for hit, verdict in pairs
            ],
        )  # fmt: skip

    async def _judge(self, state: State, hits: list[Hit], ctx: Context) -> list[PassageVerdict]:
        """Return a verdict on each hit. They are judged concurrently, all within `FILTER_TIMEOUT`."""
        question = side_calls.quoted(state.plan.ranking_query or state.request.question)
        verdicts = [PassageVerdict(None, reason="timed out")] * len(hits)
        places = asyncio.Semaphore(config.FILTER_CONCURRENCY)
        done = 0

        async def judge(position: int, model: side_calls.SideModel) -> None:
            nonlocal done
            async with places:
                hit = hits[position]
                passage = fenced(1, truncate_to_tokens(hit.content, PASSAGE_TOKENS), hit.filename)
                try:
                    answered = await model.ask(question=question, evidence=passage)
                except NoReply as none:
                    verdicts[position] = PassageVerdict(None, reason=none.reason)
                else:
                    verdicts[position] = read_verdict(answered.text, hit.content)
            done += 1
            progress = _("%(done)d of %(total)d passages judged") % {"done": done, "total": len(hits)}
            await ctx.emit(step_event(self, "processing", progress))

        # If the model gives no sign of life in half the time, the remaining hits needn't be sent to it.
        async with side_calls.model_for("filter", state.request.question_language, config.FILTER_TIMEOUT / 2) as model:
            ctx.note(model=model.model)
            try:
                async with asyncio.timeout(config.FILTER_TIMEOUT), asyncio.TaskGroup() as group:
                    for position in range(len(hits)):
                        group.create_task(judge(position, model))
            except TimeoutError:
                ctx.note(note="timed out")
        return verdicts

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return how many hits answer and how many could not be judged, or that none was judged."""
        if "judged" not in detail:
            return _("not judged")
        verdicts = [item["keep"] for item in detail["judged"]]
        words = ngettext(
            "%(answering)d of %(count)d passage answers directly",
            "%(answering)d of %(count)d passages answer directly",
            len(verdicts),
        ) % {"answering": verdicts.count(True), "count": len(verdicts)}
        unjudged = _("%(count)d not judged") % {"count": verdicts.count(None)}
        return f"{words} · {unjudged}" if None in verdicts else words

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe which model judged, why there are no verdicts, and the verdict on each passage."""
        description = Description()
        description.add(_("Model"), detail.get("model"))
        description.add(_("Note"), reason(detail.get("note", ""), detail.get("note_detail", "")))
        kinds: dict[Any, str] = {True: _("answers directly"), False: _("doesn't answer")}
        judged = []
        for hit in detail.get("judged", []):
            why = str(REASONS.get(hit.get("reason", ""), hit.get("reason", "")))
            words = " · ".join(filter(None, (kinds.get(hit.get("keep"), _("not judged, so kept")), why)))
            judged.append(Passage(hit["chunk_id"], hit["score"], words, hit.get("key_passage", "")))
        if judged:
            description.lists.append(PassageList(_("Judged"), judged))
        return description


def read_verdict(reply: str, content: str) -> PassageVerdict:
    """Return the first usable verdict in a reply; a key passage is dropped unless the passage contains it."""
    for item in objects(reply, "keep"):
        keep = truth(item.get("keep"))
        if keep is not None:
            passage = line(item.get("key_passage")) if keep else ""
            if _squeezed(passage) not in _squeezed(content):
                passage = ""
            return PassageVerdict(keep, passage, line(item.get("reason"))[:300])
    return PassageVerdict(None, reason="no verdict")


def _squeezed(text: str) -> str:
    """Return a text without whitespace, which models don't copy faithfully."""
    return re.sub(r"\s+", "", text)

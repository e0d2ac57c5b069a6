"""Checks each sentence of the finished answer against the passages."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.citations.verifiers import Verifier, Written, configured, texts_of
from conversations.pipeline.description import Description, reason
from conversations.pipeline.graph import Context, Node
from conversations.pipeline.state import State
from conversations.pipeline.writing import extractive_answer
from ragsite.runtime import caches


class CheckCitations(Node):
    """Checks the citations, even of an answer that failed or was stopped part-way."""

    key = "check_citations"
    title = gettext_lazy("Check the citations")
    timeout = 30.0  # verifiers have limits of their own
    on_error = "skip"
    always = True
    reads = ("answer.blocks", "prompt.evidence")
    may_read = (
        "past.turns", "past.unanswered", "found.reading", "found.unread_files", "found.unsearched", "prompt.cited",
        "prompt.model",
    )  # fmt: skip
    writes = ("answer.checks",)

    def wanted(self, state: State) -> bool:
        """Return whether there are an answer and passages that may support it."""
        return bool(state.prompt.evidence and state.answer.blocks)

    async def run(self, state: State, ctx: Context) -> None:
        """Fill `checks`, in the order of the sentences; uncited ones are included if no passage contains them."""
        earlier = [text for turn in state.past.conversation for text in (turn.question, turn.answer)]
        reading = state.found.reading
        # For sections that are not cited the notes suffice: the texts together would be whole documents.
        notes = reading.given if reading is not None and reading.form == "notes" else {}
        texts = list(texts_of(state.answer.blocks))
        written = Written(
            texts=texts,
            passages={
                number: "\n".join(filter(None, (hit.filename, hit.heading, content)))
                for number, hit in enumerate(state.prompt.evidence, 1)
                for content in [hit.content if number in state.prompt.cited else notes.get(hit.chunk_id, hit.content)]
            },
            known=[
                state.request.question,
                *earlier,
                *(reading.said if reading is not None else ()),
                state.found.unread_files,
                extractive_answer.unsearched_note(state),
                # What a quoting answer says without a marker is the site's own, such as the number of rows.
                *(texts if not state.prompt.model else ()),
            ],
            language=state.request.question_language,
        )
        verified = await verifier().verify(written)
        state.answer.checks = [verdict.to_dict() for verdict in verified.verdicts]
        ctx.note(checks=state.answer.checks, **verified.facts)

    def describe(self, detail: Mapping[str, Any]) -> Description:
        """Describe how many sentences are supported and how many are uncited, and which model judged."""
        checks = detail.get("checks", [])
        cited = [check for check in checks if check.get("status") != "uncited"]
        supported = sum(check.get("status") == "supported" for check in cited)
        words = _("%(supported)d of %(total)d sentences with sources") % {"supported": supported, "total": len(cited)}
        description = Description([(_("Supported"), words)])
        description.add(_("Uncited"), len(checks) - len(cited))
        if detail.get("by") != "rules":
            description.add(_("Judged by"), detail.get("by"))
        description.add(_("No model used"), reason(detail.get("note", "")))
        return description


@cache
def verifier() -> Verifier:
    """Return the verifier, one for the whole process."""
    return configured()


caches.register(verifier.cache_clear)

"""Judging citations by the chat model."""

import asyncio
from dataclasses import replace
from typing import get_args

from conversations.citations.verdict import Status, Verdict
from conversations.citations.verifiers import Verified, Written
from conversations.citations.verifiers.rules import Rules
from conversations.prompts import side_calls
from conversations.prompts.no_reply import NoReply
from conversations.prompts.passages import fenced
from ragsite.llm.stream.json_reply import line, objects
from ragsite.site_settings.config import config

# The verdicts that a model may give on a sentence with markers.
_STATUSES = frozenset(get_args(Status)) - {"uncited", "unclear"}


class Judge(Rules):
    """Asks the model of the purpose *judge* about each cited sentence, `FILTER_CONCURRENCY` of them at a time.

    Sentences beyond `CITATION_MODEL_CLAIMS`, and those without a usable reply within `CITATION_MODEL_TIMEOUT`, keep the
    verdicts of the rules.
    """

    async def verify(self, written: Written) -> Verified:
        """Judge by rules, then by the model."""
        verdicts = await self.by_rules(written)
        cited = [place for place, verdict in enumerate(verdicts) if verdict.sources][: config.CITATION_MODEL_CLAIMS]
        places = asyncio.Semaphore(config.FILTER_CONCURRENCY)
        judged = 0

        async def judge(place: int, model: side_calls.SideModel) -> None:
            nonlocal judged
            verdict = verdicts[place]
            passages = [
                fenced(number, written.passages[number])
                for number in dict.fromkeys(verdict.sources)
                if number in written.passages
            ]
            async with places:
                try:
                    answered = await model.ask(claim=verdict.text, evidence="\n\n".join(passages))
                except NoReply:
                    return
            if (read := read_judgement(answered.text, verdict)) is not None:
                verdicts[place] = read
                judged += 1

        try:
            async with (
                asyncio.timeout(config.CITATION_MODEL_TIMEOUT),
                side_calls.model_for("judge", written.language, config.CITATION_MODEL_TIMEOUT) as model,
                asyncio.TaskGroup() as group,
            ):
                name = model.model
                for place in cited:
                    group.create_task(judge(place, model))
        except NoReply as none:
            return Verified(verdicts, {"by": "rules", "note": none.reason})
        except TimeoutError:
            return Verified(verdicts, {"by": name if judged else "rules", "judged": judged, "note": "timed out"})
        return Verified(verdicts, {"by": name if judged else "rules", "judged": judged})


def read_judgement(reply: str, verdict: Verdict) -> Verdict | None:
    """Return the verdict in a model's reply, or None if it contains none."""
    for item in objects(reply, "verdict"):
        status = line(item.get("verdict")).lower().replace(" ", "_")
        if status == "supported":
            return replace(verdict, status="supported", problems=(), says={})
        if status in _STATUSES:
            wrong, says = line(item.get("wrong"))[:200], line(item.get("source_says"))[:200]
            judged: Status = status  # type: ignore[assignment]
            if wrong and wrong in verdict.text:
                return replace(verdict, status=judged, problems=(("model", wrong),), says={wrong: says} if says else {})
            return replace(verdict, status=judged, problems=verdict.problems or (("model", ""),))
    return None

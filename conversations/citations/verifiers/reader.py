"""Judging citations by rules, and by the reader where a sentence is in other words than its passages."""

import time
from dataclasses import replace

from django.conf import settings

from conversations.citations.verifiers import Verified, Written
from conversations.citations.verifiers.rules import Rules
from ragsite.language.detection import language_of
from ragsite.language.simplified import simplified
from ragsite.llm.errors import LLMError
from ragsite.llm.reranking.reader import Passage, get_reader
from ragsite.site_settings.config import config
from retrieval.answerability.reading import is_available, value_of

# A sentence with this share of its words in its passages is about the same subject.
SAME_SUBJECT = 0.5


class Reader(Rules):
    """The default: asks the reader about sentences in which the rules find neither an error nor enough shared words.

    If all of its passages rank lower than those that support a sentence, the verdict becomes "not found". Sentences in
    another language than their passages, those beyond `CITATION_MODEL_CLAIMS`, and those that are not read within
    `READER_TIMEOUT`, keep the verdicts of the rules, and so do all if there is no reader or it is busy.
    """

    async def verify(self, written: Written) -> Verified:
        """Judge by rules, then by the reader."""
        verdicts = await self.by_rules(written)
        unsure = [
            place
            for place, verdict in enumerate(verdicts)
            if verdict.status == "unclear" or (verdict.status == "supported" and verdict.coverage < SAME_SUBJECT)
        ]
        if not unsure or not is_available() or not config.ENABLE_READER:
            return Verified(verdicts, {})
        until = time.monotonic() + config.READER_TIMEOUT
        judged, note = 0, ""
        try:
            reader = get_reader(settings.READER_MODEL)
            if reader.calibration.unsupported is None:
                return Verified(verdicts, {})
            for place in unsure[: config.CITATION_MODEL_CLAIMS]:
                verdict = verdicts[place]
                texts = [written.passages.get(number, "") for number in set(verdict.sources)]
                passages = [
                    Passage("", simplified(text)) for text in texts if language_of(text) == language_of(verdict.text)
                ]
                if not passages:
                    continue
                left = max(0.0, until - time.monotonic())
                read = await reader.read(simplified(verdict.text), passages, seconds=left)
                if None in read:
                    note = "timed_out"
                    break
                judged += 1
                best = max(value_of(reading) for reading in read if reading is not None)
                if best < reader.calibration.unsupported:
                    problems = verdict.problems or (("words", ""),)
                    verdicts[place] = replace(verdict, status="not_found", problems=problems)
        except LLMError as error:
            note = error.code
        return Verified(verdicts, {"read": judged} | ({"note": note} if note else {}))

"""Judging citations by a cross-encoder for entailment that runs in this process."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from django.conf import settings

from conversations.citations.verdict import Status
from conversations.citations.verifiers import Verified, Written
from conversations.citations.verifiers.rules import Rules
from ragsite.language.sentences import split_sentences
from ragsite.llm.errors import LLMError
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.reranking.entailment import local_entailment
from ragsite.site_settings.config import config

# Tokens of a passage that are read with a sentence: most such models read 512 for both together.
WINDOW = 320
# The share of a sentence's words in its passages from which it is "partly" supported if nothing entails it.
SOME_COVERAGE = 0.25


class Entailment(Rules):
    """Replaces the rules' verdict on each cited sentence with that of an entailment model.

    `CITATION_ENTAILMENT_MODEL` names the model. Sentences beyond `CITATION_MODEL_CLAIMS`, and all sentences if the
    model fails or exceeds `CITATION_MODEL_TIMEOUT`, keep the verdicts of the rules.
    """

    async def verify(self, written: Written) -> Verified:
        """Judge by rules, then by the model."""
        verdicts = await self.by_rules(written)
        cited = [place for place, verdict in enumerate(verdicts) if verdict.sources][: config.CITATION_MODEL_CLAIMS]
        pairs = [
            (place, window, verdicts[place].text)
            for place in cited
            for window in _windows("\n".join(filter(None, map(written.passages.get, set(verdicts[place].sources)))))
        ]
        model = settings.CITATION_ENTAILMENT_MODEL
        try:
            async with asyncio.timeout(config.CITATION_MODEL_TIMEOUT):
                relations = await local_entailment(model).relations([(window, text) for _place, window, text in pairs])
        except (LLMError, TimeoutError) as error:
            note = str(error) if isinstance(error, LLMError) else "timed out"
            return Verified(verdicts, {"by": "rules", "note": note})
        least = settings.CITATION_ENTAILMENT_THRESHOLD
        for place in cited:
            found = [relation for (at, _window, _text), relation in zip(pairs, relations, strict=True) if at == place]
            if not found:
                continue
            # One piece that entails the sentence is enough.
            verdict, problems = verdicts[place], verdicts[place].problems
            status: Status = "partly" if verdict.coverage >= SOME_COVERAGE else "not_found"
            if max(relation.entails for relation in found) >= least:
                verdict = replace(verdict, status="supported", problems=(), says={})
            elif max(relation.contradicts for relation in found) >= least:
                verdict = replace(verdict, status="contradicted", problems=problems or (("polarity", ""),))
            else:
                verdict = replace(verdict, status=status, problems=problems or (("model", ""),))
            verdicts[place] = verdict
        return Verified(verdicts, {"by": model, "judged": len(cited)})


def _windows(passage: str) -> Iterator[str]:
    """Yield a passage in windows of whole sentences; each window repeats the last sentence of the one before."""
    piece: list[str] = []
    size = 0
    for sentence in split_sentences(passage):
        tokens = count_tokens(sentence)
        if piece and size + tokens > WINDOW:
            yield "".join(piece)
            piece, size = piece[-1:], count_tokens(piece[-1])
        piece.append(sentence)
        size += tokens
    if "".join(piece).strip():
        yield "".join(piece)

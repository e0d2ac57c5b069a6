"""How many tokens a model makes of one of the site's own count, learned from what its provider reports.

The factor rises quickly and falls slowly, since a prompt over the window fails while one that is a little too short
only leaves something out. It lies in the database, so that every process has it, also after a restart.
"""

from collections.abc import Sequence

from django.db import transaction

from conversations.prompts.budget import MESSAGE_OVERHEAD
from conversations.prompts.models import TokenCalibration
from ragsite.llm.prompt_tokens import count_prompt_tokens
from ragsite.llm.types import ChatMessage

# What lies outside is no tokenizer: providers that leave out cached tokens, or cut prompts without saying so.
LOWEST, HIGHEST = 0.5, 4.0
# How far the factor moves towards what one answer reported.
RISE, FALL = 0.5, 0.1
# Of a short prompt the chat format is too great a part.
LEAST_TOKENS = 200
# Before the first report: the vocabulary counted with is DeepSeek's; GPT's counts up to 19 % more (Chinese).
FIRST = 1.15


def factor_of(model: str) -> float:
    """Return how many of a model's tokens one of the site's own count makes."""
    known = TokenCalibration.objects.filter(model=model).values_list("factor", flat=True).first()
    return known if known is not None else first_guess(model)


def first_guess(model: str) -> float:
    """Return the factor of a model that has not reported yet."""
    return 1.0 if "deepseek" in model.lower() else FIRST


def updated_factor(factor: float, estimated: int, reported: int) -> float | None:
    """Return the factor after one more report, or None where the report says nothing. Tokens are whole prompts'."""
    if estimated < LEAST_TOKENS or not LOWEST <= reported / estimated <= HIGHEST:
        return None
    ratio = reported / estimated
    return factor + (ratio - factor) * (RISE if ratio > factor else FALL)


def learn(model: str, messages: Sequence[ChatMessage], reported: int) -> None:
    """Learn from a prompt that its provider counted as `reported` tokens."""
    report(model, sum(count_prompt_tokens(message.content) + MESSAGE_OVERHEAD for message in messages), reported)


@transaction.atomic
def report(model: str, estimated: int, reported: int) -> None:
    """Learn from a prompt of `estimated` tokens by the site's own count that its provider counted as `reported`."""
    if updated_factor(1.0, estimated, reported) is None:
        return
    rows = TokenCalibration.objects.select_for_update().filter(model=model[:200])
    row = rows.first()
    if row is None:
        new = TokenCalibration(model=model[:200], factor=first_guess(model))
        TokenCalibration.objects.bulk_create([new], ignore_conflicts=True)
        row = rows.get()
    row.factor = updated_factor(row.factor, estimated, reported) or row.factor
    row.samples += 1
    row.save(update_fields=["factor", "samples", "updated_at"])

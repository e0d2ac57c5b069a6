"""Calibration of the site's own token count to each model, learned from the usage that providers report.

The factor rises quickly and falls slowly, because a prompt over the window fails, while one that is a little too short
only leaves something out. It is stored in the database, so all processes share it, and it survives a restart.
"""

from collections.abc import Sequence

from django.db import transaction

from conversations.prompts.budget import MESSAGE_OVERHEAD
from conversations.prompts.models import TokenCalibration
from ragsite.llm.prompt_tokens import count_prompt_tokens
from ragsite.llm.types import ChatMessage

# No tokenizer differs more than this; such reports leave out cached tokens, or the provider cut the prompt silently.
LOWEST, HIGHEST = 0.5, 4.0
# The share of the way that the factor moves towards a report.
RISE, FALL = 0.5, 0.1
# In shorter prompts, the chat format takes too large a share.
LEAST_TOKENS = 200
# Until the first report. The site counts with DeepSeek's vocabulary; with GPT's, Chinese takes up to 19 % more tokens.
FIRST = 1.15


def factor_of(model: str) -> float:
    """Return the number of a model's tokens per token of the site's own count."""
    known = TokenCalibration.objects.filter(model=model).values_list("factor", flat=True).first()
    return known if known is not None else first_guess(model)


def first_guess(model: str) -> float:
    """Return the factor of a model without reports."""
    return 1.0 if "deepseek" in model.lower() else FIRST


def updated_factor(factor: float, estimated: int, reported: int) -> float | None:
    """Return the factor after another report, or None if the report is unusable. Both counts are of whole prompts."""
    if estimated < LEAST_TOKENS or not LOWEST <= reported / estimated <= HIGHEST:
        return None
    ratio = reported / estimated
    return factor + (ratio - factor) * (RISE if ratio > factor else FALL)


def learn(model: str, messages: Sequence[ChatMessage], reported: int) -> None:
    """Update a model's factor from a prompt that its provider counted as `reported` tokens."""
    report(model, sum(count_prompt_tokens(message.content) + MESSAGE_OVERHEAD for message in messages), reported)


@transaction.atomic
def report(model: str, estimated: int, reported: int) -> None:
    """Update a model's factor from a prompt's tokens by the site's own count and by its provider's."""
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

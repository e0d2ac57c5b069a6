"""The changes that connecting a model makes to profiles: planning them for review, and saving them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from conversations.admin.model_setup.draft import Draft, price
from conversations.models import ModelProfile
from conversations.prompts.profiles import reply_settings
from conversations.prompts.rerankers import profile_chats
from ragsite.audit.log import gathered, record
from ragsite.audit.models import AuditEntry

Purpose = ModelProfile.Purpose
# A reasoning model needs tokens for its reasoning even if its reply is short.
_THINKING_TOKENS = 2048


def chat_purposes() -> list[Purpose]:
    """Return the purposes that a chat model can serve, the most important first."""
    first = [Purpose.ANSWER, Purpose.CHAT, Purpose.UNDERSTAND, Purpose.REWRITE, Purpose.FILTER]
    rest = [each for each in Purpose if each not in (*first, Purpose.EMBEDDING, Purpose.RERANK)]
    return [*first, *([Purpose.RERANK] if profile_chats() else []), *rest]


def other_purposes(draft: Draft) -> list[Purpose]:
    """Return the purposes of the other kinds of models that the endpoint offers."""
    kinds = {each.kind for each in draft.offered}
    rerank = "rerank" in kinds and not profile_chats()
    return [*([Purpose.RERANK] if rerank else []), *([Purpose.EMBEDDING] if "embedding" in kinds else [])]


@dataclass(frozen=True, slots=True)
class Change:
    """A purpose and its new model: `existing` is its enabled profile, `kept` a stored one for the same model."""

    purpose: Purpose
    model: str
    existing: ModelProfile | None = None
    kept: ModelProfile | None = None

    @property
    def label(self) -> str:
        """The label of the purpose."""
        return str(self.purpose.label)

    @property
    def replaces(self) -> bool:
        """Whether another profile serves the purpose, which will be disabled."""
        return self.existing is not None and self.existing is not self.kept


def changes(draft: Draft) -> list[Change]:
    """Return the changes that saving will make, one per purpose."""
    rows = list(ModelProfile.objects.filter(purpose__in=draft.models).order_by("-enabled", "-pk"))
    planned: list[Change] = []
    for purpose in [each for each in (*chat_purposes(), *Purpose) if each in draft.models]:
        if any(change.purpose == purpose for change in planned):
            continue
        model, own = draft.models[purpose], [row for row in rows if row.purpose == purpose]
        same = (row for row in own if row.model == model and row.base_url.rstrip("/") == draft.base_url.rstrip("/"))
        planned.append(Change(purpose, model, next((row for row in own if row.enabled), None), next(same, None)))
    return planned


def signature(planned: Sequence[Change]) -> str:
    """Return a signature of the profiles to change, to detect changes since the plan was reviewed."""
    return ",".join(f"{each.purpose}:{each.existing.pk}" for each in planned if each.existing is not None)


@transaction.atomic
def carry_out(draft: Draft, planned: Sequence[Change]) -> list[ModelProfile]:
    """Save and enable the profiles, disable those they replace, and return the enabled ones.

    The audit log gets a single entry for all of them, with the purposes for which something changed.
    """
    stored = []
    with gathered() as entries:
        for change in planned:
            if change.replaces and change.existing is not None:
                change.existing.enabled = False
                change.existing.save(update_fields=["enabled"])
            profile = change.kept or _new(draft, change)
            profile.enabled = True
            profile.base_url, profile.own_network = draft.base_url, draft.own_network
            profile.encrypted_key = draft.encrypted_key.encode()
            trial = draft.trial(change.model)
            if trial is not None and trial.thinks:
                profile.max_tokens = max(profile.max_tokens, _THINKING_TOKENS)
                profile.thinking = draft.thinking or trial.thinking_off or profile.thinking
            profile.save()
            stored.append(profile)
    changed = {about.purpose for about, _details in entries if isinstance(about, ModelProfile)}
    if changed:
        of = [change for change in planned if change.purpose in changed]
        record(
            AuditEntry.Action.MODEL,
            next(profile for profile in stored if profile.purpose in changed),
            name=", ".join(dict.fromkeys(change.model for change in of)),
            what="added" if all(details["what"] == "added" for _about, details in entries) else "changed",
            purposes=[str(change.purpose) for change in of],
            endpoint=draft.base_url,
            before=list(dict.fromkeys(each.existing.model for each in of if each.replaces and each.existing)),
        )
    return stored


def _new(draft: Draft, change: Change) -> ModelProfile:
    defaults, offer = reply_settings(change.purpose), draft.offer(change.model)
    profile = ModelProfile(purpose=change.purpose, model=change.model, temperature=defaults.temperature)
    profile.max_tokens = defaults.max_tokens or profile.max_tokens
    window = draft.context_window or (offer.context_window if offer is not None else None)
    profile.context_window = max(1024, window or profile.context_window)
    if offer is not None:
        profile.input_price, profile.output_price = price(offer.input_price), price(offer.output_price)
    return profile

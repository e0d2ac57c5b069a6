"""Which profiles a set-up makes or changes, told before it is done, and then doing it."""

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
# A model that thinks first needs room for it even where its reply is a line.
_THINKING_TOKENS = 2048


def chat_purposes() -> list[Purpose]:
    """Return the purposes that a chat model serves, the best known first."""
    first = [Purpose.ANSWER, Purpose.CHAT, Purpose.UNDERSTAND, Purpose.REWRITE, Purpose.FILTER]
    rest = [each for each in Purpose if each not in (*first, Purpose.EMBEDDING, Purpose.RERANK)]
    return [*first, *([Purpose.RERANK] if profile_chats() else []), *rest]


def other_purposes(draft: Draft) -> list[Purpose]:
    """Return the purposes of models of another kind that the endpoint offers."""
    kinds = {each.kind for each in draft.offered}
    rerank = "rerank" in kinds and not profile_chats()
    return [*([Purpose.RERANK] if rerank else []), *([Purpose.EMBEDDING] if "embedding" in kinds else [])]


@dataclass(frozen=True, slots=True)
class Change:
    """A purpose that gets a model. `existing` is the enabled profile that it has, `kept` one of the same that waits."""

    purpose: Purpose
    model: str
    existing: ModelProfile | None = None
    kept: ModelProfile | None = None

    @property
    def label(self) -> str:
        """The purpose in words."""
        return str(self.purpose.label)

    @property
    def replaces(self) -> bool:
        """Whether another model has served the purpose, and is disabled."""
        return self.existing is not None and self.existing is not self.kept


def changes(draft: Draft) -> list[Change]:
    """Return what saving will do, purpose by purpose."""
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
    """Return what tells two plans apart, so that what is done is what was read."""
    return ",".join(f"{each.purpose}:{each.existing.pk}" for each in planned if each.existing is not None)


@transaction.atomic
def carry_out(draft: Draft, planned: Sequence[Change]) -> list[ModelProfile]:
    """Store the profiles; what another model served before is disabled, and stays. Returns those now in use.

    The audit log tells of all of them in one entry, with the purposes that something changed for.
    """
    stored = []
    with gathered() as told:
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
                profile.thinking = draft.thinking or profile.thinking
            profile.save()
            stored.append(profile)
    changed = {about.purpose for about, _details in told if isinstance(about, ModelProfile)}
    if changed:
        of = [change for change in planned if change.purpose in changed]
        record(
            AuditEntry.Action.MODEL,
            next(profile for profile in stored if profile.purpose in changed),
            name=", ".join(dict.fromkeys(change.model for change in of)),
            what="added" if all(details["what"] == "added" for _about, details in told) else "changed",
            purposes=[str(change.purpose) for change in of],
            endpoint=draft.base_url,
            before=list(dict.fromkeys(each.existing.model for each in of if each.replaces and each.existing)),
        )
    return stored


def _new(draft: Draft, change: Change) -> ModelProfile:
    asked, offer = reply_settings(change.purpose), draft.offer(change.model)
    profile = ModelProfile(purpose=change.purpose, model=change.model, temperature=asked.temperature)
    profile.max_tokens = asked.max_tokens or profile.max_tokens
    window = draft.context_window or (offer.context_window if offer is not None else None)
    profile.context_window = max(1024, window or profile.context_window)
    if offer is not None:
        profile.input_price, profile.output_price = price(offer.input_price), price(offer.output_price)
    return profile

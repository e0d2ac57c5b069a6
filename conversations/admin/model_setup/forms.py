"""The forms of the three pages for connecting a model."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.core.validators import MinValueValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.admin.forms import KeyField
from conversations.admin.model_setup import plan
from conversations.admin.model_setup.draft import Draft, Offered
from conversations.admin.model_setup.plan import Change, signature
from conversations.models import ModelProfile

QUESTION_CHARACTERS = 2000


class AddressForm(forms.Form):
    """The address of an API, and the key for it."""

    base_url = forms.URLField(
        label=gettext_lazy("Address"),
        max_length=500,
        assume_scheme="https",
        widget=forms.URLInput(attrs={"placeholder": "http://127.0.0.1:11434/v1", "autocomplete": "off", "size": 60}),
        help_text=gettext_lazy("Any OpenAI-compatible API. The address usually ends in “/v1”."),
    )
    key = KeyField(
        label=gettext_lazy("Key"),
        required=False,
        help_text=gettext_lazy("Stored encrypted and never shown again. Your own servers usually need none."),
    )
    own = forms.BooleanField(label=gettext_lazy("Our own server"), required=False, widget=forms.CheckboxInput)

    def clean_base_url(self) -> str:
        """Remove trailing slashes, and the paths of single requests."""
        address = str(self.cleaned_data["base_url"]).rstrip("/")
        if not address.lower().startswith(("http://", "https://")):
            raise forms.ValidationError(_("The address must start with “http://” or “https://”."))
        if "@" in address.split("//", 1)[1].split("/", 1)[0]:
            raise forms.ValidationError(_("Leave the name and password out of the address; a key has its own field."))
        return address.removesuffix("/completions").removesuffix("/chat").removesuffix("/models")


class ChoiceForm(forms.Form):
    """The models of the purposes: one for all purposes of chat models, unless another is chosen for one."""

    model = forms.CharField(label=gettext_lazy("Model"), max_length=200)
    context_window = forms.IntegerField(
        label=gettext_lazy("Context window"),
        required=False,
        validators=[MinValueValidator(1024)],
        max_value=100_000_000,
        help_text=gettext_lazy(
            "The most tokens the model can read. Leave empty for what the server reports, or 16,384 if it reports "
            "nothing. Ollama keeps to the limit it was started with."
        ),
    )
    question = forms.CharField(
        label=gettext_lazy("Test question"),
        max_length=QUESTION_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        initial=gettext_lazy("Why is the sky blue? Answer in two sentences."),
    )

    def __init__(self, draft: Draft, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.draft = draft
        self.chat_fields = [f"for_{purpose}" for purpose in plan.chat_purposes()]
        self.other_fields = [f"for_{purpose}" for purpose in plan.other_purposes(draft)]
        if draft.offered:
            chat_first = sorted(draft.offered, key=lambda each: each.kind != "chat")
            choices = [(each.name, _label_of(each)) for each in chat_first]
            self.fields["model"] = forms.ChoiceField(label=_("Model"), choices=choices)
        for purpose in (*plan.chat_purposes(), *plan.other_purposes(draft)):
            other = f"for_{purpose}" in self.other_fields
            empty = _("none") if other else _("the model above")
            kind = str(purpose) if other else "chat"
            label = str(purpose.label)
            if draft.offered:
                listed = [each for each in draft.offered if not other or each.kind == kind]
                choices = [("", empty), *((each.name, _label_of(each)) for each in listed)]
                self.fields[f"for_{purpose}"] = forms.ChoiceField(label=label, choices=choices, required=False)
            else:
                box = forms.TextInput(attrs={"placeholder": empty})
                self.fields[f"for_{purpose}"] = forms.CharField(label=label, max_length=200, required=False, widget=box)

    @property
    def per_purpose(self) -> Iterable[forms.BoundField]:
        """The fields of the purposes of chat models."""
        return [self[name] for name in self.chat_fields]

    @property
    def others(self) -> Iterable[forms.BoundField]:
        """The fields of the purposes of other kinds of models."""
        return [self[name] for name in self.other_fields]

    @property
    def differs(self) -> bool:
        """Whether a purpose has its own model."""
        return any(self[name].value() or self[name].errors for name in self.chat_fields)

    def models(self) -> dict[str, str]:
        """Return the model of each purpose."""
        data = self.cleaned_data
        found = {name: data[name].strip() or data["model"].strip() for name in self.chat_fields}
        found |= {name: data[name].strip() for name in self.other_fields}
        return {name.removeprefix("for_"): model for name, model in found.items() if model}


def _label_of(offer: Offered) -> str:
    facts = [offer.name]
    if offer.kind == "embedding":
        facts.append(_("embedding"))
    elif offer.kind == "rerank":
        facts.append(_("reranking"))
    elif offer.kind == "other":
        facts.append(_("not for text"))
    if offer.context_window:
        facts.append(_("%(count)s tokens") % {"count": f"{offer.context_window:,}"})
    return " · ".join(facts)


class SaveForm(forms.Form):
    """Saving the tested models; changing enabled profiles must be confirmed."""

    thinking = forms.ChoiceField(
        label=gettext_lazy("How thinking is turned on"),
        choices=[("", gettext_lazy("Leave it to the model")), *ModelProfile.Thinking.choices],
        required=False,
    )
    confirmed = forms.BooleanField(
        label=gettext_lazy("Change these profiles"),
        required=False,
    )
    plan = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, planned: Sequence[Change], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.planned = planned
        self.fields["plan"].initial = signature(planned)

    def clean(self) -> dict[str, Any]:
        """Check that the reviewed plan is still current, and that changes were confirmed."""
        data = super().clean() or self.cleaned_data
        if data.get("plan", "") != signature(self.planned):
            raise forms.ValidationError(_("The profiles have changed since you opened this page. Review them again."))
        if any(change.existing is not None for change in self.planned) and not data.get("confirmed"):
            self.add_error("confirmed", _("Confirm that the profiles in use may be changed."))
        return data

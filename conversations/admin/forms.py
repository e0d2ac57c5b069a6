"""Admin forms for prompts, which are validated, and for model profiles, whose key is write-only."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.models import ModelProfile, PromptTemplate
from conversations.prompts import templates
from conversations.prompts.profiles import reply_settings
from ragsite.llm import secrets
from ragsite.llm.addresses import objections, same_server

# The same minimum as in the settings: with less, every question fails.
_MINIMUMS = {
    "temperature": 0, "max_tokens": 1, "context_window": 1024, "connect_timeout": 0.1, "idle_timeout": 0.1,
    "total_timeout": 1, "input_price": 0, "output_price": 0,
}  # fmt: skip
_MAX_TEMPERATURE = 2
_TALL = forms.Textarea(attrs={"rows": 18, "cols": 110, "spellcheck": "false"})


def variables_help() -> SafeString:
    """Return the variables that each purpose can use, one purpose per line."""
    purposes = dict(PromptTemplate.Purpose.choices)
    lines = (_("%(name)s: %(value)s") % {"name": purposes[key], "value": _listed(key)} for key in templates.VARIABLES)
    return format_html_join("", "<br>{}", ((line,) for line in lines))


def _listed(purpose: str) -> str:
    names = [f"{{{{ {name} }}}}" for name in templates.variables_of(purpose)]
    return " ".join([*names, *([templates.LOOP] if purpose in templates.LOOPING else [])])


class PromptTemplateForm(forms.ModelForm[PromptTemplate]):
    """A prompt; invalid if it uses an unknown variable, lacks a required one or can't be parsed."""

    class Meta:
        """The version number and its activation are set on saving."""

        model = PromptTemplate
        fields = ["purpose", "language", "system", "user"]
        widgets = {"system": _TALL, "user": _TALL}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.fields:  # for users with view permission only
            return
        purpose = self.instance.purpose if self.instance.pk else ""
        known = _listed(purpose) if purpose else variables_help()
        for name in ("system", "user") if purpose else ("system",):
            self.fields[name].help_text = _("Variables: %(names)s") % {"names": known}

    def clean(self) -> dict[str, Any]:
        """Check both texts against the purpose's variables."""
        data = super().clean() or self.cleaned_data
        purpose = data.get("purpose") or self.instance.purpose
        for name, problem in templates.problems(purpose, data.get("system") or "", data.get("user") or "").items():
            self.add_error(name, problem)
        return data


class KeyField(forms.CharField):
    """The key of an endpoint, which is never included in the page."""

    widget = forms.PasswordInput(attrs={"autocomplete": "new-password", "size": 60})

    def clean(self, value: Any) -> str:
        """Reject characters that can't be sent, such as a copied line break or zero-width space."""
        key = str(super().clean(value))
        if not secrets.is_key(key):
            raise forms.ValidationError(_("The key contains invalid characters. Copy it again."))
        return key


class ModelProfileForm(forms.ModelForm[ModelProfile]):
    """A model profile; its key is encrypted and never sent back to the page."""

    base_url = forms.URLField(label=gettext_lazy("Base URL"), max_length=500, assume_scheme="https")
    key = KeyField(label=gettext_lazy("Key"), required=False)
    remove_key = forms.BooleanField(label=gettext_lazy("Remove key"), required=False)

    class Meta:
        """All fields except the encrypted key itself."""

        model = ModelProfile
        fields = [
            "purpose", "base_url", "own_network", "model", "temperature", "max_tokens", "context_window", "concurrency",
            "connect_timeout", "idle_timeout", "total_timeout", "enabled", "offered", "thinking", "input_price",
            "output_price",
        ]  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "purpose" not in self.fields:  # for users with view permission only
            return
        stored = bool(self.instance.encrypted_key)
        self.fields["key"].help_text = (
            _("A key is stored. Leave this empty to keep it.")
            if stored
            else _("Stored encrypted and never shown again.")
        )
        self.fields["purpose"].help_text = _(
            "A profile for embedding only defines the connection to the endpoint. To search with its model, run "
            "“manage.py reembed --provider openai”."
        )
        for name in ("temperature", "max_tokens"):
            self.fields[name].required = False
            self.fields[name].help_text = _("Leave empty for the purpose's default.")
            if not self.instance.pk:
                self.initial[name] = None
        for name in ("input_price", "output_price"):
            self.fields[name].help_text = _("In %(currency)s. Leave empty if it is free or costs don't matter.") % {
                "currency": settings.LLM_CURRENCY
            }
        for name, minimum in _MINIMUMS.items():
            self.fields[name].validators.append(MinValueValidator(minimum))
        self.fields["temperature"].validators.append(MaxValueValidator(_MAX_TEMPERATURE))

    def clean_base_url(self) -> str:
        """Remove the trailing slash."""
        return str(self.cleaned_data["base_url"]).rstrip("/")

    def clean(self) -> dict[str, Any]:
        """Allow only one enabled profile per purpose, naming the other one in the error."""
        data = super().clean() or self.cleaned_data
        others = ModelProfile.objects.filter(purpose=data.get("purpose"), enabled=True).exclude(pk=self.instance.pk)
        if data.get("enabled") and (other := others.first()) is not None:
            self.add_error(
                "enabled", _("“%(other)s” is enabled for this purpose; disable it first.") % {"other": other}
            )
        defaults = reply_settings(data.get("purpose") or "")
        for name, value in (("temperature", defaults.temperature), ("max_tokens", defaults.max_tokens)):
            if name in data and data[name] is None:
                data[name] = value
        if "base_url" in data and {"base_url", "own_network"} & {*self.changed_data}:
            for name, message in objections(data["base_url"], own_network=bool(data.get("own_network"))).items():
                self.add_error(name, message)
            elsewhere = not same_server(data["base_url"], self.initial.get("base_url", ""))
            if elsewhere and self.instance.encrypted_key and not (data.get("key") or data.get("remove_key")):
                self.add_error(
                    "key",
                    _("The stored key belongs to the previous address. Enter the key for this one, or remove it."),
                )
        return data

    def save(self, commit: bool = True) -> ModelProfile:
        """Save the profile, and its key if it was entered or removed."""
        if self.cleaned_data.get("key"):
            self.instance.encrypted_key = secrets.encrypt(self.cleaned_data["key"])
        elif self.cleaned_data.get("remove_key"):
            self.instance.encrypted_key = b""
        return super().save(commit=commit)

"""Forms for adding an embedding model."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import RegexValidator, URLValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.llm import secrets
from ragsite.llm.addresses import objections

LANGUAGES = [
    ("", gettext_lazy("Inferred from its name")),
    ("en", gettext_lazy("English")),
    ("zh", gettext_lazy("Chinese")),
    ("en,zh", gettext_lazy("English and Chinese")),
    ("all", gettext_lazy("every language")),
]


class LanguagesForm(forms.Form):
    """The languages that a model knows: None to infer them from its name, empty for every language."""

    languages = forms.TypedChoiceField(
        label=gettext_lazy("Languages"),
        choices=LANGUAGES,
        coerce=lambda chosen: [] if chosen == "all" else chosen.split(","),
        empty_value=None,
        required=False,
    )


class DownloadForm(forms.Form):
    """A model to download, from fastembed's list."""

    name = forms.ChoiceField(label=gettext_lazy("Model"), widget=forms.RadioSelect)
    sha256 = forms.CharField(
        label=gettext_lazy("SHA-256 of its weights"),
        required=False,
        validators=[
            RegexValidator(r"^[0-9A-Fa-f]{64}$", gettext_lazy("Enter a SHA-256 checksum: 64 hexadecimal digits."))
        ],
        help_text=gettext_lazy(
            "Optional, if you know it from another source. By default, the checksum given by the hub is used."
        ),
    )

    def __init__(self, names: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]


class FilesForm(LanguagesForm):
    """A model uploaded as an archive."""

    field_order = ("archive", "name", "languages")
    archive = forms.FileField(
        label=gettext_lazy("Archive"),
        help_text=gettext_lazy(
            "A zip or tar.gz file with model.onnx, config.json, tokenizer.json and tokenizer_config.json."
        ),
        widget=forms.FileInput(attrs={"accept": ".zip,.tgz,.tar.gz,.gz,.tar"}),
    )
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Defaults to the file's name."),
    )

    def clean_archive(self) -> Any:
        """Reject archives over the size limit."""
        archive = self.cleaned_data["archive"]
        if archive.size > settings.EMBEDDING_MODEL_MAX_MB * 1024 * 1024:
            message = _("The model is larger than {limit} MB, the limit set by EMBEDDING_MODEL_MAX_MB.")
            raise forms.ValidationError(message.format(limit=settings.EMBEDDING_MODEL_MAX_MB))
        return archive


class EndpointForm(LanguagesForm):
    """A model behind an OpenAI-compatible endpoint."""

    field_order = ("base_url", "own_network", "name", "key", "languages", "dimension")
    base_url = forms.CharField(
        label=gettext_lazy("Base URL"),
        max_length=500,
        validators=[URLValidator(["http", "https"])],
        help_text=gettext_lazy("Up to and including /v1."),
    )
    own_network = forms.BooleanField(
        label=gettext_lazy("Our own server"),
        required=False,
        help_text=gettext_lazy("Its address may be on this machine or in its local network."),
    )
    name = forms.CharField(label=gettext_lazy("Model"), max_length=200)
    key = forms.CharField(
        label=gettext_lazy("Key"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy("Stored encrypted, and never shown."),
    )
    dimension = forms.IntegerField(
        label=gettext_lazy("Dimensions"),
        required=False,
        min_value=1,
        max_value=4000,
        help_text=gettext_lazy("Defaults to the model's own number."),
    )

    def clean_key(self) -> str:
        """Reject keys that can't be sent in a header."""
        key: str = self.cleaned_data["key"]
        if not secrets.is_key(key):
            raise forms.ValidationError(_("The key contains invalid characters. Copy it again."))
        return key

    def clean(self) -> dict[str, Any]:
        """Reject addresses that requests must not be sent to."""
        data = super().clean() or self.cleaned_data
        if "base_url" in data:
            for name, message in objections(data["base_url"], own_network=data["own_network"]).items():
                self.add_error(name, message)
        return data

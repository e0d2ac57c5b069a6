"""What the page for adding an embedding model takes."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import RegexValidator, URLValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.llm import secrets
from ragsite.llm.addresses import objections

LANGUAGES = [
    ("", gettext_lazy("what its name tells")),
    ("en", gettext_lazy("English")),
    ("zh", gettext_lazy("Chinese")),
    ("en,zh", gettext_lazy("English and Chinese")),
    ("all", gettext_lazy("every language")),
]


class LanguagesForm(forms.Form):
    """Which languages a model knows: None for what its name tells, empty for every one."""

    languages = forms.TypedChoiceField(
        label=gettext_lazy("Languages that it knows"),
        choices=LANGUAGES,
        coerce=lambda chosen: [] if chosen == "all" else chosen.split(","),
        empty_value=None,
        required=False,
    )


class DownloadForm(forms.Form):
    """A model that fastembed knows."""

    name = forms.ChoiceField(label=gettext_lazy("Model"), widget=forms.RadioSelect)
    sha256 = forms.CharField(
        label=gettext_lazy("SHA-256 of its weights"),
        required=False,
        validators=[RegexValidator(r"^[0-9A-Fa-f]{64}$", gettext_lazy("This is no SHA-256: 64 digits from 0 to f."))],
        help_text=gettext_lazy(
            "Where you know it from elsewhere. Without it the checksum that the hub tells is kept and checked again."
        ),
    )

    def __init__(self, names: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]


class FilesForm(LanguagesForm):
    """A model that is brought as an archive."""

    field_order = ("archive", "name", "languages")
    archive = forms.FileField(
        label=gettext_lazy("Archive"),
        help_text=gettext_lazy(
            "zip or tar.gz with model.onnx, config.json, tokenizer.json and tokenizer_config.json. It is checked first."
        ),
        widget=forms.FileInput(attrs={"accept": ".zip,.tgz,.tar.gz,.gz,.tar"}),
    )
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=200, required=False, help_text=gettext_lazy("Empty: the file's name.")
    )

    def clean_archive(self) -> Any:
        """Refuse what is larger than a model may be."""
        archive = self.cleaned_data["archive"]
        if archive.size > settings.EMBEDDING_MODEL_MAX_MB * 1024 * 1024:
            message = _("It is larger than the {limit} MB that EMBEDDING_MODEL_MAX_MB allows.")
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
        help_text=gettext_lazy("Empty: as many as the model has."),
    )

    def clean_key(self) -> str:
        """Refuse what can't be sent."""
        key: str = self.cleaned_data["key"]
        if not secrets.is_key(key):
            raise forms.ValidationError(_("The key contains invalid characters. Copy it again."))
        return key

    def clean(self) -> dict[str, Any]:
        """Refuse an address that is not asked."""
        data = super().clean() or self.cleaned_data
        if "base_url" in data:
            for name, told in objections(data["base_url"], own_network=data["own_network"]).items():
                self.add_error(name, told)
        return data

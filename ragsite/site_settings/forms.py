"""Form fields for settings that can change while the site runs, generated from the settings' definitions."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ragsite import env


def field_of(option: env.Option, unset: str) -> forms.Field:
    """Return a form field for a setting; an empty one leaves it unset, the effect of which is shown as `unset`."""
    least, most = option.bounds or (None, None)
    common: dict[str, Any] = {"label": option.setting, "required": False, "help_text": capfirst(str(option.help))}
    if isinstance(option.default, bool):
        return forms.ChoiceField(choices=[("", unset), ("true", _("On")), ("false", _("Off"))], **common)
    if option.allowed:
        return forms.ChoiceField(choices=[("", unset), *((word, word) for word in option.allowed if word)], **common)
    kind: type[forms.Field] = forms.CharField
    bounds: dict[str, Any] = {}
    if isinstance(option.default, int):
        kind, bounds = forms.IntegerField, {"min_value": least, "max_value": most}
    elif isinstance(option.default, float) or option.default is None:
        kind, bounds = forms.FloatField, {"min_value": least, "max_value": most}
    field = kind(**common, **bounds)
    field.widget.attrs["placeholder"] = unset
    return field


def text_of(option: env.Option, value: Any) -> str | None:
    """Return a field's value as written in an environment variable, or None if it is empty.

    Raises `ValidationError` for an invalid value.
    """
    if value in (None, ""):
        return None
    text = value if isinstance(value, str) else env.written(value)
    try:
        option.parse(text)
    except ImproperlyConfigured as error:
        raise ValidationError(str(error)) from None
    return text


class SettingsForm(forms.Form):
    """Settings that administrators can change; an empty field means the value in `otherwise`."""

    def __init__(
        self, options: Iterable[env.Option], stored: Mapping[str, str], otherwise: Mapping[str, str], data: Any = None
    ) -> None:
        super().__init__(data, initial=dict(stored))
        self.auto_id = "setting-%s"
        self.options = {option.name: option for option in options}
        for name, option in self.options.items():
            self.fields[name] = field_of(option, _("default: %(value)s") % {"value": otherwise[name]})

    def clean(self) -> dict[str, Any]:
        """Validate each setting."""
        texts: dict[str, str | None] = {}
        for name, value in list(self.cleaned_data.items()):
            try:
                texts[name] = text_of(self.options[name], value)
            except ValidationError as error:
                self.add_error(name, error)
        return texts

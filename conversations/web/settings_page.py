"""The site's settings, for the page on which administrators change those that can change at run time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.forms import BoundField
from django.utils.translation import gettext

from ragsite import env
from ragsite.site_settings.config import config
from ragsite.site_settings.forms import SettingsForm


@dataclass(frozen=True, slots=True)
class Cell:
    """A setting on the page: its current value and its default, as they would be written in the environment.

    `field` is set if the setting can be changed on the page; `pinned`, if it could be but the environment sets it.
    """

    name: str
    value: str
    default: str
    bounds: str = ""
    field: BoundField | None = None
    pinned: bool = False

    @property
    def changed(self) -> bool:
        """Whether the value differs from the default."""
        return self.value != self.default


def form_for(stored: Mapping[str, str], data: Any = None) -> SettingsForm:
    """Return the form for administrators: the live settings that the environment doesn't set."""
    options = [option for option in env.options.values() if option.live and not env.given(option.name)]
    otherwise = {option.name: _shown(option, getattr(settings, option.setting)) for option in options}
    return SettingsForm(options, stored, otherwise, data)


def sections(form: SettingsForm | None = None) -> Iterator[tuple[env.Words, list[tuple[list[Cell], env.Words]]]]:
    """Yield the titles and rows (settings and their description) of the sections shown to staff.

    A section that isn't shown as a whole contains only the settings that can change.
    """
    for section, rows in env.rows():
        seen = [(row, row[0].help) for row in rows if section.shown or any(option.live for option in row)]
        if seen:
            yield section.title, [([cell(option, form) for option in row], meaning) for row, meaning in seen]


def cell(option: env.Option, form: SettingsForm | None = None) -> Cell:
    """Return the cell of a variable; a secret only shows whether it is set."""
    value = getattr(config if option.live else settings, option.setting)
    field = form[option.name] if form is not None and option.name in form.fields else None
    pinned = bool(option.live and env.given(option.name))
    return Cell(option.name, _shown(option, value), _shown(option, option.default), option.range, field, pinned)


def _shown(option: env.Option, value: object) -> str:
    if option.secret:
        return gettext("set") if value else gettext("not set")
    if value in (None, "") or (option.unset and value == option.default):
        return str(option.unset or gettext("not set"))
    return address(str(value)) if option.name.endswith("_URL") else env.written(value)


def address(url: str) -> str:
    """Return a URL without possible secrets: user name, password and query."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

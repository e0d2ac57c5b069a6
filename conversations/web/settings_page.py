"""What the site is set to, for the page on which administrators change what may change while it runs."""

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
    """A setting as it is shown: its value now and its default, as the environment would have them written.

    `field` is there where it may be changed on the page; `pinned` tells that the environment sets one that otherwise
    may.
    """

    name: str
    value: str
    default: str
    bounds: str = ""
    field: BoundField | None = None
    pinned: bool = False

    @property
    def changed(self) -> bool:
        """Whether something else than the default is in force."""
        return self.value != self.default


def form_for(stored: Mapping[str, str], data: Any = None) -> SettingsForm:
    """Return the form of what administrators may change: the live settings that the environment leaves open."""
    options = [option for option in env.options.values() if option.live and not env.given(option.name)]
    otherwise = {option.name: _shown(option, getattr(settings, option.setting)) for option in options}
    return SettingsForm(options, stored, otherwise, data)


def sections(form: SettingsForm | None = None) -> Iterator[tuple[env.Words, list[tuple[list[Cell], env.Words]]]]:
    """Yield the titles of the sections that staff see, and their rows: settings, and what they do.

    Of a section that is not shown as a whole there are the settings that may change.
    """
    for section, rows in env.rows():
        seen = [(row, row[0].help) for row in rows if section.shown or any(option.live for option in row)]
        if seen:
            yield section.title, [([cell(option, form) for option in row], meaning) for row, meaning in seen]


def cell(option: env.Option, form: SettingsForm | None = None) -> Cell:
    """Return a variable's setting; of a secret only whether there is one."""
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
    """Return a URL without what may be secret: a name and password before the host, and the query."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

"""What the environment sets of the pipeline and the search, for the page that shows it to staff."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext

from ragsite import env


@dataclass(frozen=True, slots=True)
class Cell:
    """A setting as it is shown: its value now and its default, as the environment would have them written."""

    name: str
    value: str
    default: str
    bounds: str = ""

    @property
    def changed(self) -> bool:
        """Whether something else than the default is in force."""
        return self.value != self.default


def sections() -> Iterator[tuple[env.Words, list[tuple[list[Cell], env.Words]]]]:
    """Yield the titles of the sections that staff see, and their rows: settings, and what they do."""
    for section, rows in env.rows():
        if section.shown:
            yield section.title, [([cell(option) for option in row], row[0].help) for row in rows]


def cell(option: env.Option) -> Cell:
    """Return a variable's setting, which has the same name; of a secret only whether there is one."""
    value = getattr(settings, option.name)
    return Cell(option.name, _shown(option, value), _shown(option, option.default), option.range)


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

"""Lucide's icons, each rendered only once per process; some pages repeat a few of them hundreds of times.

Lucide's own tag reads the list of its archive's 1,500 icons for each icon, which takes tens of milliseconds.
"""

from functools import cache
from importlib.resources import files
from io import BytesIO
from xml.etree import ElementTree
from zipfile import ZipFile

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'  # not needed by an SVG in HTML


@register.simple_tag
def lucide(name: str, *, size: int = 24, **attributes: str) -> SafeString:
    """Return an icon as inline SVG; `size` is in pixels. Raises `KeyError` if the icon is unknown."""
    return _rendered(name, size, tuple(sorted(attributes.items())))


@cache
def _archive() -> ZipFile:
    # In memory, since the position of an open file would be shared with forked processes.
    return ZipFile(BytesIO(files("lucide").joinpath("lucide.zip").read_bytes()))


@cache
def _rendered(name: str, size: int, attributes: tuple[tuple[str, str], ...]) -> SafeString:
    svg = ElementTree.fromstring(_archive().read(f"{name}.svg").decode().replace(_NAMESPACE, ""))
    for element in svg.iter():
        element.text = element.tail = None  # white space between elements
    svg.attrib.update(attributes, width=str(size), height=str(size))
    return mark_safe(ElementTree.tostring(svg, encoding="unicode"))

"""Lucide's icons, each drawn once for all pages; some repeat a few of them hundreds of times.

Lucide's own tag reads the list of its archive's 1,500 icons anew for each, which takes tens of milliseconds.
"""

from functools import cache
from importlib.resources import files
from io import BytesIO
from xml.etree import ElementTree
from zipfile import ZipFile

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'  # which an SVG within HTML needs not


@register.simple_tag
def lucide(name: str, *, size: int = 24, **attributes: str) -> SafeString:
    """Return an icon as inline SVG; `size` in pixels, with any attributes of an SVG. Raises KeyError if unknown."""
    return _drawn(name, size, tuple(sorted(attributes.items())))


@cache
def _archive() -> ZipFile:
    # In memory: a file's position would be shared with forked processes.
    return ZipFile(BytesIO(files("lucide").joinpath("lucide.zip").read_bytes()))


@cache
def _drawn(name: str, size: int, attributes: tuple[tuple[str, str], ...]) -> SafeString:
    svg = ElementTree.fromstring(_archive().read(f"{name}.svg").decode().replace(_NAMESPACE, ""))
    for element in svg.iter():
        element.text = element.tail = None  # spaces between elements
    svg.attrib.update(attributes, width=str(size), height=str(size))
    return mark_safe(ElementTree.tostring(svg, encoding="unicode"))

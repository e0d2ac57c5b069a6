"""Lucide's icons, each drawn once for all pages; some repeat a few of them hundreds of times."""

from functools import cache

from django import template
from lucide.templatetags.lucide import lucide as draw

register = template.Library()


@register.simple_tag
def lucide(name: str, *, size: int = 24, **attributes: str) -> str:
    """Return an icon as inline SVG; `size` in pixels, attributes as Lucide's own tag takes them."""
    return _drawn(name, size, tuple(sorted(attributes.items())))


@cache
def _drawn(name: str, size: int, attributes: tuple[tuple[str, str], ...]) -> str:
    return draw(name, size=size, **dict(attributes))

"""The data of charts in Office files, as tables."""

from collections.abc import Iterator

from lxml import etree

from knowledge.parsing.elements import Notice, Table
from knowledge.parsing.ooxml import A, C, parse_xml

_MOST_POINTS = 1000


def read_chart(data: bytes, page: int | None = None) -> Iterator[Table | Notice]:
    """Yield a chart's categories and series as a table with its title as caption, if it contains any data."""
    try:
        root = parse_xml(data)
    except etree.XMLSyntaxError:
        return
    series = list(root.iter(f"{C}ser"))
    names: list[str] = []
    values: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for number, item in enumerate(series, 1):
        categories = categories or _points(item, "cat") or _points(item, "xVal")
        points = _points(item, "val") or _points(item, "yVal")
        if points:
            node = item.find(f"{C}tx")
            texts = [value.text or "" for value in node.iter(f"{C}v")] if node is not None else []
            names.append(" ".join(texts) or str(number))
            values.append(points)
    places = sorted({place for points in (categories, *values) for place in points})
    if not values or not places:
        return
    rows = tuple(
        (categories.get(place, str(place + 1)), *(_short(points.get(place, "")) for points in values))
        for place in places[:_MOST_POINTS]
    )
    title = root.find(f"{C}chart/{C}title")
    caption = "" if title is None else "".join(node.text or "" for node in title.iter(f"{A}t"))
    yield Table(page=page, columns=("", *names), rows=rows, caption=" ".join(caption.split()))
    if len(places) > _MOST_POINTS:
        yield Notice(key="left_out.points", params={"points": len(places), "most": _MOST_POINTS})


def _points(series: etree._Element, name: str) -> dict[int, str]:
    node = series.find(f"{C}{name}")
    found: dict[int, str] = {}
    for point in node.iter(f"{C}pt") if node is not None else ():
        place = point.get("idx", "")
        if place.isdigit() and len(place) < 7:
            text = point.findtext(f"{C}v") or ""
            found[int(place)] = f"{found[int(place)]} / {text}" if int(place) in found else text
    return found


def _short(number: str) -> str:
    """Return a number without the rounding errors of floating point."""
    try:
        return f"{float(number):.10g}"
    except ValueError:
        return number

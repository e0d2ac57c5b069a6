"""Opens every list of the admin with each of its options, and measures the time.

The options come from the admin class: searches, filters, sortable columns, dates, pages and facet counts. So new lists
and new options are measured automatically.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import User
from django.db import connection, reset_queries
from django.db.models import Model
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from tqdm import tqdm

from conversations.models import Turn
from tests.benchmarks.conversations.administration import filling
from tests.benchmarks.conversations.administration.texts import FREQUENT, FREQUENT_HAN, RARE, RARE_HAN
from tests.benchmarks.retrieval import scratch
from tests.benchmarks.retrieval.measuring import table

MOST_SECONDS = 1.0
MOST_QUERIES = 20
# A page that takes no longer than this isn't opened again; slower ones are, to exclude delays by other work.
_QUICK = 0.25
_SEARCHES = {
    "a frequent word": FREQUENT,
    "a frequent word, in Chinese": FREQUENT_HAN,
    "a rare word": RARE,
    "a rare word, in Chinese": RARE_HAN,
    "a word that is nowhere": "quetzal",
    "a word that is nowhere, in Chinese": "穿山甲",
    "two words": f"{FREQUENT} warranty",
    "two words, in two languages": f"{FREQUENT} {FREQUENT_HAN}",
    "two words, one of them rare": f"{FREQUENT} {RARE}",
    "a phrase": f'"the {FREQUENT}"',
    "one letter": "s",
    "one character": "的",
    "a person": "reader3",
    "a number": "1234",
}
_KINDS = ("list", "pages", "search", "filter", "counts", "sort", "dates", "row")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the admin: its list, kind, name and URL."""

    model: type[Model]
    kind: str
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The best time of a page, and its number of queries."""

    page: Page
    seconds: float
    queries: int

    @property
    def is_over(self) -> bool:
        """Whether the page took too long or made too many queries."""
        return self.seconds > MOST_SECONDS or self.queries > MOST_QUERIES


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: number of messages, lists ("app.model"; empty for all), and maximum openings of each page."""

    messages: int
    lists: tuple[str, ...] = ()
    rounds: int = 3
    every: bool = False
    keep: bool = False


def run(plan: Plan, say: Callable[[str], None]) -> list[Opened]:
    """Measure in a separate database beside the site's, and print tables."""
    with scratch.database("ragsite_bench_admin", keep=plan.keep):
        stamp = f"{plan.messages} messages"
        if scratch.stamp() != stamp:
            scratch.empty()
            filling.fill(plan.messages)
            filling.analyse()
            scratch.set_stamp(stamp)
        staff = User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("bench")
        models = [model for model in admin.site._registry if not plan.lists or model._meta.label_lower in plan.lists]
        client = Client()
        client.force_login(staff)
        wanted = list(pages(models, staff))
        bar = tqdm(wanted, desc="Opening", unit="page", file=sys.stderr, disable=None)
        opened = [_open(page, client, plan.rounds) for page in bar]
        say(_by_list(models, opened))
        shown = opened if plan.every else [each for each in opened if each.is_over]
        heading = "All pages" if plan.every else f"Above {MOST_SECONDS:g} s or {MOST_QUERIES} queries"
        say(f"\n## {heading}: {len(shown)} of {len(opened)}\n")
        say(_each(sorted(shown, key=lambda each: -each.seconds)))
    return opened


def pages(models: list[type[Model]], staff: User) -> Iterator[Page]:
    """Yield the pages of these models' lists that can be opened directly, and each list's first row."""
    for model in models:
        shown = _list(model, staff)
        for kind, name, query in _ways(shown):
            yield Page(model, kind, name, f"{_url(model, 'changelist')}?{query}")
        for row in shown.result_list[:1]:
            yield Page(model, "row", "the first row", _url(model, "change", row.pk))


def _ways(shown: ChangeList) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the name and the query string of each option of a list."""
    yield "list", "as it is", ""
    last = shown.paginator.num_pages
    for number in sorted({2, last} & set(range(2, last + 1))):
        yield "pages", f"page {number}", f"p={number}"
    if shown.search_fields:
        request_id = str(Turn.objects.values_list("request_id", flat=True).latest("pk"))
        for name, words in (_SEARCHES | {"an id": request_id, "the beginning of an id": request_id[:8]}).items():
            yield "search", name, urlencode({"q": words})
        yield "search", "a frequent word, page 2", urlencode({"q": FREQUENT, "p": 2})
    for spec in shown.filter_specs:
        choices = [choice for choice in spec.choices(shown) if choice.get("query_string")]
        for choice in choices[1:2] + choices[2:][-1:]:
            yield "filter", f"{spec.title}: {choice['display']}", str(choice["query_string"]).removeprefix("?")
        if shown.search_fields and choices[1:]:
            query = str(choices[1]["query_string"]).removeprefix("?") + "&" + urlencode({"q": FREQUENT})
            yield "filter", f"{spec.title}: {choices[1]['display']}, with a frequent word", query
    if shown.filter_specs:
        yield "counts", "counts beside the filters", "_facets=True"
    for number, column in enumerate(shown.list_display):
        if shown.get_ordering_field(column) is not None:
            yield "sort", f"by {column}", f"o={number}"
            yield "sort", f"by {column}, downwards", f"o=-{number}"
    yield from _dates(shown)


def _dates(shown: ChangeList) -> Iterator[tuple[str, str, str]]:
    field, row = shown.date_hierarchy, next(iter(shown.result_list), None)
    if field and row is not None:
        day, chosen = getattr(row, field), {}
        for part in ("year", "month", "day"):
            chosen[f"{field}__{part}"] = getattr(day, part)
            yield "dates", f"a {part}", urlencode(chosen)


def _list(model: type[Model], staff: User) -> ChangeList:
    request = RequestFactory().get(_url(model, "changelist"))
    request.user = staff
    shown: admin.ModelAdmin[Any] = admin.site._registry[model]
    return shown.get_changelist_instance(request)


def _url(model: type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def _open(page: Page, client: Client, rounds: int) -> Opened:
    """Open a page until it is fast, at most `rounds` times."""
    best, queries = float("inf"), 0
    for _round in range(rounds):
        reset_queries()
        began = time.perf_counter()
        with CaptureQueriesContext(connection) as asked:
            response = client.get(page.address)
        best, queries = min(best, time.perf_counter() - began), len(asked)
        if response.status_code != 200:
            raise RuntimeError(f"{page.address} answers {response.status_code}")
        if best <= _QUICK:
            break
    return Opened(page, best, queries)


def _by_list(models: list[type[Model]], opened: list[Opened]) -> str:
    """Return a table of the slowest page of each kind and the highest number of queries, by list."""
    rows = []
    for model in models:
        own = [each for each in opened if each.page.model is model]
        slowest = {kind: max((each.seconds for each in own if each.page.kind == kind), default=None) for kind in _KINDS}
        cells = ["" if slowest[kind] is None else f"{slowest[kind]:.2f}" for kind in _KINDS]
        most = max((each.queries for each in own), default=0)
        rows.append([model._meta.label, f"{model._default_manager.count():,}", *cells, str(most)])
    return table(["maximum seconds", "rows", *_KINDS, "queries"], rows)


def _each(opened: list[Opened]) -> str:
    rows = [
        [each.page.model._meta.label, each.page.kind, each.page.name, f"{each.seconds:.2f}", str(each.queries)]
        for each in opened
    ]
    return table(["list", "kind", "page", "seconds", "queries"], rows)

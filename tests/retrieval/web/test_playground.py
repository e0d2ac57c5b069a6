"""The playground: one query with two sets of options, in a URL that can be shared."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from knowledge.models import KnowledgeBase
from ragsite.llm.errors import TimedOut
from retrieval.engine import engine, result_cache, spaces
from retrieval.types import Hit, SearchResult, Source, Stage
from retrieval.web.forms import SideForm
from retrieval.web.playground import Agreement, Side, compare
from tests import factories
from tests.ragsite.llm import reading_model
from tests.retrieval.pages import HTMX, PASSAGES, chunk_of, make_base, make_set

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return make_base(owner)


def show(client: Client, **data: Any) -> str:
    return client.get(reverse("playground"), {name.replace("_", "-", 1): data[name] for name in data}).content.decode()


def test_without_a_base_there_is_nothing_to_search(as_stranger: Client) -> None:
    page, _palette = show(as_stranger, q="ports").split("<dialog", 1)
    assert "Nothing to search yet" in page
    assert 'name="q"' not in page


def test_the_page_starts_with_two_modes(as_owner: Client, base: KnowledgeBase) -> None:
    page = show(as_owner)
    assert 'value="hybrid" id="id-a-mode_0" checked' in page
    assert 'value="fulltext" id="id-b-mode_2" checked' in page


def test_the_page_starts_with_the_sites_mode(as_owner: Client, base: KnowledgeBase, settings: Settings) -> None:
    settings.SEARCH_MODE = "words"
    page = show(as_owner)
    assert 'value="fulltext" id="id-a-mode_2" checked' in page and 'value="hybrid" id="id-b-mode_0" checked' in page
    assert "Enter a query" in page


def test_a_query_is_searched_on_both_sides(as_owner: Client, base: KnowledgeBase) -> None:
    page = show(as_owner, q="How many gigabit ports?", a_mode="hybrid", b_mode="fulltext")
    chunk = chunk_of(base, "ports")
    assert page.count(f'href="/knowledge/documents/{chunk.document_id}/?chunk={chunk.pk}"') == 2
    assert page.count("<mark>gigabit</mark> <mark>ports</mark>") == 2
    assert 'class="stage-vector"' in page and 'class="stage-bm25"' in page and 'class="stage-fuse"' in page
    assert "facts.txt" in page and "p. 2" in page
    assert "only in A" in page  # by meaning, all passages are found; by words, only one


def test_the_cache_is_not_used(as_owner: Client, base: KnowledgeBase) -> None:
    result_cache.results.clear()
    show(as_owner, q="gigabit", a_mode="fulltext", b_mode="fulltext")
    assert len(result_cache.results) == 0


def test_each_side_runs_only_its_retrievers(as_owner: Client, base: KnowledgeBase) -> None:
    page = show(as_owner, q="ports", a_mode="fulltext", b_mode="fulltext")
    assert 'class="stage-vector"' not in page
    assert "Both sides return the same hits in the same order." in page


def test_settings_reach_the_search(as_owner: Client, base: KnowledgeBase) -> None:
    page = show(as_owner, q="a cat and a table", a_mode="vector", a_k="1", b_mode="vector", b_vector_threshold="9")
    assert page.count('class="hit alone"') == 1
    assert "Nothing was found under these settings." in page


def test_the_reader_runs_on_one_side_only(
    as_owner: Client, base: KnowledgeBase, settings: Settings, tmp_path: Path
) -> None:
    settings.READER_MODEL = str(reading_model.write(tmp_path, {"ports": 4.0}))
    settings.READER_TIMEOUT = 0  # comparisons wait for the reader
    page = show(as_owner, q="How many ports?", a_reader="on", b_reader="off")
    assert page.count('class="stage-reader" x=') == 1 and "Reader" in page
    assert "Default: Off" in page
    settings.ENABLE_READER = True
    assert show(as_owner, q="How many ports?").count('class="stage-reader" x=') == 2


def test_a_threshold_of_zero_applies(as_owner: Client, settings: Settings) -> None:
    form = SideForm({"a-mode": "vector", "a-vector_threshold": "0", "a-reorder": "off", "a-reader": "on"}, prefix="a")
    assert form.is_valid()
    assert form.chosen() == {"mode": "vector", "vector_threshold": 0.0, "reorder": False, "reader": True}


def test_invalid_numbers_are_reported_and_the_other_side_runs(as_owner: Client, base: KnowledgeBase) -> None:
    page = show(as_owner, q="ports", a_mode="fulltext", a_k="many", b_mode="fulltext")
    assert "Enter a whole number." in page
    assert "A setting of A is invalid" in page
    assert page.count('class="hit') >= 1


def test_only_readable_bases_are_searched(as_owner: Client, as_stranger: Client, base: KnowledgeBase) -> None:
    other = make_base(factories.make_user("other"), "Secret")
    page = show(as_owner, q="ports")
    assert "Secret" not in page
    refused = show(as_owner, q="ports", base=[other.pk])
    assert "doesn&#x27;t exist or isn&#x27;t shared with you" in refused
    assert "facts.txt" not in refused
    factories.make_knowledge_base(factories.make_user("third"), "Open", visibility="site")
    assert "facts.txt" not in show(as_stranger, q="ports")


def test_a_base_can_be_chosen(as_owner: Client, owner: User, base: KnowledgeBase) -> None:
    empty = factories.make_knowledge_base(owner, "Empty")
    assert "Nothing was found" in show(as_owner, q="ports", base=[empty.pk])
    assert "facts.txt" in show(as_owner, q="ports", base=[empty.pk, base.pk])


def test_a_failed_retriever_leaves_a_note(
    as_owner: Client, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise TimedOut

    monkeypatch.setattr(spaces, "embed_query", fail)
    page = show(as_owner, q="ports in a failing search", a_mode="hybrid", b_mode="vector")
    assert "Search by meaning failed. All results come from search by words." in page
    assert 'role="alert"' in page  # the other side has no hits at all
    assert PASSAGES[1].split(" ")[1] in page


def test_a_failed_search_shows_the_reason(
    as_owner: Client, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(engine, "search_fulltext", fail)
    monkeypatch.setattr(engine, "search_vectors", fail)
    page = show(as_owner, q="ports when all is down")
    assert page.count('class="panel bad" role="alert"') == 2


def test_htmx_gets_the_results_and_a_short_address(as_owner: Client, base: KnowledgeBase) -> None:
    data = {"q": "ports", "a-mode": "hybrid", "a-k": "", "b-mode": "vector", "b-k": "3"}
    response = as_owner.get(reverse("playground"), data, headers=HTMX | {"HX-Target": "results"})
    part = response.content.decode()
    assert "<html" not in part
    assert "A: 3 hits. B: 3 hits." in part  # for screen readers
    assert response.headers["HX-Push-Url"] == "/playground/?q=ports&a-mode=hybrid&b-mode=vector&b-k=3"


def test_collecting_passages_for_a_set(as_owner: Client, as_stranger: Client, base: KnowledgeBase) -> None:
    made = make_set(base)
    page = show(as_owner, set=made.pk)
    assert "add them to “Golden”" in page
    assert "Golden" not in show(as_stranger, set=made.pk)


def test_the_page_takes_a_constant_number_of_queries(
    as_owner: Client, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        factories.make_knowledge_base(owner, f"Base {number}")
    with django_assert_num_queries(8):  # session, user, bases, the wanted set, three for the assistants
        as_owner.get(reverse("playground"))


def test_anonymous_users_are_redirected_to_sign_in(anonymous: Client) -> None:
    assert anonymous.get(reverse("playground")).headers["Location"].startswith("/login/")


def hit(chunk_id: int, merged: tuple[int, ...] = ()) -> Hit:
    source = Source("bm25", 1, 2.0, 0.1)
    return Hit(chunk_id, 1, 1, f"Text {chunk_id}", "text", "a.txt", "", None, 0.1, [source], merged=merged)


def side(key: str, *hits: Hit) -> Side:
    stages = [Stage("fuse", 1.0, [(each.chunk_id, each.score) for each in hits])]
    return Side(key, SideForm({f"{key}-mode": "hybrid"}, prefix=key), SearchResult(list(hits), [], 3.0, [], stages))


def test_hits_are_marked_by_their_rank_on_the_other_side() -> None:
    a, b = side("a", hit(1), hit(2), hit(3)), side("b", hit(2), hit(1), hit(4))
    assert compare("text", [a, b]) == Agreement(common=2, total=4, same=0)
    assert [(shown.other, shown.change) for shown in a.hits] == [(2, 1), (1, -1), (None, 0)]
    assert [place.label for place in a.hits[0].places] == ["Words", "Fusion"]


def test_a_merged_hit_counts_for_all_its_passages() -> None:
    a, b = side("a", hit(1, merged=(1, 2))), side("b", hit(2), hit(1))
    agreement = compare("text", [a, b])
    assert agreement is not None and agreement.common == 2
    assert a.hits[0].other == 1
    assert [shown.other for shown in b.hits] == [1, 1]

"""Runs the node and the hook of the documentation page as they are printed there."""

import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.contrib.auth.models import User
from django.core.checks import run_checks

import ragsite.settings
from conversations.models import ChatSession, TraceStep
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from tests import factories
from tests.conversations.conftest import index_document, run_turn

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How much PTO is there?"


@pytest.fixture
def blocks() -> dict[str, str]:
    """Return the page's code blocks, by the file that each of them names."""
    page = Path(site_settings.BASE_DIR / "docs" / "pipeline.md").read_text(encoding="utf-8")
    found = re.findall(r"```python\n# (\w+)\.py[^\n]*\n(.*?)```", page, re.DOTALL)
    assert [name for name, _code in found] == ["glossary", "mysite", "slow_nodes"]
    assert len(found) == page.count("```python")
    return dict(found)


@pytest.fixture
def mysite(blocks: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    """Write the files and apply the settings in them."""
    for name, code in blocks.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    # The line changes a list of the site's settings in place.
    nodes = {name: list(paths) for name, paths in site_settings.PIPELINES.items()}
    monkeypatch.setattr(ragsite.settings, "PIPELINES", nodes)
    import mysite as made  # type: ignore[import-not-found]

    settings.PIPELINES = made.PIPELINES
    lifecycle.pipeline.cache_clear()
    yield
    lifecycle.pipeline.cache_clear()
    for name in blocks:
        sys.modules.pop(name, None)


@pytest.fixture
def leave(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Rules of the house")
    index_document(base, ("Everyone has 27 days of paid leave a year.", "The kitchen closes at nine."), "rules.txt")
    return base


@pytest.mark.usefixtures("mysite")
async def test_the_node_of_the_page_answers_a_question(owner: User, leave: KnowledgeBase, session: ChatSession) -> None:
    assert [message for message in run_checks() if (message.id or "").startswith("conversations")] == []
    events = await run_turn(owner, session, QUESTION)
    step = await TraceStep.objects.aget(key="glossary")
    assert (step.status, step.detail) == ("completed", {"found": ["paid leave"]})
    search = await TraceStep.objects.aget(key="search")
    assert {QUESTION, "paid leave"} <= {ranking["query"] for ranking in search.detail["rankings"]}
    assert "27 days of paid leave" in "".join(getattr(event, "text", None) or "" for event in events)


@pytest.mark.usefixtures("mysite")
async def test_the_hook_of_the_page_reports_slow_nodes(
    owner: User, leave: KnowledgeBase, session: ChatSession, settings: Any, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    import slow_nodes  # type: ignore[import-not-found]

    ticks = count(0, 2)  # the clock advances two seconds per reading
    monkeypatch.setattr(slow_nodes, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    settings.PIPELINE_HOOKS = ["slow_nodes.log"]
    lifecycle.pipeline.cache_clear()
    await run_turn(owner, session, QUESTION)
    assert any(record.message.startswith("glossary took ") for record in caplog.records)


@pytest.mark.usefixtures("mysite")
async def test_it_changes_nothing_without_a_known_abbreviation(
    owner: User, leave: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, "When does the kitchen close?")
    assert (await TraceStep.objects.aget(key="glossary")).detail == {"found": []}
    search = await TraceStep.objects.aget(key="search")
    assert {ranking["query"] for ranking in search.detail["rankings"]} == {"When does the kitchen close?"}


def test_it_comes_before_the_search_in_the_graph(mysite: None) -> None:
    order = lifecycle.pipeline().order
    assert order.index("glossary") < order.index("search")
    assert [edge.parent for edge in lifecycle.pipeline().parents["search"]] == ["glossary"]

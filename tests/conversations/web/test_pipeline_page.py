"""The page that shows staff the pipeline."""

import re

from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from conversations.pipeline.drawing import mermaid
from conversations.turns import lifecycle


def test_staff_see_the_graph_its_nodes_and_its_mermaid_text(as_staff: Client) -> None:
    graph = lifecycle.pipeline()
    page = as_staff.get(reverse("pipeline")).content.decode()
    (figure,) = re.findall('<figure class="code diagram">(.*?)</figure>', page, re.DOTALL)
    assert f"<code>{escape(mermaid(graph))}</code>" in figure, "a script draws it, and a button copies it"
    assert "data-diagram-switch" in figure and "data-copy-code" in figure
    assert "js/diagrams.js" in page and "js/copy.js" in page
    assert "conversations.pipeline.nodes.search.Search" in page
    assert page.count('<th scope="row">') == len(graph.nodes)


def test_nothing_inline_that_the_content_policy_would_block(as_staff: Client) -> None:
    page = as_staff.get(reverse("pipeline")).content.decode()
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=", page)


def test_the_page_is_not_found_for_others(as_owner: Client, anonymous: Client) -> None:
    assert as_owner.get(reverse("pipeline")).status_code == 404
    assert anonymous.get(reverse("pipeline")).status_code == 302


def test_the_admin_leads_there(as_staff: Client) -> None:
    assert reverse("pipeline") in as_staff.get(reverse("admin:index")).content.decode()


def test_titles_are_shown_as_text(as_staff: Client, monkeypatch: object) -> None:
    node = lifecycle.pipeline().nodes["search"]
    monkeypatch.setattr(type(node), "title", "<script>alert(1)</script>")  # type: ignore[attr-defined]
    page = as_staff.get(reverse("pipeline")).content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page

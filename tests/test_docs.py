"""Paths, links, commands, dotted paths and variables in the documentation exist."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.core.management import get_commands
from django.utils.module_loading import import_string

from ragsite import env
from tests.site import ROOT

_PATH = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`|`([a-z_]+\.py)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"manage\.py ([a-z_]+)")
_DOTTED = re.compile(r"\b(?:conversations|retrieval|knowledge|ragsite)(?:\.\w+)+")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b")

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/**/README.md")])
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
# The changelog mentions things that no longer exist.
each_present_page = pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: str(page.relative_to(ROOT))
)


def test_all_places_on_the_map_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    apps = ("conversations", "retrieval", "knowledge", "ragsite")
    within = [ROOT, *(path for app in apps for path in ROOT.glob(f"{app}/**/") if path.is_dir())]
    named = {whole or name for whole, name in _PATH.findall(text)}
    assert len(named) > 30
    assert [name for name in sorted(named) if not any((folder / name).exists() for folder in within)] == []


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    lost = []
    for link in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        path, _, heading = unquote(link).partition("#")
        target = page.parent / path if path else page
        if re.match(r"\w+:", link):
            continue
        if not target.exists() or (heading and heading not in _headings(target)):
            lost.append(link)
    assert lost == []


@each_page
def test_commands_exist(page: Path) -> None:
    assert set(_COMMAND.findall(page.read_text(encoding="utf-8"))) - _commands() == set()


@each_present_page
def test_dotted_paths_exist(page: Path) -> None:
    # Names of loggers in the benchmarks and of channels contain dots, too.
    for path in set(_DOTTED.findall(page.read_text(encoding="utf-8"))) - {"ragsite.qa", "ragsite.env"}:
        module = path.removesuffix(".py").replace(".", "/")
        if not ((ROOT / f"{module}.py").exists() or (ROOT / module).is_dir()):
            import_string(path)


@each_present_page
def test_variables_are_read(page: Path) -> None:
    named = set(_VARIABLE.findall(page.read_text(encoding="utf-8"))) - {
        "DJANGO_SETTINGS_MODULE",
        "HF_ENDPOINT",
        "HF_HUB_OFFLINE",
        "LC_ALL",
        "POSTGRES_PASSWORD",
    }
    assert [name for name in sorted(named) if name not in env.options and not hasattr(settings, name)] == []


def test_every_page_is_in_the_index() -> None:
    for index in (ROOT / "docs" / "README.md", ROOT / "docs" / "decisions" / "README.md"):
        listed = set(_LINK.findall(index.read_text(encoding="utf-8")))
        assert {page.name for page in index.parent.glob("*.md")} - {index.name} <= listed


def test_pages_that_the_code_points_to_exist() -> None:
    apps = [
        path for name in ("conversations", "knowledge", "ragsite", "retrieval") for path in ROOT.glob(f"{name}/**/*.py")
    ]
    named = {page for path in apps for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))}
    assert len(named) > 5
    assert [page for page in sorted(named) if not (ROOT / page).exists()] == []


def test_the_pictures_are_small() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*.png"))
    assert len(pictures) == 2
    assert [picture.name for picture in pictures if picture.stat().st_size > 200_000] == []


def _commands() -> set[str]:
    benchmarks = (ROOT / "tests" / "benchmarks" / "management" / "commands").glob("[a-z]*.py")
    return {*get_commands(), *(path.stem for path in benchmarks)}


def _headings(page: Path) -> set[str]:
    """Return the anchors that GitHub generates for headings."""
    found = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in found}

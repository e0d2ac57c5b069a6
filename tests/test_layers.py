"""The architecture: imports in one direction, no import cycles, and only the settings read environment variables."""

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("ragsite", "knowledge", "retrieval", "conversations")
# The part of `ragsite` that combines the other apps; the rest of it is what they are built on.
TOP = (
    "ragsite.admin",
    "ragsite.api.urls",
    "ragsite.asgi",
    "ragsite.management",
    "ragsite.runtime.samples",
    "ragsite.runtime.supervisor",
    "ragsite.urls",
    "ragsite.views",
)
READS_ENVIRONMENT = {"manage.py", "ragsite/env.py", "ragsite/asgi.py"}
# The packages of `conversations`, bottom to top. Modules beside them are below, except for those in `STARTED_LAST`.
ROOMS = (
    ("prompts", "instructions", "memory", "citations", "assistants", "files"),
    ("pipeline", "inbox"),
    ("turns",),
    ("sharing",),
    ("rendering",),
    ("api",),
    ("own_data",),
    ("web",),
    ("admin",),
)
STARTED_LAST = ("apps", "checks", "management", "retention", "schedules", "tasks")
# The most modules in a folder, so that it is easy to survey.
MOST_AT_TOP, MOST_IN_ROOM = 16, 15


def _sources() -> list[Path]:
    return [path for app in APPS for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts]


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path): path for path in _sources()}


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _imports(module: str) -> frozenset[str]:
    """Return the dotted names that any import statement of a module may load."""
    return frozenset(name for node in ast.walk(_tree(MODULES[module])) for name in _names(node, module))


def _names(node: ast.AST, module: str) -> Iterator[str]:
    """Yield the dotted names that an import statement may load."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = module.split(".") if MODULES[module].name == "__init__.py" else module.split(".")[:-1]
            base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
        for alias in node.names:
            full = f"{base}.{alias.name}"
            yield full if full in MODULES else base


def _rank(module: str) -> int | None:
    if any(module == top or module.startswith(f"{top}.") for top in TOP):
        return 4
    return {"ragsite": 0, "knowledge": 1, "retrieval": 2, "conversations": 3}.get(module.split(".")[0])


@pytest.fixture(autouse=True, scope="module")
def _forget_trees() -> Iterator[None]:
    """Free the parsed trees: a hundred megabytes, which the garbage collector would check in all later tests."""
    yield
    _tree.cache_clear()


def _above(rank: Callable[[str], int | None], modules: Iterable[str]) -> list[str]:
    """Return the imports of higher-ranking modules; modules without a rank may be imported by all."""
    ranks = {module: rank(module) for module in modules}
    assert [module for module, own in ranks.items() if own is None] == []
    return [
        f"{module} imports {name}, which lies above it"
        for module, own in ranks.items()
        for name in sorted(_imports(module))
        if own is not None and (other := rank(name)) is not None and other > own
    ]


def test_imports_run_one_way() -> None:
    assert _above(_rank, sorted(MODULES)) == []


def test_language_models_import_no_app() -> None:
    for module in (name for name in MODULES if name.startswith("ragsite.llm")):
        assert not [name for name in _imports(module) if name.split(".")[0] in APPS and not name.startswith("ragsite.")]


def test_language_imports_nothing_of_the_project() -> None:
    for module in (name for name in MODULES if name.startswith("ragsite.language")):
        found = {name for name in _imports(module) if name.split(".")[0] in APPS}
        assert {name for name in found if not name.startswith("ragsite.language.")} == set(), module


def test_pages_are_imported_by_pages_only() -> None:
    """Only pages, the API and the code that combines the apps may import `web`."""
    found = [
        f"{module} imports {name}"
        for module in MODULES
        if not {"web", "api"} & set(module.split(".")) and module not in TOP
        for name in _imports(module)
        if name.split(".")[0] in APPS and "web" in name.split(".")
    ]
    assert found == []


def test_no_circles() -> None:
    """Not even through imports in functions or for annotations, since such modules are hard to read."""
    graph = {module: {name for name in _imports(module) if name in MODULES} - {module} for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a circle of imports: " + " → ".join(error.args[1]))


def test_only_the_settings_read_the_environment() -> None:
    found = []
    for path in [*_sources(), ROOT / "manage.py"]:
        name = str(path.relative_to(ROOT))
        if name in READS_ENVIRONMENT or not re.search("environ|getenv", path.read_text(encoding="utf-8")):
            continue
        text = ast.unparse(_tree(path))  # without comments, which may mention it
        words = ("os.environ", "os.getenv", "import environ", "import getenv")
        found += [f"{name} has {word}" for word in words if word in text]
    assert found == []


def _floor(module: str) -> int | None:
    """Return the rank of a module of `conversations`; models are at the bottom, wherever they are."""
    app, _, rest = module.partition(".")
    if app != "conversations":
        return None
    room = rest.partition(".")[0]
    if room in STARTED_LAST:
        return len(ROOMS) + 1
    floors = [floor for floor, rooms in enumerate(ROOMS, 1) if room in rooms]
    return floors[0] if floors and not module.endswith(".models") else 0


def test_rooms_keep_their_order() -> None:
    assert _above(_floor, sorted(name for name in MODULES if _floor(name) is not None)) == []


@pytest.mark.parametrize("folder", sorted({path.parent for path in _sources()}), ids=lambda path: str(path.name))
def test_a_folder_is_taken_in_at_a_glance(folder: Path) -> None:
    if folder.name in ("nodes", "commands"):
        return
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= (MOST_AT_TOP if folder == ROOT / "conversations" else MOST_IN_ROOM), len(modules)

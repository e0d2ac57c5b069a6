"""The image, the compose file, the CI configuration, and markers of tests."""

import ast
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class

from ragsite import env
from ragsite.runtime import checks
from tests import durations
from tests.site import ROOT

PROGRAMS = Path(sys.executable).parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
OURS = [name for name, service in COMPOSE["services"].items() if service["image"].startswith("ragsite")]


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAMS / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)


def _last_stage() -> dict[str, str]:
    """Return the last value of each instruction in the last stage of the image."""
    lines = DOCKERFILE.replace("\\\n", "").splitlines()
    stage = lines[max(number for number, line in enumerate(lines) if line.startswith("FROM ")) :]
    return dict(line.split(" ", 1) for line in stage if line[:1].isupper())


def _of_manage(arguments: list[str]) -> None:
    """Parse arguments of `manage.py` with Django's own parser, which exits if one is unknown."""
    command = load_command_class(get_commands()[arguments[0]], arguments[0])
    command.create_parser("manage.py", arguments[0]).parse_args(arguments[1:])


# --- The image ------------------------------------------------------------------------------------


def test_the_dockerfile_passes_hadolint() -> None:
    told = _run("hadolint", "--no-color", "--failure-threshold", "style", "Dockerfile")
    assert (told.returncode, told.stdout) == (0, "")


def test_the_image_runs_a_command_of_ours_by_a_user_who_is_not_root() -> None:
    stage = _last_stage()
    user, group = map(int, stage["USER"].split(":"))
    assert user > 0 and group > 0
    assert json.loads(stage["ENTRYPOINT"]) == ["python", "manage.py"]
    _of_manage(json.loads(stage["CMD"]))
    assert stage["VOLUME"] == "/data" and "RAGSITE_DATA_DIR=/data" in stage["ENV"]
    assert "'/healthz'" in stage["HEALTHCHECK"] and int(stage["EXPOSE"]) == 8000
    assert "--require-hashes" in DOCKERFILE


def test_the_image_holds_the_apps_and_no_secrets() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    let_in = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    apps = {path.parent.name for path in ROOT.glob("*/apps.py")}
    assert let_in == apps | {"LICENSE", "locale", "manage.py", "requirements.txt", "static", "templates"}


# --- Compose --------------------------------------------------------------------------------------


def test_the_compose_file_keeps_to_the_specification() -> None:
    told = _run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    assert told.returncode == 0, told.stdout


@pytest.mark.parametrize("name", OURS)
def test_services_of_ours_run_real_commands(name: str) -> None:
    _of_manage(COMPOSE["services"][name]["command"])


def test_what_services_refer_to_is_there() -> None:
    services = COMPOSE["services"]
    for service in services.values():
        for other, how in service.get("depends_on", {}).items():
            healthy = "test" in services[other].get("healthcheck", {})
            once = services[other].get("restart") == "no"
            assert how["condition"] == ("service_completed_successfully" if once else "service_healthy")
            assert once or healthy
        volumes = {volume.split(":")[0] for volume in service.get("volumes", [])}
        assert volumes <= set(COMPOSE["volumes"])
    addresses = COMPOSE["services"]["web"]["environment"]
    hosts = {addresses["DATABASE_URL"].rpartition("@")[2].split("/")[0], re.split("[/:]+", addresses["REDIS_URL"])[1]}
    assert hosts == set(services) - set(OURS)


def test_images_are_pinned() -> None:
    images = [service["image"] for service in COMPOSE["services"].values()]
    assert all(re.fullmatch(r"[\w/-]+:[\w.-]+", image) and not image.endswith("latest") for image in images), images


def _interpolated() -> Iterator[tuple[str, str]]:
    """Yield each variable in the compose file, and the text after its name."""
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    found = re.findall(r"\${(\w+)([^}]*)}", text)
    assert len(found) == text.count("$")
    yield from found


def test_every_variable_is_known_and_no_secret_has_a_default() -> None:
    documented = set(re.findall(r"^(?:# )?([A-Z_]+)=", EXAMPLE, re.MULTILINE))
    of_compose = {name for name, _ in _interpolated()}
    assert of_compose <= documented
    given = {name for service in OURS for name in COMPOSE["services"][service]["environment"]}
    assert documented | given <= set(env.options) | {"POSTGRES_PASSWORD", "PUBLISH"}
    assert all(rest.startswith(":?") for name, rest in _interpolated() if name != "PUBLISH")
    assert "PUBLISH:-127.0.0.1:" in (ROOT / "compose.yaml").read_text(
        encoding="utf-8"
    )  # otherwise the port would be public
    secrets = re.findall(r"^[# ]*(\w*(?:PASSWORD|KEY)\w*)=(.*)$", EXAMPLE, re.MULTILINE)
    assert secrets and all(not value for _, value in secrets)


# --- The CI ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [".github/workflows/test.yml", ".github/workflows/nightly.yml"])
def test_the_workflow_asks_for_what_is_there(file: str) -> None:
    for schema in ("vendor.github-workflows", "custom.github-workflows-require-timeout"):
        told = _run("check-jsonschema", "--builtin-schema", schema, file)
        assert told.returncode == 0, told.stdout
    workflow = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert (workflow["permissions"], job["permissions"]) == ({}, {"contents": "read"})
    actions = [step["uses"] for step in job["steps"] if "uses" in step]
    assert actions and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in actions), actions
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = [step["run"].split() for step in job["steps"] if "run" in step]
    assert commands and all(make == "make" and target in targets for make, target, *_options in commands), commands
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={job['strategy']['matrix']['python'][0]}"


# --- Third-party files ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pdfjs", "katex", "mermaid", "fonts"])
def test_third_party_files_are_unchanged(name: str) -> None:
    folder = ROOT / "static" / name
    told = dict(reversed(line.split("  ", 1)) for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines())
    there = {
        f"./{path.relative_to(folder)}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("SHA256SUMS", "README.md")
    }
    assert there == told


# --- The changelog --------------------------------------------------------------------------------


def test_the_changelog_tells_of_the_version_that_is_there() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    heads = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", text, re.MULTILINE)
    assert heads == re.findall(r"^## \[(.+)\](?: - (.+))?$", text, re.MULTILINE)
    (newest, day), *released = heads
    assert (newest, day) == ("Unreleased", "") and released[0][0] == project["version"]
    assert [day for _, day in released] == sorted((day for _, day in released if day), reverse=True)
    kinds = {"Upgrading", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds


def test_the_changelog_names_settings_and_commands_that_are_there() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    names = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)(?:=\w+)?`", text)) - {
        "ANSWER_JUDGE",
        "PIPELINE_NODES",
        "RELEVANCE_FLOOR",
    }  # which were removed
    assert len(names) > 10
    there = env.options.keys() | checks.RENAMED.keys()
    assert [name for name in names if name not in there and not hasattr(settings, name)] == []
    commands = re.findall(r"`manage\.py (\w+)`", text)
    assert commands and set(commands) <= set(get_commands()) | {"qcluster"}


# --- Marks ----------------------------------------------------------------------------------------

_SITE = ("tests.site", "tests.prepared")
SITES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}


def _starts_processes(tree: ast.Module) -> bool:
    """Return whether a test module imports more than paths from the modules that start sites."""
    taken = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in _SITE]
    return bool({alias.name for node in taken for alias in node.names} - {"ROOT", "PATIENCE"})


def test_the_record_of_durations_names_tests_that_there_are() -> None:
    """A test that was renamed or moved would no longer be marked as slow."""
    sources: dict[str, str] = {}
    gone = []
    for test, seconds in durations.recorded().items():
        file, *names = re.sub(r"\[.*", "", test, flags=re.DOTALL).split("::")
        if file not in sources:
            path = ROOT / file
            sources[file] = path.read_text(encoding="utf-8") if path.is_file() else ""
        if seconds < durations.SLOW or not all(re.search(rf"\b{name}\b", sources[file]) for name in names):
            gone.append(test)
    assert gone == [], "record them again: make nightly OPTIONS=--record-durations"


def test_no_test_is_marked_slow_by_hand() -> None:
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if ".mark.slow" in path.read_text(encoding="utf-8")]
    assert [path for path in marked if path != Path(__file__)] == []


def test_every_test_left_to_nightly_runs_is_listed() -> None:
    listed = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(
            r"pytest\.mark\.nightly|^from tests(\.nightly| import nightly)",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        and path != Path(__file__)
    ]
    assert [path for path in found if f"`{path}`" not in listed] == []


def test_what_starts_a_site_is_not_quick() -> None:
    starting = {path: text for path, text in SITES.items() if _starts_processes(ast.parse(text))}
    assert len(starting) > 10
    marked = re.compile(r"^pytestmark = .*pytest\.mark\.(site|browser)\b", re.MULTILINE)
    unmarked = [path for path, text in starting.items() if "benchmarks" not in path.parts and not marked.search(text)]
    assert unmarked == []


def test_a_conditional_expression_holds_no_other() -> None:
    """Nor is its result called: both are clearer as an `if` statement."""
    found = []
    for app in ("ragsite", "knowledge", "retrieval", "conversations", "tests", "tools"):
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if " if " not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                nested = isinstance(node, ast.IfExp) and {ast.IfExp} & {type(node.body), type(node.orelse)}
                if nested or (isinstance(node, ast.Call) and isinstance(node.func, ast.IfExp)):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []

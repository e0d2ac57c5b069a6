"""`manage.py embedding_models`: its output and actions, and downloads in a separate process."""

import json
import os
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from knowledge.models import KnowledgeBase
from ragsite.llm.embedding import model_files
from retrieval.embedding_models.models import RegisteredModel
from retrieval.engine import spaces
from retrieval.evaluation.models import EvaluationSet
from tests.fakes.hub import FakeHub
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)
HUB_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("embedding_models", *arguments, stdout=out)
    return out.getvalue()


def test_adding_trying_using_switching_back_and_removing(golden: EvaluationSet, stick: Path) -> None:
    archive = shutil.make_archive(str(stick), "gztar", stick.parent, stick.name)
    assert "Added pairs: 24 dimensions, mit." in run("add", archive)
    output = run("try", "pairs", "--set", "Golden")
    assert "Golden (Store)" in output
    assert "→ 1.000  (+" in output
    assert "Search now uses pairs." in run("use", "pairs")
    listed = run("list")
    assert listed.index("pairs  (in use)") < listed.index("bundled  (kept)")
    assert "en · mit" in listed
    assert "24 dimensions · 45 vectors" in listed
    with pytest.raises(CommandError, match="in use"):
        run("remove", "pairs")
    assert "Search now uses bundled." in run("back")
    assert spaces.active_space().model == "bundled"
    assert run("remove", "pairs") == "Removed pairs.\n"
    with pytest.raises(CommandError, match="no model to switch back to"):
        run("back")
    rows = json.loads(run("list", "--json"))
    assert [(row["name"], row["in_use"], row["vectors"]) for row in rows] == [("bundled", True, 45)]


def test_a_download_with_a_pinned_checksum(fake_hub: FakeHub, settings: Settings) -> None:
    with pytest.raises(CommandError, match="checksum"):
        run("add", HUB_MODEL, "--sha256", "0" * 64)
    right = model_files.sha256_of(Path(settings.BUNDLED_MODEL_DIR) / "model.onnx")
    assert f"{right}  model.onnx" in run("add", HUB_MODEL.lower(), "--sha256", f"model.onnx={right}")
    assert RegisteredModel.objects.get(name=HUB_MODEL).license == "mit"
    with pytest.raises(CommandError, match="not a SHA-256"):
        run("add", HUB_MODEL, "--sha256", "abc")


def test_languages_can_be_set_later(base: KnowledgeBase) -> None:
    assert run("languages", "bundled", "en,zh") == "bundled knows en, zh.\n"
    assert spaces.active_space().languages == ["en", "zh"]


def test_an_endpoint(base: KnowledgeBase, provider: FakeProvider, settings: Settings) -> None:
    settings.EMBEDDING_API_KEY = "my-key"
    run("add", "first", "--base-url", provider.base_url, "--languages", "all", "--dimension", "16")
    assert provider.headers[-1]["Authorization"] == "Bearer my-key"
    run("use", "first")
    space = spaces.active_space()
    assert (space.model, space.dimension, space.languages) == ("first", 16, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["use", "nothing"], "no embedding model named “nothing”"),
        (["remove", "bundled"], "in use"),
        (["add", "no/such-model"], "isn't a model that can be downloaded"),
        (["add", "/etc"], "config.json"),
        (["add", "/etc/hostname"], "neither a folder nor"),
        (["try", "bundled"], "no question set"),
        (["try", "bundled", "--set", "X"], "no question set"),
    ],
)
def test_errors(arguments: list[str], message: str, settings: Settings) -> None:
    settings.EMBEDDING_MODEL_MAX_MB = 10_000
    with pytest.raises(CommandError, match=message):
        run(*arguments)


def test_offered_models() -> None:
    assert "BAAI/bge-small-zh-v1.5  zh · mit · 90 MB · 512 dimensions" in run("offered")


_COMMAND = """
import django, sys
django.setup()
from django.core.management import call_command
from django.db import connection
connection.settings_dict["NAME"] = sys.argv[1]
call_command("embedding_models", "add", sys.argv[2])
"""


@pytest.mark.site
def test_the_hub_is_set_by_the_environment(fake_hub: FakeHub, settings: Settings) -> None:
    from django.db import connection

    environment = os.environ | {"HF_ENDPOINT": fake_hub.url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    environment.pop("HF_HUB_OFFLINE", None)
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, str(connection.settings_dict["NAME"]), HUB_MODEL],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "384 dimensions, mit" in done.stdout
    model = RegisteredModel.objects.get(name=HUB_MODEL)
    assert (model.state, model.source) == ("ready", "hub")

"""Trying a reader: the page, its permissions, and the command."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from ragsite.llm.reranking import reader
from retrieval.evaluation import runs
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.readers import registry, trial
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/admin/retrieval/readers/"


def page(client: Client, address: str = PAGE, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200, response.status_code
    return " ".join(str(response.content.decode()).split())


def staff_with(*codenames: str) -> Client:
    user = factories.make_user("helper", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(user)
    return client


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("readers", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_the_page_lists_the_readers(as_staff: Client, tiny: Path, settings: Settings) -> None:
    shown = page(as_staff)
    assert "sets READER_MODEL to off" in shown and shown.count("English, Chinese") == 2
    settings.READER_MODEL, settings.ENABLE_READER = "tiny", True
    shown = page(as_staff)
    for text in (">In use<", "mit", "apache-2.0", "Added from files", "Included with the site", "and where", "present"):
        assert text in shown, text
    assert f'{reverse("pipeline-settings")}#setting-READER_TIMEOUT"' in shown
    assert "This site has no question sets yet" in shown
    settings.ENABLE_READER = False
    assert ">Off<" in page(as_staff)
    settings.READER_MODEL = "/no/such/folder"
    assert "Can&#x27;t be loaded" in page(as_staff) and "is not a folder" in page(as_staff)


def test_a_trial_from_start_to_comparison(as_staff: Client, staff: User, golden: EvaluationSet, tiny: Path) -> None:
    golden.knowledge_base.owner = staff
    golden.knowledge_base.save()
    assert "Golden (Store)" in page(as_staff)
    wrong = as_staff.post(PAGE, {"reader": "no", "sets": [golden.pk]})
    assert wrong.status_code == 200 and not golden.runs.exists()
    assert as_staff.post(PAGE, {"reader": "tiny", "sets": [golden.pk]}).status_code == 302
    now, then = golden.runs.order_by("pk")
    assert (now.settings, then.settings) == ({"mode": "hybrid"}, {"mode": "hybrid", "reader_model": "tiny"})
    shown = page(as_staff)
    assert "Waiting" in shown and 'hx-trigger="every 2s"' in shown
    assert runs.execute(now.pk) and runs.execute(then.pk)
    shown = page(as_staff)
    compared = f"{reverse('evaluation-run', args=[then.pk])}?with={now.pk}"
    assert compared in shown and "1.000" in shown and "hx-trigger" not in shown
    assert re.search(r'model-better">\+0\.\d\d\d<', shown) and re.search(r"\d+ ms", shown)
    assert as_staff.get(PAGE, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert "hybrid · reader on trial: tiny" in page(as_staff, compared)
    # Runs on trial don't count as the site's figures.
    now.refresh_from_db()
    assert f"{now.figures['MRR@10']:.3f}" in page(as_staff, reverse("evaluation"))


def test_a_reader_that_cannot_be_loaded_fails_the_run(
    as_staff: Client, owner: User, golden: EvaluationSet, tiny: Path
) -> None:
    (tiny / "model.onnx").write_bytes(b"no model")
    trial.start(trial.tryable("tiny"), [golden], owner)
    then = golden.runs.get(settings__has_key="reader_model")
    assert not runs.execute(then.pk)
    assert [runs.execute(each.pk) for each in golden.runs.filter(status="queued")] == [True]
    assert "The reader on trial can&#x27;t be loaded." in page(as_staff)


def test_permissions(as_owner: Client, golden: EvaluationSet, tiny: Path) -> None:
    assert as_owner.get(PAGE).status_code == 302
    trial.start(trial.tryable("tiny"), [golden], golden.owner)
    looker = staff_with("view_registeredmodel")
    shown = page(looker)
    assert "apache-2.0" in shown and "Try a reader" not in shown and "Golden" not in shown
    assert f'href="{PAGE}" aria-current="page"' in shown
    sent = {"reader": "tiny", "sets": [golden.pk]}
    assert looker.post(PAGE, sent).status_code == 403
    user = User.objects.get(username="helper")
    user.user_permissions.set(Permission.objects.filter(codename="view_group"))
    assert looker.get(PAGE).status_code == 403 and PAGE not in page(looker, reverse("admin:index"))
    # Users who may not view a set can't use it in a trial.
    may_try = Permission.objects.filter(codename__in=["view_registeredmodel", "change_registeredmodel"])
    user.user_permissions.set(may_try)
    before = golden.runs.count()
    assert looker.post(PAGE, sent).status_code == 200 and golden.runs.count() == before


def test_trials_take_a_constant_number_of_queries(
    as_staff: Client, golden: EvaluationSet, tiny: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _count in range(4):
        EvaluationRun.objects.create(evaluation_set=golden, settings=RunOptions().to_dict(), status="done")
        tried = RunOptions(reader_model="tiny").to_dict()
        figures = {"nDCG@10": 0.5, "recall@5": 0.5, "recall@10": 0.5, "MRR@10": 0.5}
        EvaluationRun.objects.create(evaluation_set=golden, settings=tried, status="done", figures=figures)
    with django_assert_max_num_queries(12):
        assert page(as_staff).count("tiny on “Golden”") == 4


def test_users_cannot_name_a_reader() -> None:
    with pytest.raises(ValueError, match="reader_model"):
        RunOptions.from_dict({"reader_model": "/etc"})


def test_the_command(golden: EvaluationSet, tiny: Path, settings: Settings) -> None:
    output = command("list")
    assert "bundled  (Ready)" in output and "en, zh · mit" in output and "READER_MODEL is off" in output
    rows = json.loads(command("list", "--json"))
    assert [(row["name"], row["calibrated"]) for row in rows] == [("bundled", True), ("tiny", True)]
    output = command("try", "tiny", "--set", "Golden")
    assert "Golden (Store), questions: 2" in output and re.search(r"MRR@10 +0\.\d+ +1\.000\n", output)
    assert re.search(r"Answered +\d +\d\n", output) and re.search(r"Per question +\d+ ms +\d+ ms\n", output)
    for arguments, message in (
        (["no"], "no reader named “no”"),
        (["tiny", "--set", "No"], "no question set named 'No'"),
    ):
        with pytest.raises(CommandError, match=message):
            command("try", *arguments)
    settings.READER_MODEL, settings.ENABLE_READER = "tiny", True
    with pytest.raises(CommandError, match="already in use"):
        command("try", "tiny")
    assert registry.all_readers()[0].name == "tiny"
    reader.forget_readers()

"""The admin pages of embedding models, their permissions, and notices on unknown languages."""

from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.core.checks import Tags, run_checks
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from knowledge.models import Document, KnowledgeBase
from ragsite.llm.embedding import model_files
from ragsite.llm.errors import AddressRefused
from retrieval.embedding_models import jobs, notices
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.engine import spaces
from retrieval.evaluation.models import EvaluationSet
from retrieval.models import EmbeddingSpace
from tests import factories
from tests.fakes.hub import FakeHub
from tests.fakes.provider import FakeProvider
from tests.retrieval.embedding_models.conftest import add, done
from tests.retrieval.engine.test_spaces import use_endpoint

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/admin/retrieval/registeredmodel/"
ADD = f"{LIST}add/"
HUB_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def page(client: Client, address: str = LIST, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200, response.status_code
    return str(response.content.decode())


def page_of(model: RegisteredModel) -> str:
    return reverse("admin:retrieval_registeredmodel_change", args=[model.pk])


def do(client: Client, model: RegisteredModel, action: str) -> str:
    response = client.post(page_of(model), {"action": action}, follow=True)
    return str(response.content.decode())


def archive(stick: Path) -> SimpleUploadedFile:
    import shutil

    return SimpleUploadedFile("pairs.tar.gz", Path(shutil.make_archive(str(stick), "gztar", stick)).read_bytes())


def test_from_the_upload_to_the_switch_and_back(as_staff: Client, golden: EvaluationSet, stick: Path) -> None:
    response = as_staff.post(ADD, {"source": "files", "files-archive": archive(stick), "files-languages": "en,zh"})
    model = RegisteredModel.objects.get(name="pairs")
    assert response["Location"] == page_of(model)
    shown = page(as_staff, page_of(model))
    assert "Waiting for a worker" in shown
    assert 'hx-trigger="every 2s"' in shown
    assert done(model.jobs.get()).status == "done"
    uploads = model_files.folder_of("any").parent.parent / "uploads"
    assert not list(uploads.iterdir())
    shown = page(as_staff)
    assert "English, Chinese" in shown
    assert "hx-trigger" not in shown
    assert as_staff.get(LIST, headers={"HX-Request": "true"})["HX-Refresh"] == "true"

    do(as_staff, model, "try")
    assert done(model.jobs.latest("pk")).status == "done"
    shown = page(as_staff, page_of(model))
    assert "Trial compared with “bundled”" in shown
    assert "Golden" in shown
    assert "1.000" in shown
    assert "takes about 1 minute" in shown

    do(as_staff, model, "use")
    assert done(model.jobs.latest("pk")).status == "done"
    assert spaces.active_space().model == "pairs"
    assert "Switch back" in page(as_staff)
    bundled = RegisteredModel.objects.get(name="bundled")
    do(as_staff, bundled, "use")
    assert done(bundled.jobs.latest("pk")).status == "done"
    assert spaces.active_space().model == "bundled"

    delete = reverse("admin:retrieval_registeredmodel_delete", args=[model.pk])
    assert "pairs" in page(as_staff, delete)
    as_staff.post(delete, {"post": "yes"})
    assert not RegisteredModel.objects.filter(name="pairs").exists()
    assert list(EmbeddingSpace.objects.values_list("model", flat=True)) == ["bundled"]
    assert model_files.added("pairs") is None


def test_runs_of_a_model_on_trial_are_labelled(as_owner: Client, golden: EvaluationSet, stick: Path) -> None:
    assert done(jobs.start(add(stick), "try")).status == "done"
    now, then = golden.runs.order_by("pk")
    listed = page(as_owner, reverse("evaluation"))
    assert f"{now.figures['nDCG@10']:.3f}" in listed
    assert f"{then.figures['nDCG@10']:.3f}" not in listed
    shown = page(as_owner, reverse("evaluation-set", args=[golden.pk]))
    assert "hybrid · model on trial: pairs" in shown


def test_a_bad_archive_is_reported_and_deleted(as_staff: Client, base: KnowledgeBase) -> None:
    bad = SimpleUploadedFile("words.zip", b"PK\x03\x04 nothing")
    as_staff.post(ADD, {"source": "files", "files-archive": bad})
    model = RegisteredModel.objects.get(name="words")
    assert done(model.jobs.get()).status == "failed"
    shown = page(as_staff, page_of(model))
    assert "neither a folder nor a zip or tar.gz archive" in shown
    assert "Resume" not in shown
    assert not list((model_files.folder_of("any").parent.parent / "uploads").iterdir())
    assert "The uploaded file no longer exists" in do(as_staff, model, "go-on")
    # It can be uploaded again under the same name.
    bad.seek(0)
    assert as_staff.post(ADD, {"source": "files", "files-archive": bad}).status_code == 302


def test_a_download(as_staff: Client, fake_hub: FakeHub) -> None:
    shown = page(as_staff, ADD)
    assert "paraphrase-multilingual-MiniLM" in shown
    wrong = as_staff.post(ADD, {"source": "hub", "hub-name": HUB_MODEL, "hub-sha256": "abc"})
    assert "Enter a SHA-256 checksum" in wrong.content.decode()
    unknown = as_staff.post(ADD, {"source": "hub", "hub-name": "no/such"})
    assert unknown.status_code == 200
    fake_hub.break_after = [1_000_000, 0, 0, 0, 0, 0]
    as_staff.post(ADD, {"source": "hub", "hub-name": HUB_MODEL})
    model = RegisteredModel.objects.get(name=HUB_MODEL)
    assert done(model.jobs.get()).status == "failed"
    assert "The downloaded part is kept" in page(as_staff)
    fake_hub.break_after.clear()
    do(as_staff, model, "go-on")
    assert done(model.jobs.latest("pk")).status == "done"
    shown = page(as_staff, page_of(model))
    assert model.jobs.latest("pk").model.revision in shown
    assert "SHA-256" in shown


def test_an_endpoints_key_is_never_shown(as_staff: Client, provider: FakeProvider) -> None:
    data = {
        "source": "endpoint", "endpoint-base_url": f"{provider.base_url}/", "endpoint-name": "first",
        "endpoint-key": "my-key", "endpoint-languages": "all", "endpoint-own_network": "on",
    }  # fmt: skip
    as_staff.post(ADD, data)
    model = RegisteredModel.objects.get(name="first")
    assert done(model.jobs.get()).status == "done"
    shown = page(as_staff, page_of(model))
    assert "stored, encrypted" in shown
    assert "my-key" not in shown + page(as_staff)
    assert "every language" in shown
    bad = as_staff.post(ADD, data | {"endpoint-base_url": "file:///etc", "endpoint-key": "a key\tb"})
    assert bad.status_code == 200
    assert "Enter a valid URL" in bad.content.decode()


def test_local_endpoints_need_permission(as_staff: Client, provider: FakeProvider) -> None:
    data = {"source": "endpoint", "endpoint-base_url": provider.base_url, "endpoint-name": "first"}
    refused = as_staff.post(ADD, data).content.decode()
    assert "Confirm that the server is yours" in refused
    reserved = as_staff.post(ADD, data | {"endpoint-base_url": "http://169.254.169.254/v1"}).content.decode()
    assert "reserved for network services" in reserved
    assert provider.connections == 0 and not RegisteredModel.objects.filter(name="first").exists()
    as_staff.post(ADD, data | {"endpoint-own_network": "on"})
    model = RegisteredModel.objects.get(name="first")
    assert done(model.jobs.get()).status == "done" and model.reached().own_network
    # The address that its name resolves to is checked at each request, also for the active space.
    space = spaces.find_or_create(model.reached(), 64)
    assert spaces.embedder_of(space).embed_query("word").shape == (64,)
    RegisteredModel.objects.update(own_network=False)
    model.refresh_from_db()
    asked, space = provider.connections, spaces.find_or_create(model.reached(), 64)
    with pytest.raises(AddressRefused, match="add the model again under “Embedding models”") as caught:
        spaces.embedder_of(space).embed_query("another")
    message = caught.value.message_for_staff
    assert "in its model profile" not in message and "See “Embedding models” in the administration." in message
    assert provider.connections == asked


def test_languages_can_be_changed_later(as_staff: Client, base: KnowledgeBase, settings: Settings) -> None:
    bundled = RegisteredModel.objects.get(pk=add_bundled(as_staff))
    space = spaces.active_space()
    of_its_card = spaces.embedder_of(space).languages
    for chosen, known in (("en,zh", ["en", "zh"]), ("all", []), ("", of_its_card)):
        as_staff.post(page_of(bundled), {"action": "languages", "languages": chosen})
        space.refresh_from_db()
        bundled.refresh_from_db()
        assert bundled.languages == space.languages == known
    settings.EMBEDDING_LANGUAGES = ("zh",)
    shown = as_staff.post(page_of(bundled), {"action": "languages", "languages": "all"}, follow=True)
    assert "EMBEDDING_LANGUAGES in the environment" in shown.content.decode()


def add_bundled(client: Client) -> int:
    page(client)
    return RegisteredModel.objects.get(name="bundled").pk


def test_stopping(as_staff: Client, fake_hub: FakeHub) -> None:
    as_staff.post(ADD, {"source": "hub", "hub-name": HUB_MODEL})
    model = RegisteredModel.objects.get(name=HUB_MODEL)
    shown = do(as_staff, model, "stop")
    assert "Stopped" in shown
    assert "Resume" in shown
    assert not jobs.execute(model.jobs.get().pk)


def test_a_model_named_in_the_environment(
    as_staff: Client, base: KnowledgeBase, stick: Path, settings: Settings, provider: FakeProvider
) -> None:
    model = add(stick)
    assert "Use this model" in page(as_staff)
    use_endpoint(settings, provider)
    shown = page(as_staff)
    assert "sets the model to “first” (EMBEDDING_PROVIDER, EMBEDDING_MODEL)" in shown
    assert shown.count("Use this model") == 1  # only for the model named in the environment
    assert "Change it there" in do(as_staff, model, "use")
    assert not ModelJob.objects.filter(kind="use").exists()


def test_each_action_needs_its_permission(base: KnowledgeBase, golden: EvaluationSet, stick: Path) -> None:
    model = add(stick)
    done(jobs.start(model, "try"))
    looker = factories.make_user("looker", is_staff=True)
    client = Client()
    client.force_login(looker)
    address = page_of(model)
    delete = reverse("admin:retrieval_registeredmodel_delete", args=[model.pk])
    for closed in (LIST, ADD, address, delete):
        assert client.get(closed).status_code == 403
        assert client.post(closed, {"action": "use"}).status_code == 403
    looker.user_permissions.add(Permission.objects.get(codename="view_registeredmodel"))
    shown = page(client, address)
    assert "Golden" not in shown  # needs the permission to view question sets
    assert "1.000" in shown
    assert 'name="action"' not in shown + page(client)
    assert client.post(address, {"action": "use"}).status_code == 403
    assert client.get(ADD).status_code == client.get(delete).status_code == 403
    looker.user_permissions.add(Permission.objects.get(codename="change_registeredmodel"))
    assert client.post(address, {"action": "use"}).status_code == 302
    assert model.jobs.filter(kind="use").exists()
    assert client.get(ADD).status_code == 403
    jobs.stop(model.jobs.get(kind="use"))
    bundled = RegisteredModel.objects.get(name="bundled")
    assert client.post(page_of(bundled), {"action": "drop"}).status_code == 403


def test_only_staff_see_the_pages(as_owner: Client, base: KnowledgeBase) -> None:
    assert as_owner.get(LIST).status_code == 302


# --- Languages ------------------------------------------------------------------------------------


@pytest.fixture
def chinese(base: KnowledgeBase) -> KnowledgeBase:
    document = factories.make_document(base, language="zh")
    factories.make_chunks(document, [f"第{number}段。" for number in range(50)])
    EmbeddingSpace.objects.update(languages=["en"])
    cache.clear()
    return base


def test_a_base_in_an_unknown_language(
    chinese: KnowledgeBase, as_owner: Client, as_colleague: Client, as_staff: Client, colleague: User
) -> None:
    factories.share(chinese, colleague)
    address = reverse("knowledge-base", args=[chinese.pk])
    shown = page(as_owner, address)
    assert "53% of the passages here are in Chinese" in shown
    assert "An administrator can choose another model." in shown
    assert LIST not in shown
    assert "passages here are in" not in page(as_colleague, address)  # a mere reader
    staff = User.objects.get(username="staff")
    factories.share(chinese, staff)
    assert f'href="{LIST}"' in page(as_staff, address)
    assert "53% of this site&#x27;s passages" in page(as_staff, "/admin/").replace("&#39;", "&#x27;").replace(
        "'", "&#x27;"
    )
    assert "passages are in Chinese" in page(as_staff)
    (warning,) = [
        each for each in run_checks(tags=[Tags.database], databases=["default"]) if each.id == "retrieval.W002"
    ]
    assert "53% of the passages are in a language (zh)" in warning.msg
    assert "supports this site" not in page(as_staff, ADD).partition("multilingual-MiniLM")[0]
    assert "supports this site" in page(as_staff, ADD).partition("multilingual-MiniLM")[2]


def test_the_notice_appears_with_the_first_such_document(base: KnowledgeBase, as_owner: Client) -> None:
    EmbeddingSpace.objects.update(languages=["en"])
    cache.clear()
    address = reverse("knowledge-base", args=[base.pk])
    shown = page(as_owner, address)
    assert "passages here are in" not in shown and 'hx-trigger="document-read from:body' in shown
    factories.make_chunks(factories.make_document(base, language="zh"), [f"第{number}段。" for number in range(50)])
    asked = as_owner.get(address, headers={"HX-Request": "true", "HX-Target": "language-notice"}).content.decode()
    assert "of the passages here are in Chinese" in asked
    assert asked.strip().startswith('<div id="language-notice"') and "<table" not in asked


def test_no_notice_if_most_passages_are_in_a_known_language(
    chinese: KnowledgeBase, as_owner: Client, as_staff: Client
) -> None:
    address = reverse("knowledge-base", args=[chinese.pk])
    space = spaces.active_space()
    for known in ([], ["en", "zh"], ["zh"]):
        EmbeddingSpace.objects.filter(pk=space.pk).update(languages=known)
        assert notices.notice_of() is None
        assert 'class="language-notice"' not in page(as_owner, address)
    EmbeddingSpace.objects.filter(pk=space.pk).update(languages=["en"])
    Document.objects.filter(language="zh").update(language="")  # unknown
    cache.clear()
    assert notices.notice_of(chinese.pk) is None


def test_an_empty_site(as_staff: Client) -> None:
    assert notices.notice_of() is None
    assert "which the embedding model" not in page(as_staff, "/admin/")
    assert "bundled" in page(as_staff)

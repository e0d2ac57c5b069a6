"""Bulk actions: at once or by a worker, each document completely, with reasons for those left unchanged."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django_q.models import OrmQ

from knowledge import access, services
from knowledge.many import bulk
from knowledge.models import Attachment, BulkJob, Document, KnowledgeBase
from ragsite.exceptions import Refused
from ragsite.limits.models import Limit
from retrieval.engine import fulltext, indexing, spaces, vectors
from retrieval.models import CorpusSize, IndexEntry, TermFrequency, Vector, VectorCount
from tests import factories
from tests.retrieval.counts import counted

pytestmark = pytest.mark.django_db


def make(base: KnowledgeBase, count: int, **fields: object) -> list[Document]:
    return [factories.make_document(base, f"{number}.txt", **fields) for number in range(count)]


def ids(documents: list[Document]) -> list[int]:
    return [each.pk for each in documents]


def test_many_are_tagged_by_a_worker_batch_by_batch(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    base = factories.make_knowledge_base(owner)
    monkeypatch.setattr(bulk, "AT_ONCE", 3)
    monkeypatch.setattr(bulk, "BATCH", 2)
    documents = make(base, 5)
    job = bulk.start(owner, base, "tag", ids(documents), tags=["red"])
    assert (job.status, job.done, OrmQ.objects.count()) == ("queued", 0, 1)
    assert bulk.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.changed) == ("done", 5, 5)
    assert base.documents.filter(tags=["red"]).count() == 5
    assert not bulk.run(job.pk)  # once


def test_a_job_continues_after_its_worker_was_killed(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    base = factories.make_knowledge_base(owner)
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    monkeypatch.setattr(bulk, "BATCH", 2)
    documents = make(base, 4)
    job = bulk.start(owner, base, "delete", ids(documents))
    assert bulk._batch(job.pk, job.document_ids)
    BulkJob.objects.filter(pk=job.pk).update(status="running", heartbeat_at="2020-01-01T00:00Z")
    assert base.documents.count() == 2
    assert bulk.resume_stalled() == 1
    assert bulk.run(job.pk)
    job.refresh_from_db()
    assert (job.done, job.changed, base.documents.count()) == (4, 4, 0)


def test_deleting_more_documents_takes_few_more_queries(
    owner: User, django_assert_max_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    base = factories.make_knowledge_base(owner)
    documents = make(base, 40)
    for each in documents:
        factories.make_chunk(each, "Pumps are oiled.")
        indexing.index_words(each.pk)
    with django_assert_max_num_queries(50 + 5 * len(documents)):
        bulk.start(owner, base, "delete", ids(documents))
    assert not base.documents.exists() and not IndexEntry.objects.exists()
    assert CorpusSize.objects.get(pk=base.pk).chunks == 0
    assert not TermFrequency.objects.filter(document_frequency__gt=0).exists()


def test_a_job_fails_once_its_user_loses_access(owner: User, colleague: User) -> None:
    base = factories.make_knowledge_base(owner)
    share = factories.share(base, colleague, "editor")
    documents = make(base, 51)
    job = bulk.start(colleague, base, "delete", ids(documents))
    share.delete()
    bulk.run(job.pk)
    job.refresh_from_db()
    assert job.status == "failed"
    assert base.documents.count() == 51


def test_a_jobs_error_is_in_the_readers_language(
    as_owner: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise KeyError("secret")

    base = factories.make_knowledge_base(owner)
    monkeypatch.setitem(bulk._ACTIONS, "tag", broken)
    with translation.override("zh-hans"):
        job = bulk.start(owner, base, "tag", ids(make(base, 1)), tags=["red"])
    assert (job.status, job.error) == ("failed", "unexpected.KeyError")
    for language, said in (("en", "An unexpected error occurred (KeyError)"), ("zh-hans", "意外错误（KeyError）")):
        answer = as_owner.get(reverse("api-bulk-job", args=[job.pk]), headers={"accept-language": language}).json()
        assert said in answer["error"]
        as_owner.get(f"/knowledge/bulk-jobs/{job.pk}/", headers={"accept-language": language})
        page = as_owner.get(f"/knowledge/{base.pk}/", headers={"accept-language": language}).content.decode()
        assert said in page
    job.error = "What older jobs kept. As it was."
    assert bulk.error_of(job) == job.error


def test_only_failures_that_may_succeed_are_retried(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    failed = factories.make_document(base, "a.txt", status="failed", error_code="worker_lost")
    locked = factories.make_document(base, "b.pdf", status="failed", error_code="encrypted")
    ready = factories.make_document(base, "c.txt")
    job = bulk.start(owner, base, "retry", ids([failed, locked, ready]))
    assert job.changed == 1
    assert job.told == {
        "not_retryable": {"count": 1, "names": ["b.pdf"]},
        "not_failed": {"count": 1, "names": ["c.txt"]},
    }
    assert [each.status for each in base.documents.order_by("pk")] == ["queued", "failed", "ready"]


def test_documents_of_another_base_are_left_alone(owner: User) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    [there] = make(other, 1)
    job = bulk.start(owner, base, "delete", [there.pk])
    assert (job.changed, job.told["gone"]["count"]) == (0, 1)
    assert other.documents.count() == 1


def test_moved_documents_are_found_in_the_other_base_as_if_indexed_there(owner: User) -> None:
    base, other, plain = (factories.make_knowledge_base(owner) for _ in range(3))
    texts = ["The harbour has three cranes.", "Cranes lift the barrels of oil.", "Whales pass in May."]
    for home in (base, plain):
        for number, text in enumerate(texts):
            document = factories.make_document(home, f"{number}.txt", text.encode())
            factories.make_chunk(document, text)
            factories.index_document(document.pk)
    documents = list(base.documents.order_by("pk"))
    chunks = set(IndexEntry.objects.filter(knowledge_base=base).values_list("chunk_id", flat=True))
    job = bulk.start(owner, base, "move", ids(documents), target=other)
    assert (job.status, job.changed, job.told) == ("done", 3, {})
    assert counted(base) == (0, 0)
    assert counted(other) == counted(plain) == (3, 3)
    assert set(IndexEntry.objects.filter(knowledge_base=other).values_list("chunk_id", flat=True)) == chunks
    assert not Vector.objects.filter(knowledge_base=base).exists()

    def frequencies(home: KnowledgeBase) -> dict[int, int]:
        rows = TermFrequency.objects.filter(knowledge_base=home, document_frequency__gt=0)
        return dict(rows.values_list("term", "document_frequency"))

    assert frequencies(base) == {}
    assert frequencies(other) == frequencies(plain)
    assert fulltext.search("cranes", [base.pk], 5) == []
    scores = [[score for _pk, score in fulltext.search("cranes oil", [home.pk], 5)] for home in (other, plain)]
    assert scores[0] == scores[1] != []
    space = spaces.active_space()
    vector = spaces.embed_query(space, "cranes")
    assert [len(vectors.search(space, vector, [home.pk], 5)) for home in (base, other)] == [0, 3]
    services.delete_knowledge_base(other)
    assert not IndexEntry.objects.filter(pk__in=chunks).exists()
    assert CorpusSize.objects.filter(chunks__lt=0).count() == VectorCount.objects.filter(vectors__lt=0).count() == 0


def test_documents_that_can_not_be_moved_stay_with_a_reason(owner: User) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    same = factories.make_document(base, "same.txt", b"the same")
    factories.make_document(other, "otherwise.txt", b"the same")
    named = factories.make_document(base, "name.txt", b"one")
    factories.make_document(other, "name.txt", b"two")
    busy = factories.make_document(base, "busy.txt", status="parsing")
    job = bulk.start(owner, base, "move", ids([same, named, busy]), target=other)
    assert job.changed == 1
    assert {code: entry["names"] for code, entry in job.told.items()} == {
        "already_there": ["same.txt"],
        "busy": ["busy.txt"],
        "same_name": ["name.txt"],
    }
    assert set(base.documents.values_list("pk", flat=True)) == {same.pk, busy.pk}


def test_a_mail_is_moved_with_its_attachments(owner: User) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    mail, second = factories.make_document(base, "a.eml"), factories.make_document(base, "b.eml")
    own = factories.make_document(base, "own.txt", is_attachment=True)
    common = factories.make_document(base, "common.txt", is_attachment=True)
    for carrier, document in ((mail, own), (mail, common), (second, common)):
        Attachment.objects.create(mail=carrier, document=document, name=document.original_filename, size=1)
    bulk.start(owner, base, "move", [mail.pk], target=other)
    assert set(other.documents.values_list("pk", flat=True)) == {mail.pk, own.pk}
    assert [item.document for item in mail.attachments.all()] == [own, None]
    assert base.documents.filter(pk=common.pk).exists()


def carry(mail: Document, *documents: Document) -> None:
    for each in documents:
        Attachment.objects.create(mail=mail, document=each, name=each.original_filename, size=1)


def attach(mail: Document, *names: str, **fields: object) -> list[Document]:
    base = mail.knowledge_base
    documents = [factories.make_document(base, name, is_attachment=True, **fields) for name in names]
    carry(mail, *documents)
    return documents


@pytest.mark.parametrize("why", ["storage_full", "already_there", "busy"])
def test_a_mail_that_is_refused_keeps_its_attachments(owner: User, colleague: User, why: str) -> None:
    base, target = factories.make_knowledge_base(owner), factories.make_knowledge_base(colleague)
    factories.share(target, owner, "editor")
    mail, fits = factories.make_document(base, "a.eml"), factories.make_document(base, "b.eml")
    [first, second], [other] = attach(mail, "1.txt", "2.txt"), attach(fits, "3.txt")
    if why == "storage_full":  # each one fits, but not all three
        Limit.objects.create(user=colleague, storage_mb=1)
        base.documents.exclude(pk__in=[fits.pk, other.pk]).update(size=400 * 1024)
    elif why == "already_there":
        Document.objects.filter(pk__in=ids(make(target, 1))).update(sha256=mail.sha256)
    else:
        Document.objects.filter(pk=second.pk).update(status="parsing")
    for chosen in ([mail, fits], [mail, first, second, fits, other]):
        Document.objects.filter(pk__in=ids([fits, other])).update(knowledge_base=base)
        job = bulk.start(owner, base, "move", ids(chosen), target=target)
        assert set(ids(list(base.documents.all()))) == {mail.pk, first.pk, second.pk}
        assert {fits.pk, other.pk} <= set(ids(list(target.documents.all())))
        assert [item.document for item in mail.attachments.all()] == [first, second]
        expected = {why: {"count": 1, "names": ["a.eml"]}}
        if first in chosen:
            expected["with_mail"] = {"count": 2, "names": ["1.txt", "2.txt"]}
        assert (job.told, job.changed) == (expected, len(chosen) - sum(each["count"] for each in expected.values()))


def test_an_attachment_stays_with_its_mail(owner: User) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    mail, second = factories.make_document(base, "a.eml"), factories.make_document(base, "b.eml")
    [common] = attach(mail, "common.txt")
    carry(second, common)
    for chosen in ([common], [mail, common]):
        job = bulk.start(owner, base, "move", ids(chosen), target=other)
        assert job.told == {"with_mail": {"count": 1, "names": ["common.txt"]}} and job.changed == len(chosen) - 1
        assert base.documents.filter(pk=common.pk).exists()


def test_nested_mails_are_moved_together(owner: User, django_capture_on_commit_callbacks: object) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    mail = factories.make_document(base, "a.eml")
    [inner] = attach(mail, "inner.eml")
    [deep, there] = attach(inner, "deep.txt", "there.txt")
    same = factories.make_document(other, "else.txt")
    Document.objects.filter(pk=same.pk).update(sha256=there.sha256)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        job = bulk.start(owner, base, "move", [mail.pk], target=other)
    assert (job.told, job.changed) == ({}, 1)
    assert not base.documents.exists()
    names = [item.document.original_filename for item in inner.attachments.all() if item.document]
    assert names == ["deep.txt", "else.txt"] and other.documents.filter(pk=deep.pk).exists()


def test_mails_of_several_batches_move_shared_attachments(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    monkeypatch.setattr(bulk, "BATCH", 1)
    mail = factories.make_document(base, "a.eml")
    [common] = attach(mail, "common.txt")
    second = factories.make_document(base, "b.eml")
    carry(second, common)
    job = bulk.start(owner, base, "move", ids([mail, common, second]), target=other)
    assert (job.told, job.changed) == ({}, 3)
    assert not base.documents.exists()
    assert [item.document for item in Attachment.objects.all()] == [common, common]


@pytest.mark.parametrize(
    ("action", "fields", "code"),
    [("move", {}, "no_target"), ("tag", {}, "nothing"), ("describe", {}, "nothing")],
)
def test_incomplete_jobs_are_refused(owner: User, action: str, fields: dict[str, object], code: str) -> None:
    base = factories.make_knowledge_base(owner)
    with pytest.raises(Refused) as refused:
        bulk.start(owner, base, action, ids(make(base, 1)), **fields)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_without_documents_the_job_is_done(owner: User) -> None:
    job = bulk.start(owner, factories.make_knowledge_base(owner), "retry", [])
    assert (job.status, job.total, job.changed) == ("done", 0, 0)


def test_by_api(as_owner: Client, as_colleague: Client, owner: User, colleague: User) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    factories.share(base, colleague)
    documents = make(base, 3, folder="guide/admin")
    address = f"/api/knowledge-bases/{base.pk}/documents/bulk"

    def post(client: Client, body: dict[str, object]) -> tuple[int, dict[str, object]]:
        response = client.post(address, body, content_type="application/json")
        return response.status_code, response.json()

    code, job = post(as_owner, {"action": "tag", "filter": {"folder": "guide"}, "tags": ["red"]})
    assert (code, job["status"], job["changed"]) == (200, "done", 3)
    assert as_owner.get(f"/api/bulk-jobs/{job['id']}").json() == job
    assert post(as_colleague, {"action": "delete", "filter": {}})[0] == 403
    assert post(as_owner, {"action": "delete"})[0] == 400
    for slip in ({"state": "fialed"}, {"state": ""}, {"type": "pdff"}, {"stat": "failed"}, {"sort": "size"}):
        assert post(as_owner, {"action": "delete", "filter": slip})[0] == 400
    assert post(as_owner, {"action": "move", "documents": [documents[0].pk], "target": other.pk})[1]["changed"] == 1
    fields = {"action": "describe", "filter": {"tag": "red"}, "metadata": {"year": 2026}}
    assert post(as_owner, fields)[1]["changed"] == 2
    listed = as_owner.get(f"/api/knowledge-bases/{base.pk}/documents", {"tag": "red", "sort": "name"}).json()
    assert [(each["filename"], each["metadata"]) for each in listed["results"]] == [
        ("1.txt", {"year": 2026}),
        ("2.txt", {"year": 2026}),
    ]
    for slip in ({"state": "fialed"}, {"type": "pdff"}, {"sort": "sise"}):
        refused = as_owner.get(f"/api/knowledge-bases/{base.pk}/documents", slip)
        assert refused.status_code == 400 and list(refused.json()["errors"]) == list(slip)
    patched = as_owner.patch(
        f"/api/documents/{documents[1].pk}", {"tags": ["blue"], "metadata": {}}, content_type="application/json"
    )
    assert (patched.json()["tags"], patched.json()["metadata"]) == (["blue"], {})
    assert not access.editable(colleague).filter(pk=base.pk).exists()


def test_readable_documents_are_queued_again(owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    failed, cancelled, unreadable = (
        factories.make_document(base, f"{number}.txt", f"{number}".encode(), file=f"{number}.txt", **fields)
        for number, fields in enumerate(
            (
                {"status": "failed", "error_code": "database", "attempt": 3},
                {"status": "cancelled"},
                {"status": "failed", "error_code": "encrypted"},
            )
        )
    )
    job = bulk.start(owner, base, "retry", ids([failed, cancelled, unreadable]))
    assert (job.status, job.changed) == ("done", 2) and set(job.told) == {"not_retryable"}
    states = {each.pk: (each.status, each.error_code, each.attempt) for each in base.documents.all()}
    assert states[failed.pk] == states[cancelled.pk] == ("queued", "", 0)
    assert states[unreadable.pk][0] == "failed"


def test_documents_beyond_another_owners_storage_stay(owner: User, colleague: User) -> None:
    base, target = factories.make_knowledge_base(owner), factories.make_knowledge_base(colleague)
    factories.share(target, owner, "editor")
    Limit.objects.create(user=colleague, storage_mb=1)
    documents = make(base, 3)
    Document.objects.filter(pk__in=ids(documents)).update(size=600 * 1024)
    job = bulk.start(owner, base, "move", ids(documents), target=target)
    assert (job.changed, job.told["storage_full"]["count"]) == (1, 2)
    assert (target.documents.count(), base.documents.count()) == (1, 2)
    Limit.objects.update(user=owner)  # the owner of both bases stores as much as before
    job = bulk.start(
        owner, base, "move", ids(list(base.documents.all())), target=factories.make_knowledge_base(owner, "B")
    )
    assert job.changed == 2

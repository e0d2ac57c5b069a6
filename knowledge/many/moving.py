"""Moving documents to another base as they are: nothing is read, cut up or embedded anew."""

from collections.abc import Collection
from functools import partial

from django.db import transaction
from django.db.models import Q

from knowledge import services
from knowledge.indexer import indexer
from knowledge.models import Attachment, Document, KnowledgeBase


@transaction.atomic
def move(documents: Collection[Document], target: KnowledgeBase) -> dict[str, list[Document]]:
    """Move documents to a base; return those that stay or of which more is to tell, by a code.

    "busy" ones are being worked on, of "already_there" the target has the same bytes, and "storage_full" ones are more
    than its owner may store: they stay. "same_name" ones are moved, and the target has others of that name. A mail's
    attachments go with it, unless another mail that stays carries them; where the target has the same bytes, the mail
    carries those from then on. Citations, chats and addresses name documents and passages by ids, which stay. The
    caller holds the documents' rows.
    """
    told: dict[str, list[Document]] = {}
    moving = {each.pk: each for each in documents if each.knowledge_base_id != target.pk}
    for attached in _going_along(moving):
        moving.setdefault(attached.pk, attached)
    same = Q(sha256__in=[each.sha256 for each in moving.values()])
    same |= Q(external_id__in=[each.external_id for each in moving.values() if each.external_id])
    there = {key for pair in target.documents.filter(same).values_list("sha256", "external_id") for key in pair if key}
    for each in list(moving.values()):
        clashes = each.sha256 in there or each.external_id in there
        code = "busy" if each.status in Document.UNFINISHED else "already_there" if clashes else ""
        if code:
            told.setdefault(code, []).append(moving.pop(each.pk))
    for each in services.without_room(list(moving.values()), target):
        told.setdefault("storage_full", []).append(moving.pop(each.pk))
    if not moving:
        return told
    names = [each.original_filename for each in moving.values()]
    taken = set(target.documents.filter(original_filename__in=names).values_list("original_filename", "folder"))
    if alike := [each for each in moving.values() if (each.original_filename, each.folder) in taken]:
        told["same_name"] = alike
    Document.objects.filter(pk__in=moving).update(knowledge_base=target)
    indexer().move(sorted(moving), target.pk)
    _carry_on(moving, target)
    return told


def _going_along(moving: Collection[int]) -> list[Document]:
    """Return the attachments that only mails among these documents carry, locked in their order."""
    carried = Document.objects.filter(carried_by__mail__in=moving, is_attachment=True)
    staying = Attachment.objects.exclude(mail__in=moving).filter(document__isnull=False).values("document")
    return list(
        Document.objects.select_for_update().filter(pk__in=carried.values("pk")).exclude(pk__in=staying).order_by("pk")
    )


def _carry_on(moved: Collection[int], target: KnowledgeBase) -> None:
    """Have mails that moved carry what their base has of their attachments, and none of another base."""
    elsewhere = Attachment.objects.filter(mail__in=moved, document__isnull=False).exclude(
        document__knowledge_base=target
    )
    left = []
    for item in elsewhere.select_related("document"):
        assert item.document is not None
        left.append(item.document)
        item.document = target.documents.filter(sha256=item.document.sha256).first()
        item.save(update_fields=["document"])
    if left:
        transaction.on_commit(partial(services.remove_attachments, left))

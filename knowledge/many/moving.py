"""Moving documents to another base as they are: nothing is read, cut up or embedded anew."""

from collections.abc import Collection, Sequence
from functools import partial

from django.db import transaction
from django.db.models import Q

from knowledge import services
from knowledge.indexer import indexer
from knowledge.models import Attachment, Document, KnowledgeBase


@transaction.atomic
def move(
    documents: Collection[Document], target: KnowledgeBase, later: Collection[int] = ()
) -> dict[str, list[Document]]:
    """Move documents to a base; return those of them that stay or of which more is to tell, by a code.

    "busy" ones are being worked on, of "already_there" the target has the same bytes, and "storage_full" ones are more
    than its owner may store: they stay. "same_name" ones are moved, and the target has others of that name. A mail and
    its attachments move together or stay together: "with_mail" ones came with a mail that stays. An attachment of
    several mails stays while one of them does, unless that is moved `later` (ids); where the target has the same bytes,
    the mail carries those from then on. Citations, chats and addresses name documents and passages by ids, which stay.
    The caller holds the documents' rows.
    """
    told: dict[str, list[Document]] = {}
    chosen = [each for each in documents if each.knowledge_base_id != target.pk]
    attached = [each.pk for each in chosen if each.is_attachment]
    mails: dict[int, set[int]] = {}
    for pk, mail in Attachment.objects.filter(document__in=attached).values_list("document", "mail"):
        mails.setdefault(pk, set()).add(mail)
    heads = [each for each in chosen if each.pk not in mails]
    while True:
        families = _families(heads, target, later)
        refused = _refused(families, target)
        for code, those in refused.items():
            told.setdefault(code, []).extend(those)
        stay = {each.pk for those in refused.values() for each in those}
        if not stay:
            break
        heads = [each for each in heads if each.pk not in stay]
    moving = {each.pk: each for family in families for each in family}
    coming = {*moving, *later}
    if left := [each for each in chosen if each.pk not in moving and not mails.get(each.pk, set()) <= coming]:
        told["with_mail"] = left
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


def _families(heads: Sequence[Document], target: KnowledgeBase, later: Collection[int]) -> list[list[Document]]:
    """Return each document with what goes along: what it and the mails in it carry, locked.

    That is what the target hasn't, and no mail carries that stays.
    """
    families = [[each] for each in heads]
    bases = {each.knowledge_base_id for each in heads}
    of = {each.pk: family for each, family in zip(heads, families, strict=True)}
    level = set(of)
    carried: dict[int, Document] = {}
    while level:
        found = Document.objects.filter(is_attachment=True, carried_by__mail__in=level).exclude(pk__in=of)
        found = found.filter(knowledge_base__in=bases).exclude(sha256__in=target.documents.values("sha256"))
        rows = Document.objects.select_for_update().filter(pk__in=found.values("pk")).order_by("pk").in_bulk()
        for mail, pk in Attachment.objects.filter(mail__in=level, document__in=rows).values_list("mail", "document"):
            of.setdefault(pk, of[mail])
        carried |= rows
        level = set(rows)
    links = list(Attachment.objects.filter(document__in=carried).values_list("mail", "document"))
    allowed = {*of, *later}
    while stay := {pk for mail, pk in links if mail not in allowed and pk in carried}:
        allowed -= stay
        for pk in stay:
            del carried[pk]
    for pk, document in carried.items():
        of[pk].append(document)
    return families


def _refused(families: Sequence[Sequence[Document]], target: KnowledgeBase) -> dict[str, list[Document]]:
    """Return the first of each family that has to stay, by the code that tells why."""
    heads = [family[0] for family in families]
    same = Q(sha256__in=[each.sha256 for each in heads])
    same |= Q(external_id__in=[each.external_id for each in heads if each.external_id])
    there = {key for pair in target.documents.filter(same).values_list("sha256", "external_id") for key in pair if key}
    refused: dict[str, list[Document]] = {}
    free = []
    for family in families:
        head = family[0]
        if any(each.status in Document.UNFINISHED for each in family):
            refused.setdefault("busy", []).append(head)
        elif head.sha256 in there or head.external_id in there:
            refused.setdefault("already_there", []).append(head)
        else:
            free.append(family)
    if full := services.without_room(free, target):
        refused["storage_full"] = [family[0] for family in full]
    return refused


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

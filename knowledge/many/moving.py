"""Moves documents to another base as they are: nothing is read, split or embedded again."""

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
    """Move documents to a base; return those that stay or need a message, by code.

    These stay: "busy" ones are being read, "already_there" ones have the same bytes as documents of the target, and
    "storage_full" ones exceed its owner's storage. "same_name" ones are moved, but the target has others with that
    name. A mail and its attachments move or stay together: "with_mail" ones are attached to a mail that stays. An
    attachment of several mails stays while one of them does, unless that mail is moved `later` (ids); if the target
    has the same bytes, the mail then refers to those. Citations, chats and URLs refer to documents and passages by
    ids, which don't change. The caller locks the documents' rows.
    """
    outcome: dict[str, list[Document]] = {}
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
            outcome.setdefault(code, []).extend(those)
        stay = {each.pk for those in refused.values() for each in those}
        if not stay:
            break
        heads = [each for each in heads if each.pk not in stay]
    moving = {each.pk: each for family in families for each in family}
    coming = {*moving, *later}
    if left := [each for each in chosen if each.pk not in moving and not mails.get(each.pk, set()) <= coming]:
        outcome["with_mail"] = left
    if not moving:
        return outcome
    names = [each.original_filename for each in moving.values()]
    taken = set(target.documents.filter(original_filename__in=names).values_list("original_filename", "folder"))
    if alike := [each for each in moving.values() if (each.original_filename, each.folder) in taken]:
        outcome["same_name"] = alike
    Document.objects.filter(pk__in=moving).update(knowledge_base=target)
    indexer().move(sorted(moving), target.pk)
    _carry_on(moving, target)
    return outcome


def _families(heads: Sequence[Document], target: KnowledgeBase, later: Collection[int]) -> list[list[Document]]:
    """Return each document with the attachments that move with it, nested ones too, locked.

    These are those that the target doesn't have, and that aren't attached to a mail that stays.
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
    """Return the first document of each family that has to stay, by the code of the reason."""
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
    """Link moved mails to the copies of their attachments in their new base, and to none in another base."""
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

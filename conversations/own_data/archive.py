"""All that is a person's, as a zip that is made while it is sent: never more of it is in memory than one chat.

The database is asked a piece at a time, and by ids, so that a slow reader holds neither a transaction nor a connection.
"""

import json
import re
import zipfile
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import override

from conversations import access
from conversations.api.sharing import exported
from conversations.models import ChatSession, Feedback, MemoryFact
from conversations.sharing import export
from knowledge.access import memberships
from knowledge.models import Document
from ragsite.accounts.roles import role_of
from ragsite.db import in_database
from ragsite.models import Usage

PIECE = 256 * 1024
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
_LONGEST = 120


class _Sent:
    """What a zip is written to: a stream that can't go back, read off piece by piece."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: what is written is there at once."""

    def taken(self) -> bytes:
        """Return what has been written since the last time."""
        found = b"".join(self._pieces)
        self._pieces.clear()
        return found


async def stream(user: User, site: str, language: str) -> AsyncGenerator[bytes]:
    """Yield what `archive` yields, made on database threads."""
    pieces = archive(user, site)

    def following() -> bytes | None:
        with override(language):
            return next(pieces, None)

    while (piece := await in_database(following)) is not None:
        yield piece


def archive(user: User, site: str) -> Iterator[bytes]:
    """Yield the zip of a person: their account, chats, feedback, remembered facts, and the files of their bases.

    Links in it lead to the `site`, `https://` and host.
    """
    sent = _Sent()
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED) as packed:  # type: ignore[call-overload]
        names = _Names()

        def text(path: str, content: str) -> bytes:
            packed.writestr(names.free(path), content)
            return sent.taken()

        yield text("README.txt", _readme(user))
        yield text("account.json", _json(_account(user)))
        facts = MemoryFact.objects.filter(user=user).values("content", "created_at", "updated_at")
        yield text("memory.json", _json(list(facts)))
        yield text("feedback.json", _json(_feedback(user)))
        for pk in list(access.sessions(user).order_by("created_at", "pk").values_list("pk", flat=True)):
            session = access.sessions(user).filter(pk=pk).first()
            if session is None:  # deleted meanwhile
                continue
            stem = f"chats/{session.created_at:%Y-%m-%d} {_safe(session.name) or pk}"
            yield text(f"{stem}.json", _json(exported(session)))
            yield text(f"{stem}.md", export.markdown(session, site=site))
        owned = Document.objects.filter(knowledge_base__owner=user, knowledge_base__put_away=False).exclude(file="")
        for pk in list(owned.order_by("knowledge_base_id", "pk").values_list("pk", flat=True)):
            document = owned.filter(pk=pk).select_related("knowledge_base").first()
            if document is None:
                continue
            try:
                file = default_storage.open(str(document.file.name), "rb")
            except FileNotFoundError:
                continue
            base, holder = document.knowledge_base, ["documents", document.knowledge_base.name]
            if base.of_chat:
                session = ChatSession.objects.filter(files=base.pk).first()
                holder = ["chat files", session.name if session is not None else ""]
            folders = [part for part in map(_safe, [*holder, *document.folder.split("/")]) if part]
            stem, dot, suffix = document.original_filename.rpartition(".")
            name = f"{_safe(stem) or 'document'}.{_safe(suffix)}" if dot else _safe(suffix) or "document"
            made = timezone.localtime(document.created_at).timetuple()[:6]
            entry = zipfile.ZipInfo(names.free("/".join([*folders, name])), made)
            with file, packed.open(entry, "w", force_zip64=True) as target:  # stored: most formats are packed already
                while piece := file.read(PIECE):
                    target.write(piece)
                    yield sent.taken()
            yield sent.taken()
    yield sent.taken()


class _Names:
    """The names in a zip, each once, also where a file system sees no difference between capital and small letters."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def free(self, path: str) -> str:
        stem, dot, suffix = path.rpartition(".")
        if not dot or "/" in suffix:
            stem, suffix = path, ""
        name, number = path, 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{stem} ({number}){dot if suffix else ''}{suffix}"
        self._taken.add(name.casefold())
        return name


def _safe(name: str) -> str:
    """Return a name that every file system takes, and that leads nowhere else."""
    return _UNSAFE.sub(" ", name).strip(" .")[:_LONGEST].strip(" .")


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2, cls=DjangoJSONEncoder) + "\n"


def _readme(user: User) -> str:
    lines = [
        _("What this site holds of %(name)s, on %(date)s.")
        % {"name": user.get_username(), "date": date_format(timezone.localtime(), "DATETIME_FORMAT")},
        "",
        _("account.json: the account, its second factors, tokens (no secrets), where it is signed in, what it used."),
        _("memory.json: facts that you had remembered."),
        _("feedback.json: the thumbs and comments that you gave."),
        _("chats: each chat as Markdown (its newest branch) and as JSON (all of it); deleted chats are left out."),
        _("documents: the files of the knowledge bases that you own."),
        _("chat files: the files that you put into chats, a folder a chat."),
    ]
    return "\n".join(lines) + "\n"


def _account(user: User) -> dict[str, Any]:
    shared = memberships(user).select_related("knowledge_base", "group")
    return {
        "username": user.get_username(),
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "email_addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "role": role_of(user),
        "groups": list(user.groups.order_by("name").values_list("name", flat=True)),
        "date_joined": user.date_joined,
        "last_login": user.last_login,
        "second_factors": list(Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")),
        "providers": list(
            SocialAccount.objects.filter(user=user).values("provider", "uid", "date_joined", "last_login")
        ),
        "signed_in": list(
            UserSession.objects.filter(user=user).values("ip", "user_agent", "created_at", "last_seen_at")
        ),
        "tokens": list(user.api_tokens.values("name", "created_at", "last_used_at")),
        "knowledge_bases": list(
            user.knowledge_bases.filter(of_chat=False)
            .order_by("name")
            .values("name", "description", "visibility", "created_at")
        ),
        "shared_with_me": [
            {"name": each.knowledge_base.name, "role": each.role, "group": each.group.name if each.group else None}
            for each in shared
        ],
        "use_by_day": list(Usage.objects.filter(user=user).order_by("day").values("day", "questions", "tokens")),
    }


def _feedback(user: User) -> list[dict[str, Any]]:
    given = Feedback.objects.filter(user=user, message__turn__session__in=access.sessions(user)).order_by("pk")
    return [
        {
            "chat": each.message.turn.session.name,
            "message": each.message_id,
            "value": each.value,
            "reason": each.reason,
            "comment": each.comment,
            "created_at": each.created_at,
        }
        for each in given.select_related("message__turn__session")
    ]

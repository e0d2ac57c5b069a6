"""Export of all of a user's data as a zip file that is created while it is sent, with at most one chat in memory.

Rows are fetched one at a time by their ids, so a slow client holds neither a transaction nor a database connection.
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
from conversations.instructions.texts import own_instructions
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
    """The output of a zip file: an unseekable stream that is read piece by piece."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, since writes are available at once."""

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        found = b"".join(self._pieces)
        self._pieces.clear()
        return found


async def stream(user: User, site: str, language: str) -> AsyncGenerator[bytes]:
    """Yield the pieces of `archive`, created on database threads."""
    pieces = archive(user, site)

    def following() -> bytes | None:
        with override(language):
            return next(pieces, None)

    while (piece := await in_database(following)) is not None:
        yield piece


def archive(user: User, site: str) -> Iterator[bytes]:
    """Yield the zip file of a user's account, chats, feedback, remembered facts, and the files of their bases.

    Links in it lead to the `site`, given as `https://` and host.
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
            if session is None:  # deleted in the meantime
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
            base, parents = document.knowledge_base, ["documents", document.knowledge_base.name]
            if base.of_chat:
                session = ChatSession.objects.filter(files=base.pk).first()
                parents = ["chat files", session.name if session is not None else ""]
            folders = [part for part in map(_safe, [*parents, *document.folder.split("/")]) if part]
            stem, dot, suffix = document.original_filename.rpartition(".")
            name = f"{_safe(stem) or 'document'}.{_safe(suffix)}" if dot else _safe(suffix) or "document"
            made = timezone.localtime(document.created_at).timetuple()[:6]
            entry = zipfile.ZipInfo(names.free("/".join([*folders, name])), made)
            with file, packed.open(entry, "w", force_zip64=True) as target:  # uncompressed: most formats already are
                while piece := file.read(PIECE):
                    target.write(piece)
                    yield sent.taken()
            yield sent.taken()
    yield sent.taken()


class _Names:
    """The names in a zip file, kept unique even on case-insensitive file systems."""

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
    """Return a name that is valid on every file system and contains no path."""
    return _UNSAFE.sub(" ", name).strip(" .")[:_LONGEST].strip(" .")


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2, cls=DjangoJSONEncoder) + "\n"


def _readme(user: User) -> str:
    lines = [
        _("The data that this site stores about %(name)s, exported on %(date)s.")
        % {"name": user.get_username(), "date": date_format(timezone.localtime(), "DATETIME_FORMAT")},
        "",
        _("account.json: your account, second factors, API tokens (without secrets), sign-ins and usage."),
        _("memory.json: facts that you asked to be remembered."),
        _("feedback.json: your ratings of answers and your comments."),
        _("chats: each chat as Markdown (newest branch) and as JSON (all branches), without deleted chats."),
        _("documents: the files of the knowledge bases that you own."),
        _("chat files: the files that you added to chats, in one folder per chat."),
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
        "instructions": own_instructions(user.pk),
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

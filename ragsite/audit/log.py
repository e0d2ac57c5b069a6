"""Write the audit log: actions call `record` in the same transaction.

The actor and the address are those of the current request, on any thread.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.decorators import sync_and_async_middleware

from ragsite.accounts.lockout import address_of
from ragsite.audit.models import AuditEntry
from ragsite.site_settings.config import config

Action = AuditEntry.Action
Answer = Callable[[HttpRequest], HttpResponse] | Callable[[HttpRequest], Awaitable[HttpResponse]]
Gathered = list[tuple[Model | None, dict[str, Any]]]
_request: ContextVar[HttpRequest | None] = ContextVar("audited_request", default=None)
_gathered: ContextVar[Gathered | None] = ContextVar("audited_together", default=None)


@sync_and_async_middleware
def follow(get_response: Answer) -> Answer:
    """Middleware that makes the current request available to `record`."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponse:
            token = _request.set(request)
            try:
                return await get_response(request)  # type: ignore[no-any-return]
            finally:
                _request.reset(token)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponse:
        token = _request.set(request)
        try:
            return get_response(request)  # type: ignore[return-value]
        finally:
            _request.reset(token)

    return answer


def has_request() -> bool:
    """Return whether the code runs in a request, and not in a command or a worker."""
    return _request.get() is not None


@contextmanager
def gathered() -> Iterator[Gathered]:
    """Context manager that collects objects with their details instead of recording them, for a single entry."""
    entries: Gathered = []
    token = _gathered.set(entries)
    try:
        yield entries
    finally:
        _gathered.reset(token)


def record(
    action: AuditEntry.Action,
    about: Model | None = None,
    *,
    name: str = "",
    actor: User | None = None,
    request: HttpRequest | None = None,
    **details: Any,
) -> None:
    """Record an action on `about`, under its string representation or `name`, by the request's user or `actor`."""
    if (entries := _gathered.get()) is not None:
        entries.append((about, details))
        return
    request = request or _request.get()
    if actor is None and request is not None:
        user = getattr(request, "user", None)
        if user is not None and user.is_authenticated:
            actor = user
        elif action != Action.SIGN_IN_FAILED:
            # An anonymous user changes only their own objects: through an invitation, a provider or an e-mailed link.
            actor = about if isinstance(about, User) else getattr(about, "user", None)
    is_gone = action == Action.DELETED and isinstance(about, User) and actor is not None and about.pk == actor.pk
    AuditEntry.objects.create(
        actor_id=actor.pk if actor is not None and not is_gone else None,
        actor_name=actor.get_username() if actor is not None else "",
        action=action,
        object_type=about._meta.label_lower if about is not None else "",
        object_id=str(about.pk or "") if about is not None else "",
        object_name=_clean(name or (str(about) if about is not None else ""))[:300],
        details={key: _clean(value) if isinstance(value, str) else value for key, value in details.items()},
        address=address_of(request)[:64] if request is not None else "",
    )


def explain(action: AuditEntry.Action, about: Model, **details: str) -> None:
    """Add details, known only after the change was recorded, to an object's newest entry of `action`."""
    entries = AuditEntry.objects.filter(action=action, object_type=about._meta.label_lower, object_id=str(about.pk))
    entry = entries.first()
    if entry is not None:
        entry.details |= {key: _clean(value) for key, value in details.items()}
        entry.save(update_fields=["details"])


def expired() -> QuerySet[AuditEntry]:
    """Return the entries older than `AUDIT_DAYS`."""
    if not config.AUDIT_DAYS:
        return AuditEntry.objects.none()
    return AuditEntry.objects.filter(at__lt=timezone.now() - timedelta(days=config.AUDIT_DAYS))


def _clean(text: str) -> str:
    return text.replace("\x00", "")

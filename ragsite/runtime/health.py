"""Health checks for supervisors and load balancers, open to everyone."""

from typing import Any

from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.middleware.common import CommonMiddleware
from django.views.decorators.cache import never_cache

from ragsite.limits import disk

PROBES = ("/healthz", "/readyz")


class AnyHostForProbes(CommonMiddleware):
    """Django's middleware, which rejects unknown hosts, except for health checks, which may only know an IP address."""

    def process_request(self, request: HttpRequest) -> Any:
        """Skip the check for probes."""
        return None if request.path_info in PROBES else super().process_request(request)


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Return 200 `ok` as long as the process serves requests; uses neither the database nor the cache."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 `ok` if the database and Redis respond, too, and the disk has room.

    Without the database the response is 503 `database`. Without Redis, or with a full disk, the site still answers:
    200 `degraded: redis, disk`.
    """
    found = ["redis"] if getattr(cache, "is_away", lambda: False)() else []
    if not disk.has_room():
        found.append("disk")
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse(", ".join(["database", *found]), status=503, content_type="text/plain")
    return HttpResponse(f"degraded: {', '.join(found)}" if found else "ok", content_type="text/plain")

"""Whether the site is up, for supervisors and load balancers; open to everyone, telling nothing else."""

from typing import Any

from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.middleware.common import CommonMiddleware
from django.views.decorators.cache import never_cache

PROBES = ("/healthz", "/readyz")


class AnyHostForProbes(CommonMiddleware):
    """Django's, which refuses a host that isn't the site's; but a health check may know an address only."""

    def process_request(self, request: HttpRequest) -> Any:
        """Let a probe pass, and treat other requests as ever."""
        return None if request.path_info in PROBES else super().process_request(request)


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 `ok` as long as the process serves requests at all; touches nothing else."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 `ok` when all that the site needs answers too, else what is away.

    Without the database 503 `database`. Without Redis the site serves all the same: 200 `degraded: redis`.
    """
    redis_away = getattr(cache, "is_away", lambda: False)()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("database, redis" if redis_away else "database", status=503, content_type="text/plain")
    return HttpResponse("degraded: redis" if redis_away else "ok", content_type="text/plain")

"""Health checks for supervisors and load balancers, open to everyone."""

from typing import Any

from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.middleware.common import CommonMiddleware
from django.views.decorators.cache import never_cache

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
    """Return 200 `ok` if the database and Redis respond, too.

    Without the database the response is 503 `database`. Without Redis the site still works: 200 `degraded: redis`.
    """
    redis_away = getattr(cache, "is_away", lambda: False)()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("database, redis" if redis_away else "database", status=503, content_type="text/plain")
    return HttpResponse("degraded: redis" if redis_away else "ok", content_type="text/plain")

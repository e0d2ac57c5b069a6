"""Whether the site is up, for supervisors and load balancers; open to everyone, telling nothing else."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 `ok` as long as the process serves requests at all; touches nothing else."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 `ok` when the database answers too, else 503 with the reason in a word."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("database", status=503, content_type="text/plain")
    return HttpResponse("ok", content_type="text/plain")

"""What every template may use."""

from django.conf import settings
from django.http import HttpRequest

SITE_NAME = "Ragsite"


def site(request: HttpRequest) -> dict[str, object]:
    """Return the site's own variables."""
    return {"site_name": SITE_NAME, "max_upload_mb": settings.MAX_UPLOAD_MB}

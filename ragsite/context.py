"""Context processors."""

from django.conf import settings
from django.http import HttpRequest

from ragsite.site_settings.config import config

SITE_NAME = "Ragsite"


def site(request: HttpRequest) -> dict[str, object]:
    """Return variables for every template."""
    return {
        "site_name": SITE_NAME,
        "max_upload_mb": config.MAX_UPLOAD_MB,
        "mail_is_sent": bool(settings.EMAIL_HOST),
        "sign_up_open": config.SIGN_UP == "open",
    }

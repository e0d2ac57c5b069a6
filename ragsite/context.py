"""Context processors."""

from django.conf import settings
from django.http import HttpRequest

from ragsite import env
from ragsite.site_settings.accent import style_of
from ragsite.site_settings.config import config

# That of the style sheets.
DEFAULT_COLOUR = env.options["RAGSITE_SITE_COLOUR"].default


def site(request: HttpRequest) -> dict[str, object]:
    """Return variables for every template."""
    return {
        "site_name": config.SITE_NAME,
        "site_style": style_of(config.SITE_COLOUR) if config.SITE_COLOUR != DEFAULT_COLOUR else "",
        "max_upload_mb": config.MAX_UPLOAD_MB,
        "mail_is_sent": bool(settings.EMAIL_HOST),
        "sign_up_open": config.SIGN_UP == "open",
    }

"""Rate limits of the API. In a module of its own, since DRF's views import it."""

from django.conf import settings
from rest_framework.throttling import UserRateThrottle


class RequestsPerMinute(UserRateThrottle):
    """At most `API_REQUESTS_PER_MINUTE` per user; others get 429 with the seconds to wait as `Retry-After`."""

    scope = "api"

    def get_rate(self) -> str | None:
        """Return the rate in the settings, or None for no limit."""
        most = settings.API_REQUESTS_PER_MINUTE
        return f"{most}/min" if most else None

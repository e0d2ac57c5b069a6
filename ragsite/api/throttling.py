"""How often the API may be asked. Apart from the rest of it, since the framework's views need this to be imported."""

from django.conf import settings
from rest_framework.throttling import UserRateThrottle


class RequestsPerMinute(UserRateThrottle):
    """At most `API_REQUESTS_PER_MINUTE` of a person; what is more gets 429 and the seconds to wait as `Retry-After`."""

    scope = "api"

    def get_rate(self) -> str | None:
        """Return the rate of the settings, or None for any."""
        most = settings.API_REQUESTS_PER_MINUTE
        return f"{most}/min" if most else None

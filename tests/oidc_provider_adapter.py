"""The test provider's adapter, which adds a claim with users' groups."""

from typing import Any

from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from django.contrib.auth.models import User


class Adapter(DefaultOIDCAdapter):  # type: ignore[misc]
    """Adds the `groups` claim."""

    def get_claims(self, purpose: Any, user: User, client: Any, scopes: Any, **kwargs: Any) -> dict[str, Any]:
        claims: dict[str, Any] = super().get_claims(purpose, user, client, scopes, **kwargs)
        return claims | {"groups": list(user.groups.values_list("name", flat=True))}

"""The API's URLs, under `/api/`: those of the apps, the schema and its page."""

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request

from ragsite.api import schema
from ragsite.api.docs import docs


class _Schema(SpectacularAPIView):
    """The OpenAPI document, of which there is only one version."""

    generator_class = schema.CachedGenerator

    def _get_version_parameter(self, request: Request) -> None:
        return None


# The third-party page has its scripts in files but its styles inline.
_try = csp_replace({"script-src": [SELF], "style-src": [SELF, UNSAFE_INLINE]})(
    SpectacularSwaggerSplitView.as_view(url_name="api-schema", http_method_names=["get", "head"])
)

__all__ = ["schema", "urlpatterns"]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("knowledge.api.urls")),
    path("", include("retrieval.api.urls")),
    path("", include("conversations.api.urls")),
    path("schema/", _Schema.as_view(), name="api-schema"),
    path("docs/", docs, name="api-docs"),
    path("docs/try/", _try, name="api-docs-try"),
]

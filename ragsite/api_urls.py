"""The API's addresses, under `/api/`: one file per room, the schema and its page."""

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from ragsite import schema

__all__ = ["schema", "urlpatterns"]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("knowledge.api_urls")),
    path("", include("retrieval.api_urls")),
    path("", include("conversations.api_urls")),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="api-schema"), name="api-docs"),
]

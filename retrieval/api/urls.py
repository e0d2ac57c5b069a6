"""API routes of this app, below `/api/`."""

from django.urls import include, path

from retrieval.api.views import SearchView

urlpatterns = [
    path("search", SearchView.as_view(), name="api-search"),
    path("", include("retrieval.evaluation.api.urls")),
]

"""The site's addresses."""

from importlib.util import find_spec

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import URLPattern, URLResolver, include, path

from ragsite import views


def _room(route: str, module: str) -> list[URLPattern | URLResolver]:
    return [path(route, include(module))] if find_spec(module) else []


urlpatterns: list[URLPattern | URLResolver] = [
    path("login/", auth_views.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("account/", views.account, name="account"),
    path("account/password/", views.change_password, name="change-password"),
    path("account/theme/", views.set_theme, name="set-theme"),
    path("account/tokens/", views.add_token, name="add-token"),
    path("account/tokens/<int:pk>/revoke/", views.revoke_token, name="revoke-token"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
    *_room("knowledge/", "knowledge.urls"),
    *_room("", "retrieval.urls"),
    *_room("api/", "ragsite.api_urls"),
    *_room("", "conversations.urls"),
]

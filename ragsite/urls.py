"""The site's URLs."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from knowledge.web import invitation_views
from ragsite import views
from ragsite.runtime import health

handler400 = "ragsite.views.bad_request"
handler403 = "ragsite.views.forbidden"
handler404 = "ragsite.views.not_found"
handler500 = "ragsite.views.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("", include("ragsite.accounts.urls")),
    path("diagram/", views.diagram, name="diagram"),
    path("account/", views.account, name="account"),
    path("account/password/", views.change_password, name="change-password"),
    path("account/data/", views.download_data, name="download-data"),
    path("account/chats/", views.import_chats, name="import-chats"),
    path("account/delete/", views.delete_account, name="delete-account"),
    path("account/theme/", views.set_theme, name="set-theme"),
    path("account/tokens/", views.add_token, name="add-token"),
    path("account/tokens/<int:pk>/revoke/", views.revoke_token, name="revoke-token"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/login/", secure_admin_login(admin.site.login)),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account")),
    path("admin/password_change/done/", RedirectView.as_view(pattern_name="account")),
    path("admin/", admin.site.urls),
    path("knowledge/samples/", views.add_samples, name="add-samples"),
    path("knowledge/", include("knowledge.web.urls")),
    path("invitations/<str:key>/", invitation_views.invitation, name="invitation"),
    path("api/", include("ragsite.api.urls")),
    path("", include("retrieval.web.urls")),
    path("", include("conversations.web.urls")),
]

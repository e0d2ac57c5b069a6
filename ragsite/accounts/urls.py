"""URLs for signing in and managing one's own access: those of allauth's that this site uses."""

from allauth.account import views
from allauth.mfa.base import views as mfa
from allauth.socialaccount import views as provider
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from ragsite.accounts import views as own
from ragsite.accounts.pauses import with_retry_after

_login = with_retry_after(views.login)

urlpatterns = [
    path("login/", _login, name="login"),
    path("login/", _login, name="account_login"),
    path("logout/", views.logout, name="logout"),
    path("logout/", views.logout, name="account_logout"),
    path("login/second-factor/", with_retry_after(mfa.authenticate), name="mfa_authenticate"),
    path("sign-up/", views.signup, name="account_signup"),
    path("account/inactive/", views.account_inactive, name="account_inactive"),
    path("account/again/", with_retry_after(views.reauthenticate), name="account_reauthenticate"),
    path("account/again/code/", with_retry_after(mfa.reauthenticate), name="mfa_reauthenticate"),
    path("account/email/", own.change_email, name="account_email"),
    path("account/email/sent/", views.email_verification_sent, name="account_email_verification_sent"),
    path("account/email/confirm/<str:key>/", views.confirm_email, name="account_confirm_email"),
    path("account/password/change/", RedirectView.as_view(pattern_name="account"), name="account_change_password"),
    path("account/password/set/", views.password_set, name="account_set_password"),
    path("account/password/reset/", own.reset_password, name="account_reset_password"),
    path("account/password/reset/sent/", views.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^account/password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$",
        views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path(
        "account/password/reset/done/",
        views.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    path("account/sessions/", own.SignIns.as_view(), name="usersessions_list"),
    path("account/sessions/<int:pk>/end/", own.end_sign_in, name="end-sign-in"),
    path("account/2fa/", mfa.index, name="mfa_index"),
    path("account/2fa/totp/", include("allauth.mfa.totp.urls")),
    path("account/2fa/recovery-codes/", include("allauth.mfa.recovery_codes.urls")),
    path("account/2fa/keys/", include("allauth.mfa.webauthn.urls")),
    path("account/connections/", provider.connections, name="socialaccount_connections"),
    path("login/cancelled/", provider.login_cancelled, name="socialaccount_login_cancelled"),
    path("login/error/", provider.login_error, name="socialaccount_login_error"),
    path("login/new/", provider.signup, name="socialaccount_signup"),
    path("login/", include("allauth.socialaccount.providers.openid_connect.urls")),
]

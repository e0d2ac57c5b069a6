"""Pages of allauth that do nothing where the site sends no mail, instead of pretending to."""

from allauth.account import views
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


def reset_password(request: HttpRequest) -> HttpResponse:
    """Ask for an e-mail address to send a link to; where there is no mail, say who makes one."""
    if request.method == "POST" and not settings.EMAIL_HOST:
        return redirect("account_reset_password")
    response: HttpResponse = views.password_reset(request)
    return response


def change_email(request: HttpRequest) -> HttpResponse:
    """Have one's e-mail address changed once the new one is confirmed, by mail."""
    if not settings.EMAIL_HOST:
        return redirect("account")
    response: HttpResponse = views.email(request)
    return response

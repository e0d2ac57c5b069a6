"""The addresses of the chat's pages."""

from django.urls import path

from conversations import views

urlpatterns = [
    path("", views.chat, name="chat"),
    path("c/<int:pk>/", views.session, name="session"),
]

"""The addresses of what is remembered."""

from django.urls import path

from conversations.memory import views

urlpatterns = [
    path("account/memory/", views.memory, name="memory"),
    path("account/memory/switch/", views.switch, name="memory-switch"),
    path("account/memory/add/", views.add, name="memory-add"),
    path("account/memory/forget/", views.forget_all, name="memory-forget-all"),
    path("account/memory/<int:pk>/", views.change, name="memory-change"),
    path("account/memory/<int:pk>/forget/", views.forget, name="memory-forget"),
    path("c/<int:pk>/summary/", views.summary, name="summary"),
]

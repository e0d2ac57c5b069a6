"""The addresses of what is remembered."""

from django.urls import path

from conversations.web import memory_views

urlpatterns = [
    path("account/memory/", memory_views.memory, name="memory"),
    path("account/memory/switch/", memory_views.switch, name="memory-switch"),
    path("account/memory/add/", memory_views.add, name="memory-add"),
    path("account/memory/forget/", memory_views.forget_all, name="memory-forget-all"),
    path("account/memory/<int:pk>/", memory_views.change, name="memory-change"),
    path("account/memory/<int:pk>/forget/", memory_views.forget, name="memory-forget"),
    path("c/<int:pk>/summary/", memory_views.summary, name="summary"),
]

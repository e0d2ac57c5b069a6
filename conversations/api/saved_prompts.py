"""REST endpoints for saved prompts."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access
from conversations.models import SavedPrompt
from ragsite.api.base import ApiErrorSerializer, validated
from ragsite.api.fields import BooleanField, TextField


class SavedPromptSerializer(serializers.ModelSerializer[SavedPrompt]):
    """A prompt of the caller or, with `for_all`, of the site. `{{name}}` in its text is a blank."""

    title = TextField(max_length=SavedPrompt.TITLE_LENGTH)
    text = TextField(max_length=SavedPrompt.TEXT_LENGTH)
    for_all = BooleanField(required=False, help_text="Requires the permission to change saved prompts.")

    class Meta:
        """Fields that users edit."""

        model = SavedPrompt
        fields = ["id", "title", "text", "for_all"]

    def to_representation(self, instance: SavedPrompt) -> dict[str, Any]:
        """Add whose prompt it is."""
        return {
            "id": instance.pk,
            "title": instance.title,
            "text": instance.text,
            "for_all": instance.owner_id is None,
        }


class SavedPromptList(generics.ListAPIView[SavedPrompt]):
    """The prompts that the caller can use."""

    serializer_class = SavedPromptSerializer
    pagination_class = None
    orderings = {"title": (Lower("title"), "id")}

    def get_queryset(self) -> QuerySet[SavedPrompt]:
        """Return the prompts by title."""
        return access.saved_prompts(self.request.user)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the prompts, by default by title."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request=SavedPromptSerializer,
        responses={201: SavedPromptSerializer, 400: ApiErrorSerializer, 403: ApiErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a prompt."""
        saved = _save(request, SavedPrompt(owner_id=request.user.pk))
        return Response(SavedPromptSerializer(saved).data, status=status.HTTP_201_CREATED)


class SavedPromptDetail(APIView):
    """A prompt that the caller can change."""

    @extend_schema(
        request=SavedPromptSerializer,
        responses={200: SavedPromptSerializer, 400: ApiErrorSerializer, 403: ApiErrorSerializer},
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change the prompt; omitted fields stay unchanged."""
        return Response(SavedPromptSerializer(_save(request, access.get_saved_prompt(request.user, pk))).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the prompt."""
        access.get_saved_prompt(request.user, pk).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _save(request: Request, saved: SavedPrompt) -> SavedPrompt:
    """Save a prompt from a request; raises `ValidationError`, `PermissionDenied`."""
    given = validated(SavedPromptSerializer(data=request.data, partial=saved.pk is not None))
    for_all = given.pop("for_all", None)
    if for_all and not access.may_share_prompts(request.user):
        raise PermissionDenied(_("You may not save prompts for everyone."))
    if for_all is not None:
        saved.owner_id = None if for_all else request.user.pk
    for name, value in given.items():
        setattr(saved, name, value)
    saved.save()
    return saved

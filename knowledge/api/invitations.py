"""API views of the invitations to a knowledge base."""

import re
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowledge import access, queries
from knowledge.invitations import invitations
from knowledge.models import Invitation, Membership
from ragsite.api.base import ApiErrorSerializer, validated
from ragsite.api.fields import ChoiceField, IntegerField, ModelSerializer, TextField


class EmailField(TextField):
    """An e-mail address, or an empty string."""

    pattern = r"^([A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,40}[A-Za-z0-9])?\.)+[A-Za-z]{2,20})?$"

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return the address; raises `ValidationError` if it is malformed."""
        text = super().run_validation(data)
        if isinstance(text, str) and not re.search(self.pattern.replace("$", r"\Z"), text):
            raise serializers.ValidationError(_("Enter a valid e-mail address."))
        return text


class NewInvitationSerializer(serializers.Serializer[Any]):
    """The data of a new invitation."""

    email = EmailField(
        max_length=254, allow_blank=True, default="", help_text="If given, the link works only for this address."
    )
    role = ChoiceField(Membership.Role.choices, default=Membership.Role.VIEWER)
    days = IntegerField(min_value=1, max_value=invitations.MOST_DAYS, default=invitations.DAYS)


class InvitationSerializer(ModelSerializer[Invitation]):
    """An invitation that can still be used."""

    email = serializers.CharField(help_text="The only address that it works for; empty for any.")
    role = serializers.CharField(source="base_role")
    made_by = serializers.CharField(source="made_by.username")

    class Meta:
        """The fields that an owner sees; the link is returned only once, on creation."""

        model = Invitation
        fields = ["id", "email", "role", "made_by", "created_at", "expires_at"]
        read_only_fields = fields


class MadeInvitationSerializer(InvitationSerializer):
    """A new invitation, with its link."""

    url = serializers.URLField(help_text="The link, which is not returned again.", source="link")
    mailed = serializers.BooleanField(help_text="Whether the link was sent to the address.")

    class Meta(InvitationSerializer.Meta):
        """The fields of an invitation, and those that aren't stored."""

        fields = [*InvitationSerializer.Meta.fields, "url", "mailed"]
        read_only_fields = fields


@extend_schema_view(get=extend_schema(operation_id="knowledge_bases_invitations_list"))
class InvitationList(generics.ListAPIView[Invitation]):
    """List the open invitations to a base, for its owner, and create them."""

    serializer_class = InvitationSerializer
    queryset = Invitation.objects.none()

    def get_queryset(self) -> QuerySet[Invitation]:
        """Return the invitations, newest first."""
        return invitations.invitations_to(access.get_owned_knowledge_base(self.request.user, self.kwargs["pk"]))

    @extend_schema(request=NewInvitationSerializer, responses={201: MadeInvitationSerializer, 403: ApiErrorSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Create an invitation link, and mail it if an address is given and the site sends mail."""
        base = access.get_owned_knowledge_base(request.user, pk)
        data = validated(NewInvitationSerializer(data=request.data))
        assert isinstance(request.user, User)
        made, key = invitations.invite(
            request.user, base=base, base_role=data["role"], email=data["email"], days=data["days"]
        )
        link = invitations.address(request._request, key)
        shown: Any = made
        shown.link, shown.mailed = link, invitations.send(request._request, made, link)
        return Response(MadeInvitationSerializer(shown).data, status=status.HTTP_201_CREATED)


class InvitationDetail(APIView):
    """Revoke an invitation."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int, invitation_id: int) -> Response:
        """Revoke the invitation; its link stops working."""
        base = access.get_owned_knowledge_base(request.user, pk)
        if not invitations.revoke(queries.get_invitation(base, invitation_id)):
            raise NotFound(_("There is no such invitation."))
        return Response(status=status.HTTP_204_NO_CONTENT)

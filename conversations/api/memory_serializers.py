"""Serializers for facts and summaries."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from conversations.memory.summaries import LONGEST_EDIT
from conversations.models import ContextEntry, MemoryFact
from ragsite.api.fields import BooleanField, ModelSerializer


class FactSerializer(ModelSerializer[MemoryFact]):
    """A remembered fact of the caller."""

    class Meta:
        """Only the words can be written."""

        model = MemoryFact
        fields = ["id", "content", "created_at", "updated_at"]
        read_only_fields = ["id", "created_at", "updated_at"]
        extra_kwargs = {"content": {"max_length": settings.MEMORY_FACT_CHARACTERS}}


class MemorySerializer(serializers.Serializer[Any]):
    """Whether the caller's memory is on, its limit, and all facts."""

    enabled = serializers.BooleanField()
    limit = serializers.IntegerField()
    facts = FactSerializer(many=True)


class MemorySwitchSerializer(serializers.Serializer[Any]):
    """Whether memory is on."""

    enabled = BooleanField()


class SummarySerializer(ModelSerializer[ContextEntry]):
    """The summary of a branch's beginning, up to `turn_id`; empty when it was cleared."""

    turn_id = serializers.IntegerField(read_only=True)

    class Meta:
        """Only the words can be written."""

        model = ContextEntry
        fields = ["turn_id", "content", "edited_at", "created_at"]
        read_only_fields = ["turn_id", "edited_at", "created_at"]
        extra_kwargs = {"content": {"max_length": LONGEST_EDIT, "allow_blank": True}}

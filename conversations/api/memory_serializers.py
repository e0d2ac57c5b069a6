"""Serializers for facts and summaries."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from conversations.instructions.texts import LONGEST_INSTRUCTIONS
from conversations.memory.summaries import LONGEST_EDIT
from conversations.models import ContextEntry, MemoryFact
from ragsite.api.fields import BooleanField, IntegerField, ModelSerializer, TextField


class FactSerializer(ModelSerializer[MemoryFact]):
    """A remembered fact of the caller."""

    class Meta:
        """Only the words can be written."""

        model = MemoryFact
        fields = ["id", "content", "created_at", "updated_at"]
        read_only_fields = ["id", "created_at", "updated_at"]
        extra_kwargs = {"content": {"max_length": settings.MEMORY_FACT_CHARACTERS}}


class InstructionsSerializer(serializers.Serializer[Any]):
    """How the caller wants all their answers written."""

    instructions = TextField(allow_blank=True, max_length=LONGEST_INSTRUCTIONS)


class MemorySerializer(serializers.Serializer[Any]):
    """Whether the caller's memory is on, its limit, and all facts."""

    enabled = serializers.BooleanField()
    limit = serializers.IntegerField()
    facts = FactSerializer(many=True)


class MemorySwitchSerializer(serializers.Serializer[Any]):
    """Whether memory is on."""

    enabled = BooleanField()


class SummaryVersionSerializer(serializers.Serializer[Any]):
    """A version of a summary."""

    version = serializers.IntegerField(source="number", help_text="Counts from 1, the oldest.")
    turn_id = serializers.IntegerField(help_text="The last turn that it covers.")
    content = serializers.CharField()
    written_at = serializers.DateTimeField()
    edited = serializers.BooleanField(help_text="Whether the user wrote it.")
    is_current = serializers.BooleanField()


class RestoreSerializer(serializers.Serializer[Any]):
    """The number of the version to restore."""

    version = IntegerField(min_value=1)


class SummarySerializer(ModelSerializer[ContextEntry]):
    """The summary of a branch's beginning, up to `turn_id`; empty when it was cleared."""

    turn_id = serializers.IntegerField(read_only=True)

    class Meta:
        """Only the words can be written."""

        model = ContextEntry
        fields = ["turn_id", "content", "edited_at", "created_at"]
        read_only_fields = ["turn_id", "edited_at", "created_at"]
        extra_kwargs = {"content": {"max_length": LONGEST_EDIT, "allow_blank": True}}

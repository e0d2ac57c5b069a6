"""The shapes of the evaluation API."""

from typing import Any

from rest_framework import serializers

from ragsite.api import TextField
from retrieval.evaluation.models import EvaluationQuestion, EvaluationResult, EvaluationRun, EvaluationSet
from retrieval.evaluation.options import MODES, RunOptions
from retrieval.rerank_options import METHODS
from retrieval.serializers import AnswerStateField


class EvaluationSetSerializer(serializers.ModelSerializer[EvaluationSet]):
    """A set of questions on one knowledge base."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    questions = serializers.IntegerField(source="question_count", read_only=True)

    class Meta:
        """What a client sees; the name is what it may change."""

        model = EvaluationSet
        fields = ["id", "name", "knowledge_base", "owner", "questions", "created_at"]
        read_only_fields = ["id", "knowledge_base", "created_at"]
        # Names are checked where they are stored.
        validators: list[Any] = []


class NewSetSerializer(serializers.Serializer[Any]):
    """What a set is made of: JSON with `questions`, or a multipart form with a `file` of them, or neither."""

    name = TextField()
    knowledge_base = serializers.IntegerField(min_value=1)
    questions = serializers.ListField(
        child=serializers.DictField(), required=False, help_text='Like {"question": "…", "relevant": ["Handbook.pdf"]}.'
    )
    file = serializers.FileField(required=False, help_text="The same as JSON lines.")


class QuestionSerializer(serializers.ModelSerializer[EvaluationQuestion]):
    """A question with what answers it."""

    class Meta:
        """As it is kept."""

        model = EvaluationQuestion
        fields = ["id", "key", "text", "relevant", "created_at"]


class NewQuestionSerializer(serializers.Serializer[Any]):
    """A question and the chunks of the set's knowledge base that answer it."""

    text = TextField()
    chunks = serializers.ListField(child=serializers.IntegerField(min_value=1), allow_empty=False, max_length=1000)
    grade = serializers.IntegerField(min_value=1, max_value=1000, default=1)


class RunOptionsSerializer(serializers.Serializer[Any]):
    """How a run searches; what is left out is as the site's settings have it."""

    mode = serializers.ChoiceField(choices=MODES, default="hybrid")
    reorder = serializers.BooleanField(required=False, allow_null=True, default=None)
    rerank = serializers.ChoiceField(choices=METHODS, required=False, allow_null=True)
    vector_weight = serializers.FloatField(required=False, allow_null=True)
    rrf_constant = serializers.IntegerField(required=False, allow_null=True)
    vector_threshold = serializers.FloatField(required=False, allow_null=True)
    bm25_threshold = serializers.FloatField(required=False, allow_null=True)
    per_document = serializers.IntegerField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the ranges, where the command does."""
        try:
            attrs["options"] = RunOptions.from_dict(attrs)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None
        return attrs


class RunSerializer(serializers.ModelSerializer[EvaluationRun]):
    """A run, how far it is, and its figures once it is done."""

    started_by = serializers.CharField(source="started_by.username", read_only=True, default=None)
    summary = serializers.SerializerMethodField(help_text="The settings in words.")
    answer_states = serializers.DictField(
        child=serializers.IntegerField(),
        read_only=True,
        help_text="How many questions would be `answered`, get the `nearest` passages only, or `nothing`.",
    )

    class Meta:
        """All but its results."""

        model = EvaluationRun
        fields = [
            "id", "evaluation_set", "settings", "summary", "status", "progress", "error", "question_count", "notes",
            "figures", "answer_states", "started_by", "created_at", "finished_at",
        ]  # fmt: skip

    def get_summary(self, run: EvaluationRun) -> str:
        """Return the settings as a person reads them."""
        return RunOptions.from_stored(run.settings).label


class ResultSerializer(serializers.ModelSerializer[EvaluationResult]):
    """What a run found for a question."""

    figures = serializers.DictField(child=serializers.FloatField(), read_only=True)
    answer_state = AnswerStateField()

    class Meta:
        """With the figures by their names."""

        model = EvaluationResult
        fields = ["id", "key", "text", "figures", "answer_state", "hits", "missed", "took_ms"]

"""Serializers of the evaluation API."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ragsite.api.fields import BooleanField, ChoiceField, FloatField, IdsField, IntegerField, ModelSerializer, TextField
from retrieval.api.serializers import AnswerStateField
from retrieval.evaluation.models import EvaluationQuestion, EvaluationResult, EvaluationRun, EvaluationSet
from retrieval.evaluation.options import LARGEST, MODES, NUMBERS, RunOptions
from retrieval.evaluation.questions import MOST_QUESTIONS
from retrieval.ranking.rerank_options import METHODS


class EvaluationSetSerializer(ModelSerializer[EvaluationSet]):
    """A set of questions on one knowledge base."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    questions = serializers.IntegerField(source="question_count", read_only=True)

    class Meta:
        """The fields; only the name can be changed."""

        model = EvaluationSet
        fields = ["id", "name", "knowledge_base", "owner", "questions", "created_at"]
        read_only_fields = ["id", "knowledge_base", "created_at"]
        # Names are validated when they are stored.
        validators: list[Any] = []


# A name may also be a number.
_TEXT: dict[str, Any] = {"type": "string", "pattern": r"[^\s\x00]"}
_NAME: dict[str, Any] = {"type": ["string", "integer"], "pattern": r"[^\s\x00]", "maxLength": 255}
_GRADE: dict[str, Any] = {"type": "integer", "minimum": 1}
_DESCRIBED: list[dict[str, Any]] = [
    {"required": ["passage"], "properties": {"passage": _NAME, "grade": _GRADE}},
    {"required": ["document"], "properties": {"document": _NAME, "text": {"type": "string"}, "grade": _GRADE}},
    {"required": ["chunk"], "properties": {"chunk": {"type": "integer"}, "grade": _GRADE}},
]


@extend_schema_field(
    {
        "type": "object",
        "properties": {
            "_id": {
                **_NAME,
                "type": ["string", "integer", "null"],
                "description": "The question's id; generated if omitted.",
            },
            "question": {"type": "string", "pattern": r"[^\s\x00]", "maxLength": settings.MAX_QUESTION_CHARACTERS},
            "relevant": {
                "description": "Passages by their corpus id or chunk id, documents by their file name, each with an "
                "optional grade.",
                "anyOf": [
                    {
                        "type": "array",
                        "minItems": 1,
                        "items": {"anyOf": [{"type": "integer"}, _TEXT, *({"type": "object"} | d for d in _DESCRIBED)]},
                    },
                    {"type": "object", "minProperties": 1, "additionalProperties": _GRADE},
                    _TEXT,
                    {"type": "integer"},
                ],
            },
        },
        "required": ["question", "relevant"],
    }
)
class QuestionDraftField(serializers.DictField):
    """A question in the format of a line of a question file, which also reads it."""


class NewSetSerializer(serializers.Serializer[Any]):
    """A new question set; empty if it has no questions."""

    name = TextField(max_length=120)
    knowledge_base = IntegerField(min_value=1)
    questions = serializers.ListField(
        child=QuestionDraftField(),
        required=False,
        max_length=MOST_QUESTIONS,
        help_text="Each in the format of a line of a question file, whose alternative field names work here too.",
    )


class SetFileSerializer(serializers.Serializer[Any]):
    """The multipart form for a new question set; empty if it has no file."""

    name = TextField(max_length=120)
    knowledge_base = IntegerField(min_value=1)
    file = serializers.FileField(
        required=False, help_text="Questions as JSON lines, each as in `questions` of the JSON form."
    )


class QuestionSerializer(serializers.ModelSerializer[EvaluationQuestion]):
    """A question with its right passages."""

    class Meta:
        """The fields, as stored."""

        model = EvaluationQuestion
        fields = ["id", "key", "text", "relevant", "created_at"]


class NewQuestionSerializer(serializers.Serializer[Any]):
    """A question and the chunks of the set's knowledge base that answer it."""

    text = TextField(max_length=settings.MAX_QUESTION_CHARACTERS)
    chunks = IdsField(allow_empty=False)
    grade = IntegerField(min_value=1, max_value=1000, default=1)


def _number(kind: type[FloatField] | type[IntegerField], name: str) -> Any:
    limits: dict[str, Any] = {"min_value": NUMBERS[name][1], "max_value": LARGEST}
    return kind(required=False, allow_null=True, **limits)


class RunOptionsSerializer(serializers.Serializer[Any]):
    """How a run searches; omitted options use the site's settings.

    With an assistant that the caller may use, it answers each question on the caller's behalf, and no other option is
    allowed.
    """

    mode = ChoiceField(choices=MODES, default="hybrid")
    reorder = BooleanField(required=False, allow_null=True, default=None)
    reader = BooleanField(required=False, allow_null=True, default=None)
    rerank = ChoiceField(choices=METHODS, required=False, allow_null=True)
    vector_weight = _number(FloatField, "vector_weight")
    rrf_constant = _number(IntegerField, "rrf_constant")
    vector_threshold = _number(FloatField, "vector_threshold")
    bm25_threshold = _number(FloatField, "bm25_threshold")
    per_document = _number(IntegerField, "per_document")
    assistant = IntegerField(required=False, allow_null=True, min_value=1, help_text="An id from `/api/assistants`.")
    assistant_version = IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="The assistant's version number; defaults to the newest.",
    )


class RunSerializer(serializers.ModelSerializer[EvaluationRun]):
    """A run, its progress, and its figures once it is done."""

    started_by = serializers.CharField(source="started_by.username", read_only=True, default=None)
    usage = serializers.DictField(
        child=serializers.IntegerField(),
        read_only=True,
        help_text="For an assistant's run: tokens by kind, and `median_ms`.",
    )
    summary = serializers.SerializerMethodField(help_text="The settings in words.")
    answer_states = serializers.DictField(
        child=serializers.IntegerField(),
        read_only=True,
        help_text="The number of questions with the outcome `answered`, `nearest` (only passages) and `nothing`.",
    )

    error = serializers.CharField(source="error_said", read_only=True)
    notes = serializers.ListField(child=serializers.CharField(), source="notes_said", read_only=True)

    class Meta:
        """The fields, without the results."""

        model = EvaluationRun
        fields = [
            "id", "evaluation_set", "settings", "summary", "status", "progress", "error", "question_count", "notes",
            "figures", "answer_states", "usage", "started_by", "created_at", "finished_at",
        ]  # fmt: skip

    def get_summary(self, run: EvaluationRun) -> str:
        """Return the settings in words."""
        return RunOptions.from_stored(run.settings).label


class ResultSerializer(serializers.ModelSerializer[EvaluationResult]):
    """The result of a run for one question."""

    figures = serializers.DictField(child=serializers.FloatField(), read_only=True)
    answer_state = AnswerStateField()
    answer = serializers.CharField(read_only=True, help_text="An assistant's answer, with `[n]` for citations.")
    error = serializers.CharField(
        source="error_said", read_only=True, help_text="Why the answer is missing or incomplete."
    )
    usage = serializers.DictField(child=serializers.IntegerField(), read_only=True, help_text="Tokens by kind.")

    class Meta:
        """The fields; `figures` has the figures by name."""

        model = EvaluationResult
        fields = [
            "id", "key", "text", "figures", "answer_state", "answer", "citations", "error", "usage", "hits", "missed",
            "took_ms",
        ]  # fmt: skip

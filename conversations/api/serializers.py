"""Serializers for sessions, messages and related objects."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations import queries
from conversations.assistants.choice import Choices
from conversations.blocks import KINDS
from conversations.instructions.texts import LONGEST_INSTRUCTIONS
from conversations.models import ChatLabel, ChatSession, Citation, Feedback, Message, ShareLink, TraceStep, Turn
from conversations.pipeline import failures
from conversations.services import TITLE_LENGTH
from conversations.turns.lifecycle import Ask
from knowledge.api.fields import MetadataFilterField, TagsField
from knowledge.labels import LabelFilter
from knowledge.models import Document
from ragsite.api.fields import (
    BooleanField,
    ChoiceField,
    IdsField,
    IntegerField,
    ModelSerializer,
    TextField,
    UUIDField,
)
from ragsite.llm.stream.unicode_repair import INVISIBLE
from ragsite.requests import absolute
from retrieval.api.serializers import AnswerStateField, SourceSerializer

# The maximum per request: more passages take a model long to read, with little benefit.
MOST_PASSAGES = 50
LONGEST_FOLDER = 500


class QuestionField(TextField):
    """A question with at least one visible character."""

    invisible = INVISIBLE

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": settings.MAX_QUESTION_CHARACTERS} | kwargs)


class SessionSerializer(serializers.ModelSerializer[ChatSession]):
    """A session in a list; without knowledge bases or documents, it searches everything that its owner can read."""

    chat_title = serializers.CharField(source="name")
    chat_time = serializers.DateTimeField(source="last_activity_at")
    model_id = serializers.CharField(source="model.model", default=None, allow_null=True)

    class Meta:
        """Field names are those used by clients of the chat routes."""

        model = ChatSession
        fields = [
            "id", "chat_title", "chat_time", "created_at", "pinned", "archived", "labels", "knowledge_bases",
            "documents", "tags", "metadata", "folder", "assistant", "model_id", "instructions",
        ]  # fmt: skip
        read_only_fields = fields


class SessionDetailSerializer(SessionSerializer):
    """A session with its initial system prompt, which is empty before its first turn."""

    system_prompt = serializers.SerializerMethodField()

    class Meta(SessionSerializer.Meta):
        """The fields of a list, and the prompt."""

        fields = [*SessionSerializer.Meta.fields, "system_prompt"]
        read_only_fields = fields

    def get_system_prompt(self, session: ChatSession) -> str:
        """Return the prompt; the messages that a turn actually sent are in its trace."""
        return queries.system_prompt(session)


class ScopeSerializer(serializers.Serializer[Any]):
    """The sources of a session (knowledge bases, or documents instead), its assistant and its model."""

    not_both = ("knowledge_bases", "documents")

    knowledge_bases = IdsField(
        required=False,
        help_text="Knowledge bases to search. If neither these nor documents are given, everything readable.",
    )
    documents = IdsField(required=False, help_text="Search only these documents, instead of knowledge bases.")
    tags = TagsField(required=False, help_text="Search only documents that have one of these tags.")
    metadata = MetadataFilterField(required=False, help_text="Search only documents with these field values.")
    folder = TextField(
        required=False,
        allow_blank=True,
        max_length=LONGEST_FOLDER,
        help_text="Search only documents in this folder and its subfolders.",
    )
    assistant = IntegerField(
        required=False, allow_null=True, min_value=1, help_text="One of `/api/assistants`; null is the default."
    )
    model_id = TextField(
        required=False, allow_null=True, max_length=200, help_text="One of `/api/models`; null is the default."
    )
    instructions = TextField(
        required=False,
        allow_blank=True,
        max_length=LONGEST_INSTRUCTIONS,
        help_text="How answers in this session should be written; empty for no wish.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject knowledge bases together with documents, which would be ambiguous."""
        if attrs.get("knowledge_bases") and attrs.get("documents"):
            raise serializers.ValidationError(
                {"documents": [_("Specify either knowledge bases or documents to search, not both.")]}
            )
        return attrs


class SessionCreateSerializer(ScopeSerializer):
    """A new session; without a title, one is generated."""

    chat_title = TextField(max_length=TITLE_LENGTH, required=False, allow_blank=True, default="")


class SessionUpdateSerializer(ScopeSerializer):
    """Changes to a session; omitted fields stay unchanged."""

    chat_title = TextField(max_length=TITLE_LENGTH, required=False)
    pinned = BooleanField(required=False)
    archived = BooleanField(
        required=False,
        help_text="Whether the session is archived, which removes it from the list. The next question restores it.",
    )
    labels = IdsField(required=False, help_text="The complete set of its labels, from `/api/chat/labels`.")


class ListedSerializer(serializers.Serializer[Any]):
    """Parameters for listing sessions."""

    q = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Words in titles, questions or answers. Archived sessions are included.",
    )
    archived = serializers.BooleanField(
        required=False, allow_null=True, default=None, help_text="Whether to list archived sessions or the others."
    )
    label = IntegerField(  # type: ignore[assignment]
        required=False, min_value=1, help_text="One of `/api/chat/labels`."
    )


class LabelSerializer(serializers.ModelSerializer[ChatLabel]):
    """A label of chats."""

    name = TextField(max_length=ChatLabel.NAME_LENGTH)

    class Meta:
        """Names are unique per user, ignoring case."""

        model = ChatLabel
        fields = ["id", "name"]


class DoneSerializer(serializers.Serializer[Any]):
    """Whether the operation was performed, and a message."""

    success = serializers.BooleanField()
    message = serializers.CharField()


class SessionCreatedSerializer(serializers.Serializer[Any]):
    """The new session's id and title."""

    success = serializers.BooleanField()
    session_id = serializers.IntegerField()
    chat_title = serializers.CharField()


class CitationSerializer(serializers.ModelSerializer[Citation]):
    """A numbered source; its ids become null when the passage or its document is deleted, other fields are kept."""

    document_id = serializers.IntegerField(allow_null=True)
    chunk_id = serializers.IntegerField(allow_null=True)
    merged = serializers.ListField(
        child=serializers.IntegerField(),
        source="joined",
        help_text="For merged passages, their chunk IDs in document order; `chunk_id` is the best of them.",
    )
    sources = SourceSerializer(many=True)

    class Meta:
        """`cited` distinguishes the sources that the text cites from those that were only read."""

        model = Citation
        fields = [
            "index", "document_id", "chunk_id", "merged", "filename", "title", "heading", "page", "snippet", "reason",
            "score", "sources", "cited", "request_id",
        ]  # fmt: skip
        read_only_fields = fields


class DocumentChoiceSerializer(serializers.Serializer[Any]):
    """A document that a question may mean."""

    document_id = serializers.IntegerField()
    name = serializers.CharField()


class BlockSerializer(serializers.Serializer[Any]):
    """A block of a message: `text` and `code` have `text`, a table `columns` and `rows`, an image the rest.

    With `choices`, the answer asks which of these documents is meant; `regenerate` with a `document_id` answers from
    that one.
    """

    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    text = serializers.CharField(required=False)
    language = serializers.CharField(required=False)
    columns = serializers.ListField(child=serializers.CharField(), required=False)
    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), required=False)
    alt = serializers.CharField(required=False)
    url = serializers.CharField(required=False)
    width = serializers.IntegerField(required=False, allow_null=True)
    height = serializers.IntegerField(required=False, allow_null=True)
    choices = DocumentChoiceSerializer(many=True, required=False)

    def to_representation(self, instance: Any) -> Any:
        """Return the block as stored."""
        return instance


class RegenerateSerializer(serializers.Serializer[Any]):
    """Which document to answer from, if the answer offers a choice."""

    document_id = IntegerField(required=False, allow_null=True, min_value=1)


class ProblemSerializer(serializers.Serializer[Any]):
    """Why a sentence is doubted.

    A quotation, number or name isn't in the source, a word was replaced, the opposite is stated, or too few words are
    from the source; or the source is in another language or was deleted.
    """

    kind = serializers.ChoiceField(
        choices=["quotation", "number", "name", "word", "polarity", "words", "language", "source", "model"]
    )
    what = serializers.CharField()
    says = serializers.CharField(default="", help_text="What the source says instead, if that is certain.")


class CheckSerializer(serializers.Serializer[Any]):
    """How well the sources of a sentence support it. `coverage` is the share of its words found there, 0 to 1.

    An `uncited` sentence cites no source and makes a statement that no source contains.
    """

    text = serializers.CharField()
    sources = serializers.ListField(child=serializers.IntegerField())
    status = serializers.ChoiceField(choices=["supported", "unclear", "partly", "not_found", "contradicted", "uncited"])
    coverage = serializers.FloatField()
    problems = ProblemSerializer(many=True)


class MessageErrorSerializer(serializers.Serializer[Any]):
    """Why an answer failed or was interrupted."""

    code = serializers.CharField()
    message = serializers.CharField()


class UsageSerializer(serializers.Serializer[Any]):
    """The tokens of an answer, and how many parts of the prompt the model's window (`window`) had no room for."""

    prompt_tokens = serializers.IntegerField(required=False, help_text="As counted by the models' providers.")
    completion_tokens = serializers.IntegerField(required=False, help_text="As counted by the models' providers.")
    by_kind = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="The answer's tokens by kind of block, such as `text` and `table`, as estimated by the site.",
    )
    citations_removed = serializers.IntegerField(
        required=False, help_text="Citations of sources that don't exist, which were removed."
    )
    pictures_removed = serializers.IntegerField(
        required=False, help_text="Pictures from elsewhere, which were replaced by their descriptions."
    )
    window = serializers.IntegerField(required=False)
    passages_left_out = serializers.IntegerField(required=False)
    passages_shortened = serializers.IntegerField(required=False)
    summaries_left_out = serializers.IntegerField(required=False)
    facts_left_out = serializers.IntegerField(required=False)
    turns_left_out = serializers.IntegerField(required=False)
    turns_shortened = serializers.IntegerField(required=False)


class MessageSerializer(serializers.ModelSerializer[Message]):
    """A question or an answer in its current state."""

    turn_id = serializers.IntegerField()
    parent_turn_id = serializers.IntegerField(source="turn.parent_turn_id", allow_null=True)
    continues = serializers.BooleanField(
        source="turn.continues",
        help_text="Whether the turn continues its parent's answer, which was cut off; its question is the same.",
    )
    blocks = BlockSerializer(many=True)
    citations = CitationSerializer(many=True)
    status = serializers.CharField(help_text="streaming, completed, stopped, failed or interrupted")
    answer_state = AnswerStateField()
    checks = CheckSerializer(many=True)
    usage = UsageSerializer()
    finish_reason = serializers.CharField(
        help_text="`length` or `content_filter` if the model stopped before the answer was complete; otherwise empty."
    )
    can_continue = serializers.BooleanField(
        help_text="Whether the answer was cut off after it had begun, so that `continue` can continue it."
    )
    error = serializers.SerializerMethodField()

    class Meta:
        """`content` is the plain text of `blocks`; turns form a tree by `parent_turn_id`."""

        model = Message
        fields = [
            "id", "turn_id", "parent_turn_id", "continues", "role", "content", "blocks", "thinking", "status",
            "answer_state", "finish_reason", "can_continue", "error", "citations", "checks", "usage",
            "created_at",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(MessageErrorSerializer(allow_null=True))
    def get_error(self, message: Message) -> dict[str, str] | None:
        """Return `{"code", "message"}`, or None if there was no error."""
        if not message.error_code:
            return None
        return {"code": message.error_code, "message": failures.shown(message.error_code, message.error_message)}


class SessionFileSerializer(serializers.ModelSerializer[Document]):
    """A file of a session, which belongs only to it."""

    filename = serializers.CharField(source="original_filename")

    class Meta:
        """Metadata; the text is in the file."""

        model = Document
        fields = ["id", "filename", "media_type", "size", "status", "created_at"]
        read_only_fields = fields


class SessionExportSerializer(serializers.Serializer[Any]):
    """A session with the messages of all its branches, oldest first; a tree by `parent_turn_id`."""

    exported_at = serializers.DateTimeField()
    session = SessionSerializer()
    files = SessionFileSerializer(many=True)
    messages = MessageSerializer(many=True)
    note = serializers.CharField(help_text="Content that was left out of the messages, and why; empty if nothing was.")


class ShareLinkSerializer(serializers.ModelSerializer[ShareLink]):
    """A link (`url`) with which anyone can read a session's branch up to `last_turn_id`."""

    id = serializers.UUIDField(source="pk")
    session_id = serializers.IntegerField()
    last_turn_id = serializers.IntegerField()
    url = serializers.SerializerMethodField()

    class Meta:
        """Revoked links aren't listed."""

        model = ShareLink
        fields = ["id", "session_id", "last_turn_id", "url", "created_at"]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField())
    def get_url(self, link: ShareLink) -> str:
        """Return the absolute URL."""
        return absolute(self.context["request"], reverse("shared", args=[link.pk]))


class QuotingLinkSerializer(serializers.Serializer[Any]):
    """An active link that quotes a knowledge base, without its URL."""

    id = serializers.UUIDField(source="link.pk")
    shared_by = serializers.CharField(source="link.session.owner.username")
    created_at = serializers.DateTimeField(source="link.created_at")
    quotations = serializers.IntegerField()
    documents = serializers.ListField(child=serializers.CharField())


class ShareLinkCreateSerializer(serializers.Serializer[Any]):
    """The last turn of a shared branch; by default, the newest."""

    last_turn_id = IntegerField(required=False, allow_null=True, default=None, min_value=1)


class TraceStepSerializer(serializers.ModelSerializer[TraceStep]):
    """A node that ran; `detail` contains its input and decisions."""

    class Meta:
        """`ms` is its duration in milliseconds."""

        model = TraceStep
        fields = ["order", "key", "status", "started_at", "ms", "detail"]
        read_only_fields = fields


class TraceSerializer(serializers.ModelSerializer[Turn]):
    """The steps that led to an answer."""

    turn_id = serializers.IntegerField(source="pk")
    assistant = serializers.CharField(source="assistant_version.assistant.name", default=None, allow_null=True)
    assistant_version = serializers.IntegerField(source="assistant_version.number", default=None, allow_null=True)
    answer_state = AnswerStateField()
    steps = TraceStepSerializer(source="trace", many=True)

    class Meta:
        """Includes the plan's action, the search query and the model that wrote the answer."""

        model = Turn
        fields = [
            "turn_id", "request_id", "retrieval_query", "action", "answer_state", "assistant", "assistant_version",
            "model", "token_count", "steps",
        ]  # fmt: skip
        read_only_fields = fields


class FeedbackSerializer(ModelSerializer[Feedback]):
    """Feedback: 1 (helpful) or -1 (not helpful), with an optional reason and comment."""

    value = ChoiceField(choices=[1, -1])
    reason = TextField(
        required=False,
        allow_blank=True,
        max_length=40,
        help_text="The pages use `wrong`, `unsupported`, `incomplete` and `off-topic`.",
    )

    class Meta:
        """There is one per user and answer."""

        model = Feedback
        fields = ["value", "reason", "comment", "created_at"]
        read_only_fields = ["created_at"]
        extra_kwargs = {"comment": {"max_length": Feedback.COMMENT_CHARACTERS}}


class ChoicesSerializer(serializers.Serializer[Any]):
    """Options for answering one question; omitted or null ones follow the session, its assistant or the site."""

    assistant = IntegerField(required=False, allow_null=True, min_value=1, help_text="One of `/api/assistants`.")
    model_id = TextField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=200,
        help_text="The model that writes the answer, one of `/api/models`; the error for any other lists them.",
    )
    insert_block_llm_id = TextField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=200,
        help_text="The model that judges each passage, if that is enabled; also one of `/api/models`.",
    )
    thinking = BooleanField(
        required=False,
        allow_null=True,
        help_text="Whether to ask the model to reason first, if possible; false also hides any reasoning.",
    )
    mode = ChoiceField(
        choices=["documents", "general", "chat"],
        required=False,
        allow_null=True,
        help_text="Answer only from documents, from documents and then general knowledge, or chat without documents.",
    )
    search_mode = ChoiceField(
        choices=["hybrid", "words", "meaning"],
        required=False,
        allow_null=True,
        help_text="Search by words and meaning, by words only, or by meaning only.",
    )
    k = IntegerField(
        required=False, allow_null=True, min_value=1, max_value=100, help_text="Number of hits kept after fusion."
    )
    rerank_top_n = IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST_PASSAGES,
        help_text="Maximum number of passages used for the answer.",
    )
    use_insert_block = BooleanField(
        required=False, allow_null=True, help_text="Whether a model judges which passages answer the question."
    )

    tags = TagsField(
        required=False,
        allow_null=True,
        help_text="Search only documents that have one of these tags, instead of the session's.",
    )
    metadata = MetadataFilterField(
        required=False,
        allow_null=True,
        help_text="Search only documents with these field values or ranges, instead of the session's.",
    )
    folder = TextField(
        required=False,
        allow_null=True,
        max_length=LONGEST_FOLDER,
        help_text="Search only documents in this folder and its subfolders, instead of the session's.",
    )

    def ask(self, **fields: Any) -> Ask:
        """Return the question with its options; `fields` are additional arguments of `Ask`."""
        data = self.validated_data
        choices = Choices(
            assistant_id=data.get("assistant"),
            model=data.get("model_id") or "",
            filter_model=data.get("insert_block_llm_id") or "",
            thinking=data.get("thinking"),
            mode=data.get("mode") or "",
            search_mode=data.get("search_mode") or "",
            k=data.get("k"),
        )
        asked = {"use_filter": data.get("use_insert_block"), "top_n": data.get("rerank_top_n"), "choices": choices}
        given = [data.get(name) for name in ("tags", "metadata", "folder")]
        if any(value is not None for value in given):
            asked["labels"] = LabelFilter.read(given[0] or (), given[1], given[2] or "")
        return Ask(question=data["question"], parent_turn_id=data.get("parent_turn_id"), **asked | fields)


class AskSerializer(ChoicesSerializer):
    """A question. `parent_turn_id` is the turn that it follows; null starts a new branch at the root, and if it is
    omitted, the question follows the newest turn. A `request_id` sent twice creates one turn.
    """

    either = ("content", "question")

    content = QuestionField(required=False)
    question = QuestionField(required=False, help_text="Alias of `content`; one of them is required.")
    parent_turn_id = IntegerField(required=False, allow_null=True, min_value=1)
    request_id = UUIDField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Accept the question under either of its names."""
        if "question" not in attrs and "content" not in attrs:
            raise serializers.ValidationError({"content": _("The question is empty.")})
        return {"question": attrs.get("content"), **attrs}


class ConversationSerializer(ChoicesSerializer):
    """A question in a session, or in a new one if none is given."""

    question = QuestionField()
    session_id = IntegerField(required=False, allow_null=True, min_value=1)
    parent_turn_id = IntegerField(required=False, allow_null=True, min_value=1)


class AssistantSerializer(serializers.Serializer[Any]):
    """An assistant that the caller can choose."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField()
    is_default = serializers.BooleanField()
    greeting = serializers.CharField()
    questions = serializers.ListField(child=serializers.CharField(), help_text="Suggested questions.")


class ModelInForceSerializer(serializers.Serializer[Any]):
    """The model of a purpose, and how it is called."""

    model = serializers.CharField(help_text="Empty if its server chooses the model.")
    temperature = serializers.FloatField()
    max_tokens = serializers.IntegerField()


class PromptInForceSerializer(serializers.Serializer[Any]):
    """A prompt with the instructions that settings add to it."""

    version = serializers.IntegerField(help_text="0 for the default of the release.")
    system = serializers.CharField()
    user = serializers.CharField()


class InForceSerializer(serializers.Serializer[Any]):
    """The values with which an assistant answers now: its own, completed by the site's."""

    pipeline = serializers.CharField()
    instructions = serializers.CharField(help_text="How it should answer; empty for no wish.")
    settings = serializers.DictField(child=serializers.JSONField(), help_text="Values by name.")
    own_settings = serializers.ListField(
        child=serializers.CharField(), help_text="The settings that the assistant itself sets; others are the site's."
    )
    models = serializers.DictField(
        child=ModelInForceSerializer(allow_null=True), help_text="By purpose; null without a model for it."
    )
    prompts = serializers.DictField(
        child=PromptInForceSerializer(),
        allow_null=True,
        help_text="By purpose and language, such as `answer.en`; null without permission to view prompts.",
    )


class AssistantDetailSerializer(AssistantSerializer):
    """An assistant that the caller can choose, with the values in force for those who may view assistants."""

    version = serializers.IntegerField(allow_null=True, help_text="The newest version's number.")
    knowledge_bases = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The knowledge bases that it searches, of those that the caller may read; empty for all of these.",
    )
    model = serializers.CharField(help_text="The model that writes answers; empty if answers are quoted.")
    in_force = InForceSerializer(
        allow_null=True, help_text="Null without permission to view or change assistants in the administration."
    )


class OfferedModelSerializer(serializers.Serializer[Any]):
    """A model that the caller can choose for answers."""

    id = serializers.CharField()
    is_default = serializers.BooleanField()


class StartedSerializer(serializers.Serializer[Any]):
    """A turn that has begun; `stream` is the URL of its answer's stream."""

    success = serializers.BooleanField()
    session_id = serializers.IntegerField()
    turn_id = serializers.IntegerField()
    request_id = serializers.UUIDField()
    user_message_id = serializers.IntegerField()
    assistant_message_id = serializers.IntegerField()
    parent_turn_id = serializers.IntegerField(allow_null=True)
    stream = serializers.CharField()

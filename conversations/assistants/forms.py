"""The form of an assistant: its users, and a version of its configuration. Empty fields follow the site."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.assistants import configuration
from conversations.assistants.choice import save_version
from conversations.assistants.configuration import Configuration, ConfigurationError
from conversations.instructions.texts import LONGEST_INSTRUCTIONS
from conversations.models import Assistant, AssistantVersion, ModelProfile, PromptTemplate
from knowledge import access
from knowledge.models import KnowledgeBase
from ragsite import env
from ragsite.site_settings.forms import field_of, text_of
from retrieval.evaluation.access import visible_sets
from retrieval.evaluation.models import EvaluationSet

_OPTION, _MODEL = "option_", "model_"
# The settings that the form shows first, with labels for their values.
_WORDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "ANSWER_MODE": (
        gettext_lazy("Answers come from"),
        {
            "documents": gettext_lazy("documents only"),
            "general": gettext_lazy("documents, then general knowledge if the knowledge bases allow it"),
            "chat": gettext_lazy("the model only, without documents"),
        },
    ),
    "ANSWER_LENGTH": (
        gettext_lazy("Length of answers"),
        {"short": gettext_lazy("short"), "normal": gettext_lazy("normal"), "detailed": gettext_lazy("detailed")},
    ),
    "ANSWER_LANGUAGE": (
        gettext_lazy("Language of answers"),
        {
            "question": gettext_lazy("the language of the question"),
            "en": gettext_lazy("always English"),
            "zh": gettext_lazy("always Chinese"),
        },
    ),
}
# The fields that the form shows outside *Advanced*.
_SIMPLE = ("name", "description", "instructions", "knowledge_bases", "question_set")
_FIRST = tuple(_OPTION + name for name in _WORDS)


class AssistantForm(forms.ModelForm[Assistant]):
    """An assistant and its newest version; saving a different configuration adds a version.

    `user` is the user who fills in the form, and may choose the knowledge bases that they may read.
    """

    user: Any = None

    knowledge_bases = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Knowledge bases"),
        queryset=KnowledgeBase.objects.none(),
        required=False,
        help_text=gettext_lazy("Answers use those that the user may read. If none are chosen, all are used."),
    )
    instructions = forms.CharField(
        label=gettext_lazy("How should it answer?"),
        required=False,
        max_length=LONGEST_INSTRUCTIONS,
        widget=forms.Textarea(
            attrs={"rows": 3, "placeholder": gettext_lazy("e.g. “In at most three sentences, for new colleagues.”")}
        ),
        help_text=gettext_lazy(
            "Instructions for the language model. They don't change the rules on sources and citations. Without a "
            "language model, only a wish for length or language is followed, such as “in at most two sentences” or "
            "“answer in English”."
        ),
    )
    pipeline = forms.ChoiceField(label=gettext_lazy("Pipeline"), required=False)
    prompts = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Prompts"),
        queryset=PromptTemplate.objects.order_by("purpose", "language", "-version"),
        required=False,
        help_text=gettext_lazy("Versions to use instead of the site's; one per purpose and language."),
    )
    greeting = forms.CharField(
        label=gettext_lazy("Greeting"),
        required=False,
        max_length=configuration.LONGEST_GREETING,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Shown in an empty chat."),
    )
    questions = forms.CharField(
        label=gettext_lazy("Suggested questions"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("One on each line."),
    )

    class Meta:
        """The fields of the assistant itself."""

        model = Assistant
        fields = ["name", "description", "enabled", "everyone", "groups", "people", "question_set"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.fields:  # the user may only view it
            return
        newest = self.instance.versions.first() if self.instance.pk else None
        now = configured(newest)
        as_set = _("same as the site")
        self.fields["pipeline"].choices = [("", as_set), *((name, name) for name in settings.PIPELINES)]  # type: ignore[attr-defined]
        for option in of_assistants():
            field = self.fields[_OPTION + option.setting] = field_of(option, as_set)
            field.label, field.help_text = str(field.help_text).replace("`", ""), option.setting
            if option.setting in _WORDS:
                field.label, words = _WORDS[option.setting]
                field.choices = [("", as_set), *words.items()]  # type: ignore[attr-defined]
            if option.setting in now.settings:
                self.initial[_OPTION + option.setting] = env.written(now.settings[option.setting])
        profiles = list(ModelProfile.objects.all())
        for purpose in configuration.PURPOSES:
            self.fields[_MODEL + purpose] = forms.TypedChoiceField(
                label=ModelProfile.Purpose(purpose).label,
                choices=[("", as_set), *((row.pk, row.model) for row in profiles if row.purpose == purpose)],
                coerce=int,
                empty_value=None,
                required=False,
                initial=now.models.get(purpose),
            )
        seen = visible_sets(self.user) if self.user is not None else EvaluationSet.objects.all()
        if self.instance.question_set_id and not seen.filter(pk=self.instance.question_set_id).exists():
            self.fields.pop("question_set", None)  # keep it
        elif "question_set" in self.fields:
            self.fields["question_set"].queryset = seen.order_by("name")  # type: ignore[attr-defined]
        readable = access.readable(self.user) if self.user is not None else KnowledgeBase.objects.all()
        self.fields["knowledge_bases"].queryset = readable.order_by("name")  # type: ignore[attr-defined]
        # Bases that this user can't see stay chosen.
        ids = set(readable.values_list("pk", flat=True))
        self._unseen = [pk for pk in now.knowledge_bases if pk not in ids]
        self.initial.update(
            knowledge_bases=list(now.knowledge_bases),
            pipeline=now.pipeline,
            prompts=list(now.prompts.values()),
            instructions=now.instructions,
            greeting=now.greeting,
            questions="\n".join(now.questions),
        )

    def further_options(self) -> list[forms.BoundField]:
        """Return the fields of the other settings, in the order of the settings table."""
        return [self[name] for name in self.fields if name.startswith(_OPTION) and name not in _FIRST]

    @property
    def is_advanced(self) -> bool:
        """Whether a field under *Advanced* has an error, or is set to another value than that of a new assistant."""
        usual: dict[str, Any] = {"enabled": True, "everyone": True}
        fields = [self[name] for name in self.fields if name not in _SIMPLE]
        is_set = (field.value() not in ("", None, [], usual.get(field.name)) for field in fields)
        return any(is_set) or any(field.errors for field in fields) or bool(self.non_field_errors())

    @property
    def models_used(self) -> bool:
        """Whether a model or a prompt is chosen."""
        return any(field.value() or field.errors for field in (*self.models(), self["prompts"]))

    @property
    def settings_used(self) -> bool:
        """Whether one of the other settings is set."""
        return any(field.value() or field.errors for field in self.further_options())

    def models(self) -> list[forms.BoundField]:
        """Return the fields for choosing models."""
        return [self[name] for name in self.fields if name.startswith(_MODEL)]

    def clean(self) -> dict[str, Any]:
        """Check that the configuration is valid, and that everyone may use the default assistant."""
        data = super().clean() or self.cleaned_data
        chosen: dict[str, Any] = {}
        for option in of_assistants():
            try:
                text = text_of(option, data.get(_OPTION + option.setting))
            except ValidationError as error:
                self.add_error(_OPTION + option.setting, error)
            else:
                chosen |= {} if text is None else {option.setting: text}
        prompts = {f"{prompt.purpose}.{prompt.language}": prompt.pk for prompt in data.get("prompts", [])}
        if len(prompts) < len(data.get("prompts", [])):
            self.add_error("prompts", _("Choose one version per purpose and language."))
        models = {purpose: data.get(_MODEL + purpose) for purpose in configuration.PURPOSES}
        try:
            self.configuration = Configuration.from_dict(
                {
                    "knowledge_bases": [*self._unseen, *(base.pk for base in data.get("knowledge_bases", []))],
                    "pipeline": data.get("pipeline", ""),
                    "settings": chosen,
                    "prompts": prompts,
                    "models": {purpose: pk for purpose, pk in models.items() if pk is not None},
                    "instructions": data.get("instructions", "").replace("\r\n", "\n"),
                    "greeting": data.get("greeting", ""),
                    "questions": [line.strip() for line in data.get("questions", "").splitlines() if line.strip()],
                }
            )
        except ConfigurationError as error:
            self.add_error(None, str(error))
        if self.instance.is_default and not (data.get("enabled") and data.get("everyone")):
            self.add_error("everyone", _("The default assistant must be enabled and available to everyone."))
        return data

    def save_version(self, user: Any) -> AssistantVersion:
        """Store the configuration as a version of the assistant, which must be saved."""
        return save_version(self.instance, self.configuration, user)


def of_assistants() -> list[env.Option]:
    """Return the settings that assistants can change."""
    return [option for option in env.options.values() if option.live == "assistant"]


def configured(version: AssistantVersion | None) -> Configuration:
    """Return a version's configuration, or an empty one if it is no longer valid."""
    if version is None:
        return Configuration()
    try:
        return Configuration.from_dict(version.configuration)
    except ConfigurationError:
        return Configuration()

"""Forms of the retrieval pages: search options and question sets."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.models import KnowledgeBase
from ragsite.site_settings.config import config
from retrieval.answerability.reading import is_available
from retrieval.evaluation.answering import Assistant, answerer
from retrieval.evaluation.options import RunOptions

MODES = [
    ("hybrid", gettext_lazy("Hybrid")),
    ("vector", gettext_lazy("Meaning")),
    ("fulltext", gettext_lazy("Words")),
]
RERANKERS: dict[str, Any] = {
    "off": gettext_lazy("Off"),
    "endpoint": gettext_lazy("Endpoint"),
    "local": gettext_lazy("Local model"),
    "llm": gettext_lazy("Language model"),
    "blend": gettext_lazy("Blend"),
}
MOST_HITS = 50
# Fields whose placeholder shows the setting that applies if they are empty.
_SITE = {
    "k": "FUSED_K",
    "rrf_constant": "RRF_CONSTANT",
    "vector_weight": "VECTOR_WEIGHT",
    "vector_threshold": "VECTOR_THRESHOLD",
    "bm25_threshold": "BM25_THRESHOLD",
}
_FLAGS = {"on": True, "off": False}


def _whole(label: Any, most: int) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=most)


def _number(label: Any, least: float | None = None, most: float | None = None) -> forms.FloatField:
    return forms.FloatField(label=label, required=False, min_value=least, max_value=most)


class SearchSettingsForm(forms.Form):
    """The search options of an evaluation run. Empty fields use the site's settings."""

    mode = forms.ChoiceField(label=gettext_lazy("Search by"), choices=MODES, required=False, widget=forms.RadioSelect)
    reorder = forms.ChoiceField(label=gettext_lazy("Reorder by features"), required=False)
    reader = forms.ChoiceField(label=gettext_lazy("Use the reader"), required=False)
    rerank = forms.ChoiceField(label=gettext_lazy("Rerank"), required=False)
    rrf_constant = _whole(gettext_lazy("RRF constant"), 1000)
    vector_weight = _number(gettext_lazy("Weight of meaning"), 0, 100)
    vector_threshold = _number(gettext_lazy("Minimum similarity"), -10, 10)
    bm25_threshold = _number(gettext_lazy("Minimum BM25 score"), 0)
    per_document = _whole(gettext_lazy("Maximum per document"), 100)

    # The fields that are always shown; the others are shown on request.
    FIRST: tuple[str, ...] = ("reorder", "reader", "rerank")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Show the site's setting in each field."""
        super().__init__(*args, **kwargs)
        self.auto_id = "id-%s"
        for name, setting in _SITE.items():
            if name in self.fields:
                value = getattr(config, setting)
                self.fields[name].widget.attrs["placeholder"] = _("off") if value is None else f"{value:g}"
        self.fields["per_document"].widget.attrs["placeholder"] = _("any")
        as_set = _("Default: {value}")
        for name, is_on in (("reorder", config.ENABLE_REORDER), ("reader", config.ENABLE_READER and is_available())):
            on_off = _("On") if is_on else _("Off")
            self._choose(name, [("", as_set.format(value=on_off)), ("on", _("On")), ("off", _("Off"))])
        method = RERANKERS[config.RERANK_METHOD if config.ENABLE_RERANK else "off"]
        self._choose("rerank", [("", as_set.format(value=method)), *RERANKERS.items()])

    def _choose(self, name: str, choices: list[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def first(self) -> list[forms.BoundField]:
        """Return the fields that are always shown."""
        return [self[name] for name in self.FIRST]

    def more(self) -> list[forms.BoundField]:
        """Return the fields that are shown on request."""
        return [field for field in self if field.name != "mode" and field.name not in self.FIRST]

    @property
    def more_is_used(self) -> bool:
        """Whether a field shown on request has a value or an error."""
        return any(field.value() or field.errors for field in self.more())

    def chosen(self) -> dict[str, Any]:
        """Return the values of the non-empty fields, for `RunOptions`."""
        given = self.cleaned_data.items()
        data = {name: value for name, value in given if value is not False and value not in (None, "")}
        return data | {name: _FLAGS[data[name]] for name in ("reorder", "reader") if name in data}


class AssistantField(forms.ChoiceField):
    """A choice of an assistant's version; may be empty."""

    def offer(self, found: Iterable[Assistant], without: Any) -> None:
        """Offer these assistants, and an empty choice labelled `without`."""
        self.known = {each.value: each for each in found}
        self.choices = [("", without), *((value, each.name) for value, each in self.known.items())]

    def chosen(self, value: str) -> Assistant | None:
        """Return the chosen assistant, or None."""
        return self.known.get(value)


class AssistantsForm(forms.Form):
    """The assistant to answer a set's questions, and another to compare it with."""

    assistant = AssistantField(label=gettext_lazy("Assistant"))
    beside = AssistantField(label=gettext_lazy("Compare with"), required=False)

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        """Offer the assistants that the user may use."""
        super().__init__(*args, **kwargs)
        self.auto_id = "id-%s"
        found = answerer().offered(user)
        for name, without in (("assistant", _("Choose")), ("beside", _("No other assistant"))):
            field = self.fields[name]
            assert isinstance(field, AssistantField)
            field.offer(found, without)

    def options(self) -> list[RunOptions]:
        """Return the options of the requested runs."""
        values = dict.fromkeys(self.cleaned_data[name] for name in ("assistant", "beside"))
        pairs = [value.split(".") for value in values if value]
        return [RunOptions(assistant=int(pk), assistant_version=int(number)) for pk, number in pairs]


class SideForm(SearchSettingsForm):
    """The options of one side of the playground, including those that only change how much is shown."""

    assistant = AssistantField(
        label=gettext_lazy("Answered by"), required=False, widget=forms.Select(attrs={"class": "input"})
    )
    k = _whole(gettext_lazy("Hits"), MOST_HITS)
    merge_neighbours = forms.BooleanField(label=gettext_lazy("Merge neighbours"), required=False)

    FIRST = ("reorder", "reader", "rerank", "k")

    def __init__(self, *args: Any, assistants: Iterable[Assistant] = (), **kwargs: Any) -> None:
        """Offer the assistants that the user may use."""
        super().__init__(*args, **kwargs)
        field = self.fields["assistant"]
        assert isinstance(field, AssistantField)
        field.offer(assistants, _("Search only"))

    def more(self) -> list[forms.BoundField]:
        """Return the search fields that are shown on request."""
        return [field for field in super().more() if field.name != "assistant"]

    @property
    def by(self) -> Assistant | None:
        """The assistant that answers; None for a search."""
        field = self.fields["assistant"]
        assert isinstance(field, AssistantField)
        return field.chosen(self["assistant"].value() or "")

    def chosen(self) -> dict[str, Any]:
        """Return the values of the non-empty search fields."""
        return {name: value for name, value in super().chosen().items() if name != "assistant"}


class QueryForm(forms.Form):
    """The query and the knowledge bases to search; `set` is the question set to collect passages for."""

    q = forms.CharField(label=gettext_lazy("Query"), required=False, max_length=settings.MAX_QUESTION_CHARACTERS)
    base = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy("One of these knowledge bases doesn't exist or isn't shared with you.")
        },
    )
    set = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def __init__(self, data: Any, bases: Iterable[KnowledgeBase]) -> None:
        """Offer the knowledge bases that the user may read."""
        super().__init__(data)
        field = self.fields["base"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        field.choices = [(base.pk, base.name) for base in bases]


class NewSetForm(forms.Form):
    """A new question set, with an optional question file."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    knowledge_base = forms.ModelChoiceField(
        label=gettext_lazy("Knowledge base"), queryset=KnowledgeBase.objects.none(), empty_label=None
    )
    file = forms.FileField(
        label=gettext_lazy("Questions (JSONL, optional)"),
        required=False,
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.json,.txt"}),
    )

    def __init__(self, *args: Any, bases: QuerySet[KnowledgeBase], **kwargs: Any) -> None:
        """Offer the knowledge bases that the user may read."""
        super().__init__(*args, **kwargs)
        field = self.fields["knowledge_base"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = bases
        field.choices = [(base.pk, base.name) for base in bases]  # avoids a second query by the widget

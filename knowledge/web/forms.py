"""Forms of the knowledge pages."""

from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.utils.translation import gettext_lazy as _

from knowledge import queries
from knowledge.models import KnowledgeBase, Membership


class NewKnowledgeBaseForm(forms.ModelForm[KnowledgeBase]):
    """The form for a new knowledge base."""

    class Meta:
        """The required fields; the others have defaults and can be set later."""

        model = KnowledgeBase
        fields = ["name", "description", "visibility"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2}), "visibility": forms.RadioSelect}
        labels = {"visibility": _("Who can read it")}
        help_texts = {"visibility": _("You can share it with people and groups afterwards, under “Members”.")}


class KnowledgeBaseForm(forms.ModelForm[KnowledgeBase]):
    """The form for a base's settings."""

    class Meta:
        """The fields in the order of the page."""

        model = KnowledgeBase
        fields = [
            "name", "description", "visibility", "chunk_size", "chunk_overlap", "answer_from_general_knowledge",
        ]  # fmt: skip
        widgets = {"description": forms.Textarea(attrs={"rows": 3}), "visibility": forms.RadioSelect}
        labels = {"visibility": _("Who can read it")}

    def clean(self) -> dict[str, Any]:
        """Refuse an overlap that is as long as the chunks, or longer."""
        data = super().clean() or {}
        if data.get("chunk_overlap", 0) >= data.get("chunk_size", 1):
            self.add_error("chunk_overlap", str(queries.OVERLAP_TOO_LONG))
        return data


class MemberForm(forms.Form):
    """The form for sharing a base with someone."""

    username = forms.CharField(
        label=_("Username or e-mail"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices)


class GroupForm(forms.Form):
    """The form for sharing a base with everyone in a group."""

    group = forms.ModelChoiceField(
        Group.objects.order_by("name"), label=_("Group"), to_field_name="name", empty_label=_("Choose a group")
    )
    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices)

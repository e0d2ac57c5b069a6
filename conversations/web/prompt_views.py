"""Pages for saved prompts, and their list above the composer."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations import access
from conversations.models import SavedPrompt


class PromptForm(forms.ModelForm[SavedPrompt]):
    """A prompt's title and text."""

    class Meta:
        """Fields that users edit."""

        model = SavedPrompt
        fields = ["title", "text"]
        widgets = {"text": forms.Textarea(attrs={"rows": 5})}


@login_required
@require_GET
def offered(request: HttpRequest) -> HttpResponse:
    """List the prompts that can be inserted into the composer."""
    return render(request, "conversations/_prompts.html", {"prompts": access.saved_prompts(request.user)})


@login_required
@require_http_methods(["GET", "POST"])
def prompts(request: HttpRequest) -> HttpResponse:
    """Show the user's and the site's prompts, and create one (`for_all`: for the site)."""
    return _edited(request, SavedPrompt(), "conversations/prompts.html", prompts=access.saved_prompts(request.user))


@login_required
@require_http_methods(["GET", "POST"])
def prompt(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a prompt."""
    return _edited(request, access.get_saved_prompt(request.user, pk), "conversations/prompt.html")


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a prompt."""
    access.get_saved_prompt(request.user, pk).delete()
    messages.success(request, _("The prompt was deleted."))
    return redirect("saved-prompts")


def _edited(request: HttpRequest, saved: SavedPrompt, template: str, **context: Any) -> HttpResponse:
    may_share = access.may_share_prompts(request.user)
    form = PromptForm(request.POST if request.method == "POST" else None, instance=saved)
    if form.is_bound and form.is_valid():
        changed = form.save(commit=False)
        changed.owner_id = None if may_share and "for_all" in request.POST else request.user.pk
        changed.save()
        return redirect("saved-prompts")
    for_all = "for_all" in request.POST if form.is_bound else saved.pk is not None and saved.owner_id is None
    context |= {"form": form, "may_share": may_share, "for_all": for_all, "saved": saved}
    return render(request, template, context, status=400 if form.is_bound else 200)

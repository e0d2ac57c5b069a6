"""Pages for managing assistants, and choosing one for a chat."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations import access, services
from conversations.assistants import choice, transfer
from conversations.assistants.configuration import Configuration, ConfigurationError
from conversations.assistants.forms import AssistantForm
from conversations.instructions import texts
from conversations.models import Assistant, AssistantVersion
from conversations.web import contexts, rehearsal_views
from ragsite.exceptions import Refused
from ragsite.requests import is_htmx, number_in, refusal


@login_required
@require_GET
def assistants(request: HttpRequest) -> HttpResponse:
    """List the assistants for users who can manage them."""
    choice.require_curator(request.user)
    rows = []
    for each in Assistant.objects.prefetch_related("groups", "people", "versions"):
        names = [group.name for group in each.groups.all()] + [str(person) for person in each.people.all()]
        rows.append((each, _(", ").join(names)))
    return render(request, "conversations/assistants.html", {"rows": rows})


@login_required
@require_http_methods(["GET", "POST"])
def assistant(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Show and save the form of a new or existing assistant; an edit creates a version, or is rehearsed first."""
    choice.require_curator(request.user)
    instance = get_object_or_404(Assistant, pk=pk) if pk is not None else None
    sent = request.POST or (rehearsal_views.form_of(request, instance) if instance is not None else None)
    form = type("Form", (AssistantForm,), {"user": request.user})(sent, instance=instance)
    status = 200
    if request.method == "POST":
        if form.is_valid() and instance is not None and "rehearse" in request.POST:
            if (begun := rehearsal_views.begin(request, form)) is not None:
                return begun
        elif form.is_valid():
            with transaction.atomic():
                saved = form.save()
                version = form.save_version(request.user)
            words = _("“%(name)s” was saved. Version %(number)d applies from the next question.")
            messages.success(request, words % {"name": saved.name, "number": version.number})
            return redirect("assistant", pk=saved.pk)
        status = 422
    versions = instance.versions.select_related("user")[:20] if instance is not None else ()
    context = {"form": form, "assistant": instance, "versions": versions}
    return render(request, "conversations/assistant.html", context, status=status)


@login_required
@require_POST
def restore_version(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Restore an older version of an assistant by saving its configuration as the newest version."""
    choice.require_curator(request.user)
    version = get_object_or_404(AssistantVersion, assistant=pk, number=number)
    try:
        configuration = Configuration.from_dict(version.configuration)
    except ConfigurationError as error:
        messages.error(request, str(error))
    else:
        choice.save_version(version.assistant, configuration, request.user)
        messages.success(request, _("Version %(number)d was restored.") % {"number": number})
    return redirect("assistant", pk=pk)


@login_required
@require_POST
def copy_assistant(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a disabled copy of an assistant."""
    choice.require_curator(request.user)
    version = _newest(pk)
    with transaction.atomic():
        name = transfer.free_name(_("%(name)s (copy)") % {"name": version.assistant.name})
        made = Assistant.objects.create(name=name, description=version.assistant.description, enabled=False)
        AssistantVersion.objects.create(
            assistant=made, number=1, configuration=version.configuration, user_id=request.user.pk
        )
    return redirect("assistant", pk=made.pk)


@login_required
@require_POST
def delete_assistant(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete an assistant; its chats continue with the default one, which can't be deleted."""
    choice.require_curator(request.user)
    gone = get_object_or_404(Assistant, pk=pk)
    if gone.is_default:
        messages.error(request, _("The default assistant can't be deleted."))
        return redirect("assistant", pk=pk)
    gone.delete()
    messages.success(request, _("“%(name)s” was deleted.") % {"name": gone.name})
    return redirect("assistants")


@login_required
@require_GET
def export_assistant(request: HttpRequest, pk: int) -> HttpResponse:
    """Download an assistant as a file."""
    choice.require_curator(request.user)
    version = _newest(pk)
    try:
        text = transfer.written(version)
    except ConfigurationError as error:
        return refusal(str(error))
    name = slugify(version.assistant.name) or f"assistant-{pk}"
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"'}
    return HttpResponse(text, content_type="application/json; charset=utf-8", headers=headers)


@login_required
@require_POST
def import_assistant(request: HttpRequest) -> HttpResponse:
    """Create an assistant from a file, and report what it refers to that this site lacks."""
    choice.require_curator(request.user)
    file = request.FILES.get("file")
    try:
        if file is None or (file.size or 0) > transfer.MOST_BYTES:
            raise ConfigurationError(_("Choose a file of at most 1 MB."))
        made, missing = transfer.read(file.read().decode("utf-8-sig", "replace"), request.user)
    except ConfigurationError as error:
        messages.error(request, str(error))
        return redirect("assistants")
    if missing:
        message = _("Not found on this site, and left out: %(what)s.") % {"what": _(", ").join(missing)}
        messages.warning(request, message)
    messages.success(request, _("The assistant was created. Enable it when it is ready."))
    return redirect("assistant", pk=made.pk)


@login_required
@require_POST
def ask_assistant(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to an empty chat with this assistant."""
    chosen = choice.get_usable(request.user, pk)
    session = services.empty_session(request.user)
    choice.set_assistant(request.user, session, chosen.pk)
    return redirect("session", pk=session.pk)


@login_required
@require_POST
def choose_assistant(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the assistant, the model or the instructions of a chat."""
    session = access.get_session(request.user, pk)
    try:
        if "assistant" in request.POST:
            choice.set_assistant(request.user, session, number_in(request, "assistant"))
        if "model" in request.POST:
            choice.set_model(session, request.POST["model"])
        if "instructions" in request.POST:
            texts.set_chat_instructions(session, request.POST["instructions"])
    except Refused as refused:
        return refusal(refused.message)
    if not is_htmx(request):
        return redirect("session", pk=pk)
    context = contexts.composer_context(request.user, session)
    line = render(request, "conversations/_scope.html", context)
    if not session.turns.exists():  # an empty chat shows the assistant's greeting
        welcome = context | contexts.welcome_context(request.user, context["documents"]) | {"oob": True}
        line.content += render(request, "conversations/_welcome.html", welcome).content
    return line


def _newest(pk: int) -> AssistantVersion:
    version = AssistantVersion.objects.filter(assistant=pk).select_related("assistant").first()
    if version is None:
        raise Http404
    return version

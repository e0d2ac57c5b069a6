"""Template tags and filters for embedding models."""

from typing import Any

from django import template
from django.template.context import Context
from django.utils.translation import gettext, ngettext

from ragsite.language.detection import LANGUAGE_NAMES
from retrieval.embedding_models.notices import filling, notice_of

register = template.Library()


@register.filter
def language_names(codes: list[str]) -> str:
    """Return the names of languages by their codes; empty for an empty list, which means every language.

    Languages without a name here are counted, if there are others with a name.
    """
    named = [str(LANGUAGE_NAMES[code]) for code in codes if code in LANGUAGE_NAMES] or codes
    if others := len(codes) - len(named):
        named = [*named, ngettext("{n} more", "{n} more", others).format(n=others)]
    return gettext(", ").join(named)


@register.filter
def shown_figure(figures: dict[str, float], name: str) -> str:
    """Return a figure of a trial, to three decimal places."""
    return f"{figures[name]:.3f}"


@register.filter
def difference(result: dict[str, Any], name: str) -> float:
    """Return how much better the model on trial is than the current one."""
    return float(round(result["then"][name] - result["now"][name], 3))


@register.filter
def time_left(seconds: int) -> str:
    """Return the approximate time left in words."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return gettext("Less than a minute left.")
    if minutes < 90:
        return ngettext("About {n} minute left.", "About {n} minutes left.", minutes).format(n=minutes)
    hours = round(minutes / 60)
    return ngettext("About {n} hour left.", "About {n} hours left.", hours).format(n=hours)


@register.inclusion_tag("retrieval/filling_notice.html", takes_context=True)
def filling_notice(context: Context, css_class: str = "language-notice") -> dict[str, Any]:
    """Show the progress while a new model is reading the documents."""
    user = context["user"]
    # The page of the models needs no link to itself.
    may_see = user.is_staff and user.has_perm("retrieval.view_registeredmodel") and "may_add" not in context
    return {"filling": filling(), "class": css_class, "may_see": may_see}


@register.inclusion_tag("retrieval/language_notice.html", takes_context=True)
def language_notice(context: Context, knowledge_base: Any) -> dict[str, Any]:
    """Show on a base's page that the model doesn't know its language, to users who may change the base or the model."""
    user = context["user"]
    notice = notice_of(knowledge_base.pk) if user.is_staff or context.get("can_edit") else None
    may_change = notice is not None and user.is_staff and user.has_perm("retrieval.view_registeredmodel")
    return {"notice": notice if may_change or context.get("can_edit") else None, "may_change": may_change}


@register.inclusion_tag("admin/retrieval/language_notice.html", takes_context=True)
def site_language_notice(context: Context) -> dict[str, Any]:
    """Show in the admin that the model doesn't know the language of most of the site's passages."""
    may_see = context["user"].has_perm("retrieval.view_registeredmodel")
    # The page of the models has `may_add`, and its notice links to adding one.
    here, may_add = "may_add" in context, context.get("may_add")
    return {"notice": notice_of() if may_see else None, "here": here, "may_add": may_add}

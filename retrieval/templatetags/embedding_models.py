"""What templates show of embedding models."""

from typing import Any

from django import template
from django.template.context import Context
from django.utils.translation import gettext

from retrieval.embedding_models.notices import NAMES, notice_of

register = template.Library()


@register.filter
def language_names(codes: list[str]) -> str:
    """Return the names of languages by their codes; an empty list stands for every language, and is left empty."""
    return gettext(", ").join(str(NAMES.get(code, code)) for code in codes)


@register.filter
def shown_figure(figures: dict[str, float], name: str) -> str:
    """Return a figure of a trial, to three places."""
    return f"{figures[name]:.3f}"


@register.filter
def difference(result: dict[str, Any], name: str) -> float:
    """Return by how much the model on trial is better than the present one."""
    return float(round(result["then"][name] - result["now"][name], 3))


@register.inclusion_tag("retrieval/language_notice.html", takes_context=True)
def language_notice(context: Context, knowledge_base: Any) -> dict[str, Any]:
    """Show on a base's page that the model doesn't know its language, to users who may change the base or the model."""
    user = context["user"]
    notice = notice_of(knowledge_base.pk) if user.is_staff or context.get("can_edit") else None
    may_change = notice is not None and user.is_staff and user.has_perm("retrieval.view_registeredmodel")
    return {"notice": notice if may_change or context.get("can_edit") else None, "may_change": may_change}


@register.inclusion_tag("admin/retrieval/language_notice.html", takes_context=True)
def site_language_notice(context: Context) -> dict[str, Any]:
    """Tell in the administration that the model doesn't know the language of most of the site's passages."""
    may_see = context["user"].has_perm("retrieval.view_registeredmodel")
    # On the page of the models itself, which knows who may add one, it leads on from there.
    here, may_add = "may_add" in context, context.get("may_add")
    return {"notice": notice_of() if may_see else None, "here": here, "may_add": may_add}

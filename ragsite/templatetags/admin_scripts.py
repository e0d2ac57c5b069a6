"""The scripts of the administration's pages: none holds up the first paint, and none is loaded that a page doesn't use.

Why, with figures: docs/decisions/page-weight.md.
"""

from typing import Any

from django import template
from django.contrib.admin.widgets import ForeignKeyRawIdWidget, RelatedFieldWidgetWrapper
from django.forms import Media
from django.template import Context
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# What Django puts on every page of a model, by what uses it.
_RELATED = {"vendor/jquery/jquery.js", "jquery.init.js", "core.js", "admin/RelatedObjectLookups.js"}
_ACTIONS = {"actions.js"}
_PREPOPULATED = {"urlify.js", "prepopulate.js", "vendor/xregexp/xregexp.js"}


@register.simple_tag(takes_context=True)
def admin_scripts(context: Context) -> SafeString:
    """Return the scripts of a list, a form or a page that asks before it deletes, to be run in order after it is read.

    What a model's admin, an inline or a widget brings stays, and so does what Django's own of them lean on.
    """
    media: Media = context["media"]
    paths: list[str] = [str(getattr(each, "_path", each)) for each in media._js]  # type: ignore[attr-defined]
    names = [path.removeprefix("admin/js/").replace(".min.js", ".js") for path in paths]
    inlines: Any = context.get("inline_admin_formsets", ())
    forms: list[Any] = [context.get("adminform"), *inlines]
    unused = _RELATED | _ACTIONS | _PREPOPULATED
    others = set(names) - unused
    if any(form and form.prepopulated_fields for form in forms):
        unused = _ACTIONS
    if others or _has_related_fields(context):
        unused -= _RELATED
    if context.get("action_form"):
        unused -= _ACTIONS
    scripts = [tag for name, tag in zip(names, media.render_js(), strict=True) if name not in unused]
    return mark_safe("\n".join(tag.replace("<script ", "<script defer ", 1) for tag in scripts))


def _has_related_fields(context: Context) -> bool:
    """Whether the page is a list in which something is looked up for another page, or one in which one can be."""
    if "cl" in context:
        return bool(context["is_popup"] or context["cl"].formset)
    fields = context["adminform"].form.fields.values() if "adminform" in context else ()
    return any(isinstance(field.widget, (RelatedFieldWidgetWrapper, ForeignKeyRawIdWidget)) for field in fields)

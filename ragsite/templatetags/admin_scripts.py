"""Scripts of admin pages: they are deferred, so that they don't delay the first paint, and unused ones are left out.

Why, with figures: docs/decisions/page-weight.md.
"""

from typing import Any

from django import template
from django.contrib.admin.widgets import ForeignKeyRawIdWidget, RelatedFieldWidgetWrapper
from django.forms import Media
from django.template import Context
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# Scripts that Django adds to every page of a model, by the feature that uses them.
_RELATED = {"vendor/jquery/jquery.js", "jquery.init.js", "core.js", "admin/RelatedObjectLookups.js"}
_ACTIONS = {"actions.js"}
_PREPOPULATED = {"urlify.js", "prepopulate.js", "vendor/xregexp/xregexp.js"}


@register.simple_tag(takes_context=True)
def admin_scripts(context: Context) -> SafeString:
    """Return the deferred scripts of a change list, a form or a delete confirmation.

    Scripts of a model's admin, an inline or a widget are kept, and so are those of Django's that they depend on.
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
    """Return whether the page is a popup of related objects, or has fields that open one."""
    if "cl" in context:
        return bool(context["is_popup"] or context["cl"].formset)
    fields = context["adminform"].form.fields.values() if "adminform" in context else ()
    return any(isinstance(field.widget, (RelatedFieldWidgetWrapper, ForeignKeyRawIdWidget)) for field in fields)

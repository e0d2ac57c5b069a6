from django.db import migrations, models
from django.db.models import F, Func, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, JSONObject


def keep_words(apps, schema_editor):
    """Keep messages that were stored as text; they are shown unchanged until the document is read again."""
    documents = apps.get_model("knowledge", "Document").objects
    documents.exclude(error_message="").update(error=JSONObject(text=F("error_message")))
    notices = Func(JSONObject(text=F("notice")), function="jsonb_build_array", output_field=models.JSONField())
    documents.exclude(notice="").update(notices=notices)
    schema_editor.connection.check_constraints()  # now, as none may be due while columns are dropped


def restore_words(apps, schema_editor):
    documents = apps.get_model("knowledge", "Document").objects
    documents.exclude(error={}).update(error_message=Coalesce(KT("error__text"), KT("error__key"), Value("")))
    documents.exclude(notices=[]).update(notice=Coalesce(KT("notices__0__text"), KT("notices__0__key"), Value("")))
    schema_editor.connection.check_constraints()


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0004_document_notice_and_is_slow"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="error",
            field=models.JSONField(blank=True, default=dict, verbose_name="error"),
        ),
        migrations.AddField(
            model_name="document",
            name="notices",
            field=models.JSONField(blank=True, default=list, verbose_name="notice"),
        ),
        migrations.RunPython(keep_words, restore_words),
        migrations.RemoveField(model_name="document", name="error_message"),
        migrations.RemoveField(model_name="document", name="notice"),
    ]

from typing import Any

from django.db import migrations, models


def mark_first(apps: Any, schema_editor: Any) -> None:
    """Every site began with the prompts of its release; whatever was edited since is a later version."""
    apps.get_model("conversations", "PromptTemplate").objects.filter(version=1).update(shipped=True)


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0007_citation_title"),
    ]

    operations: list[Any] = [
        migrations.AddField(
            model_name="prompttemplate",
            name="shipped",
            field=models.BooleanField(default=False, verbose_name="default"),
        ),
        migrations.RunPython(mark_first, migrations.RunPython.noop),
    ]

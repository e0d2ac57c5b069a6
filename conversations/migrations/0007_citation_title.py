from typing import Any

from django.db import migrations, models

# Answers given before name their documents as they are called now.
_NAME_BY_DOCUMENT = """
UPDATE conversations_citation AS citation SET title = document.title
FROM knowledge_document AS document
WHERE document.id = citation.document_id AND document.title <> ''
"""


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0006_purposes_and_concurrency"),
        ("knowledge", "0003_title_and_folder"),
    ]

    operations: list[Any] = [
        migrations.AddField(
            model_name="citation",
            name="title",
            field=models.TextField(blank=True, verbose_name="title"),
        ),
        migrations.RunSQL(_NAME_BY_DOCUMENT, migrations.RunSQL.noop, elidable=True),
    ]

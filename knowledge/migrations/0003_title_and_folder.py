from typing import Any

from django.db import migrations, models

# Give documents that were read earlier the heading of their first passage as title, as for new ones; headings of
# sheets and slides are names of parts.
_NAME_BY_HEADING = """
UPDATE knowledge_document AS document
SET title = left(regexp_replace(btrim(chunk.heading_path[1]), '\\s+', ' ', 'g'), 300)
FROM knowledge_chunk AS chunk
WHERE chunk.document_id = document.id AND chunk.ordinal = 0 AND cardinality(chunk.heading_path) > 0
  AND document.external_id = '' AND document.media_type IN ('text/html', 'text/markdown', 'text/plain',
    'application/pdf', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document')
  AND chunk.heading_path[1] !~* '^\\s*((table of )?contents|index|目\\s*录)?\\s*$'
"""


class Migration(migrations.Migration):

    dependencies = [
        ("knowledge", "0002_external_id"),
    ]

    operations: list[Any] = [
        migrations.AddField(
            model_name="document",
            name="folder",
            field=models.CharField(blank=True, max_length=500, verbose_name="folder"),
        ),
        migrations.AddField(
            model_name="document",
            name="title",
            field=models.CharField(blank=True, max_length=300, verbose_name="title"),
        ),
        migrations.RunSQL(_NAME_BY_HEADING, migrations.RunSQL.noop, elidable=True),
    ]

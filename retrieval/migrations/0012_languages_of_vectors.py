"""Vectors get the language of their passage; that of existing vectors stays unknown."""

from django.db import migrations, models

ADDED = """
ALTER TABLE retrieval_vector ADD COLUMN language varchar(10) NOT NULL DEFAULT '';
CREATE INDEX retrieval_vector_language ON retrieval_vector (knowledge_base_id, language);
DROP INDEX retrieval_vector_knowledge_base;
"""
REMOVED = """
CREATE INDEX retrieval_vector_knowledge_base ON retrieval_vector (knowledge_base_id);
DROP INDEX retrieval_vector_language;
ALTER TABLE retrieval_vector DROP COLUMN language;
"""


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0011_another_bundled_model")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(ADDED, REMOVED)],
            state_operations=[
                migrations.AddField("vector", "language", models.CharField(db_default="", default="", max_length=10))
            ],
        ),
    ]

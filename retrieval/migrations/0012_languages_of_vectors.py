"""Vectors keep the language of their passage. That of vectors which are there already isn't told apart."""

from django.db import migrations, models

INDEX = """
CREATE INDEX retrieval_vector_language ON retrieval_vector (knowledge_base_id, language);
DROP INDEX retrieval_vector_knowledge_base;
"""
BEFORE = """
CREATE INDEX retrieval_vector_knowledge_base ON retrieval_vector (knowledge_base_id);
DROP INDEX retrieval_vector_language;
"""


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0011_another_bundled_model")]

    operations = [
        migrations.AddField("vector", "language", models.CharField(db_default="", default="", max_length=10)),
        migrations.RunSQL(INDEX, BEFORE),
    ]

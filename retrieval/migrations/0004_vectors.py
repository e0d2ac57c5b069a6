"""Vectors move out of the index's rows into a table of their own, with a partition per embedding space."""

import django.db.models.deletion
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models

# If a base has few vectors, they are compared one by one: so they are stored in the row, with an index by base.
TABLE = """
CREATE TABLE retrieval_vector (
    chunk_id bigint NOT NULL REFERENCES retrieval_indexentry (chunk_id) ON DELETE CASCADE,
    space_id bigint NOT NULL,
    knowledge_base_id bigint NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (chunk_id, space_id)
) PARTITION BY LIST (space_id);
ALTER TABLE retrieval_vector ALTER COLUMN embedding SET STORAGE MAIN;
CREATE INDEX retrieval_vector_knowledge_base ON retrieval_vector (knowledge_base_id);
"""

MOVE = """
CREATE TABLE retrieval_vector_{space} PARTITION OF retrieval_vector
    (CONSTRAINT retrieval_vector_{space}_dimension CHECK (vector_dims(embedding) = {dimension})) FOR VALUES IN ({space});
INSERT INTO retrieval_vector_{space} (chunk_id, space_id, knowledge_base_id, embedding)
    SELECT chunk_id, space_id, knowledge_base_id, embedding FROM retrieval_indexentry WHERE space_id = {space};
DROP INDEX IF EXISTS retrieval_hnsw_space_{space};
CREATE INDEX retrieval_vector_{space}_hnsw ON retrieval_vector_{space}
    USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) WITH (m = {m}, ef_construction = {ef});
INSERT INTO retrieval_vectorcount (space_id, knowledge_base_id, vectors)
    SELECT space_id, knowledge_base_id, count(*) FROM retrieval_vector_{space} GROUP BY 1, 2;
"""


def move(apps, schema_editor):
    for space in apps.get_model("retrieval", "EmbeddingSpace").objects.order_by("pk"):
        schema_editor.execute(
            MOVE.format(
                space=space.pk, dimension=space.dimension, m=settings.HNSW_M, ef=settings.HNSW_EF_CONSTRUCTION
            )
        )


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0002_external_id"), ("retrieval", "0003_evaluation")]

    operations = [
        migrations.AddField("embeddingspace", "base_url", models.CharField(blank=True, max_length=500)),
        migrations.AddField("embeddingspace", "encrypted_key", models.BinaryField(blank=True, default=bytes)),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TABLE, "DROP TABLE retrieval_vector")],
            state_operations=[
                migrations.CreateModel(
                    name="Vector",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "entry", "space", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        (
                            "entry",
                            models.ForeignKey(
                                db_column="chunk_id",
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="vectors",
                                to="retrieval.indexentry",
                            ),
                        ),
                        (
                            "space",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="vectors",
                                to="retrieval.embeddingspace",
                            ),
                        ),
                        (
                            "knowledge_base",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="knowledge.knowledgebase",
                            ),
                        ),
                        ("embedding", pgvector.django.halfvec.HalfVectorField()),
                    ],
                    options={"verbose_name": "vector", "verbose_name_plural": "vectors"},
                )
            ],
        ),
        migrations.CreateModel(
            name="VectorCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("vectors", models.IntegerField(default=0)),
                (
                    "space",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="counts",
                        to="retrieval.embeddingspace",
                    ),
                ),
                (
                    "knowledge_base",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="knowledge.knowledgebase"
                    ),
                ),
            ],
            options={
                "verbose_name": "vector count",
                "verbose_name_plural": "vector counts",
                "constraints": [
                    models.UniqueConstraint(fields=("space", "knowledge_base"), name="vector_count_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("vectors__gte", 0)), name="vector_count_not_negative"
                    ),
                ],
            },
        ),
        # A count changes with each window of vectors, in place.
        migrations.RunSQL("ALTER TABLE retrieval_vectorcount SET (fillfactor = 50)", migrations.RunSQL.noop),
        migrations.RunPython(move, migrations.RunPython.noop, elidable=True),
        # Deferred checks left by the move would block the changes below.
        migrations.RunSQL(
            "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop, elidable=True
        ),
        migrations.RemoveConstraint("indexentry", "embedding_has_space"),
        migrations.RemoveField("indexentry", "embedding"),
        migrations.RemoveField("indexentry", "space"),
    ]

"""Another model is bundled with the site: the vectors of the previous one can no longer be searched.

The previous model's rows get its own name. If it was in use, the new one replaces it at once, without vectors: until a
worker has computed them, search uses only words.
"""

from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

BEFORE = "all-MiniLM-L6-v2"
BUNDLED, DIMENSION = "bundled", 384
LANGUAGES = (
    "en zh de fr es it pt nl sv da nb fi pl cs sk sl hr hu ro et lv lt tr vi id ca ru uk bg sr el ja ko".split()
)

PARTITION = """
CREATE TABLE retrieval_vector_{space} PARTITION OF retrieval_vector
    (CONSTRAINT retrieval_vector_{space}_dimension CHECK (vector_dims(embedding) = {dimension})) FOR VALUES IN ({space})
"""
# Only for a complete space: for others, a worker builds it once they are filled, which is faster.
INDEX = """
CREATE INDEX retrieval_vector_{space}_hnsw ON retrieval_vector_{space}
    USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) WITH (m = {m}, ef_construction = {ef})
"""


def replace_the_bundled_model(apps, schema_editor):
    EmbeddingSpace = apps.get_model("retrieval", "EmbeddingSpace")
    RegisteredModel = apps.get_model("retrieval", "RegisteredModel")
    ModelJob = apps.get_model("retrieval", "ModelJob")

    spaces = EmbeddingSpace.objects.filter(provider="local", model=BUNDLED)
    there, searched = spaces.exists(), spaces.filter(active=True).exists()
    jobs = ModelJob.objects.filter(model__name=BUNDLED)
    if there or jobs.exists():
        taken = {
            *EmbeddingSpace.objects.values_list("model", flat=True),
            *RegisteredModel.objects.values_list("name", flat=True),
        }
        names = (BEFORE, f"{BEFORE}-int8", *(f"{BEFORE}-int8 ({number})" for number in range(2, len(taken) + 3)))
        name = next(name for name in names if name not in taken)
        jobs.filter(status__in=["queued", "running"]).update(status="stopped", finished_at=timezone.now())
        gone = {"name": name, "source": "earlier", "state": "gone"}
        if not RegisteredModel.objects.filter(name=BUNDLED).update(**gone):
            RegisteredModel.objects.create(**gone, dimension=DIMENSION, languages=["en"], license="apache-2.0")
        spaces.filter(active=True).update(active=False, left_at=timezone.now())
        spaces.update(model=name)
    else:  # registered but never used: the new one will be registered likewise
        RegisteredModel.objects.filter(name=BUNDLED).delete()
    if searched:
        _take_its_place(apps, schema_editor)


def _take_its_place(apps, schema_editor):
    named = (settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL) == ("local", BUNDLED)
    languages = settings.EMBEDDING_LANGUAGES if named else None
    space = apps.get_model("retrieval", "EmbeddingSpace").objects.create(
        provider="local",
        model=BUNDLED,
        dimension=DIMENSION,
        languages=LANGUAGES if languages is None else list(languages),
        active=True,
        filled=not apps.get_model("retrieval", "IndexEntry").objects.exists(),
    )
    schema_editor.execute(PARTITION.format(space=space.pk, dimension=DIMENSION))
    if space.filled:
        options = {"m": settings.HNSW_M, "ef": settings.HNSW_EF_CONSTRUCTION}
        schema_editor.execute(INDEX.format(space=space.pk, dimension=DIMENSION, **options))


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0010_own_servers")]

    operations = [
        migrations.AddField("embeddingspace", "filled", models.BooleanField(default=True, verbose_name="filled")),
        migrations.AlterField(
            "registeredmodel",
            "source",
            models.CharField(
                choices=[
                    ("bundled", "Comes with the site"),
                    ("hub", "Downloaded"),
                    ("files", "Brought as files"),
                    ("endpoint", "OpenAI-compatible endpoint"),
                    ("earlier", "Came with an earlier version"),
                ],
                max_length=10,
                verbose_name="source",
            ),
        ),
        migrations.AlterField(
            "registeredmodel",
            "state",
            models.CharField(
                choices=[
                    ("new", "Being added"),
                    ("ready", "Ready"),
                    ("failed", "Failed"),
                    ("gone", "No longer available"),
                ],
                default="new",
                max_length=10,
                verbose_name="state",
            ),
        ),
        migrations.RunPython(replace_the_bundled_model, migrations.RunPython.noop),
    ]

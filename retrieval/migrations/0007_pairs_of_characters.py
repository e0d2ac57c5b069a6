from django.db import migrations, models


def analyse_anew(apps, schema_editor):
    """Have the workers add pairs of Chinese characters to the index."""
    apps.get_model("retrieval", "CorpusSize").objects.update(analysed_to=0)


class Migration(migrations.Migration):

    dependencies = [
        ("retrieval", "0006_embedding_models"),
    ]

    operations = [
        migrations.AddField(
            model_name="corpussize",
            name="analysed_to",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.RunPython(analyse_anew, migrations.RunPython.noop),
    ]

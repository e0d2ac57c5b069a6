"""Endpoints get a flag that allows addresses on this machine or in its local network; existing ones keep working."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0009_outcome_names")]

    operations = [
        migrations.AddField("embeddingspace", "own_network", models.BooleanField(blank=True, null=True)),
        migrations.AddField(
            "registeredmodel",
            "own_network",
            models.BooleanField(blank=True, null=True, verbose_name="our own server"),
        ),
    ]

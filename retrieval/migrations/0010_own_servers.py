"""Endpoints say whether their address may be on this machine or in its local network; those that are there go on."""

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

"""Add an index for finding traces by age."""

import django.contrib.postgres.indexes
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("conversations", "0002_checks")]

    operations = [
        migrations.AddIndex(
            model_name="tracestep",
            index=django.contrib.postgres.indexes.BrinIndex(fields=["started_at"], name="trace_started"),
        )
    ]

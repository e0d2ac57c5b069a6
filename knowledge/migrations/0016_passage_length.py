"""The label of a knowledge base's passage length; the database does not change."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0015_plain_labels2"),
    ]

    operations = [
        migrations.AlterField(
            model_name="knowledgebase",
            name="chunk_size",
            field=models.PositiveIntegerField(
                default=200,
                help_text="Target length of a passage, in tokens. The embedding model reads at most 256.",
                validators=[
                    django.core.validators.MinValueValidator(40),
                    django.core.validators.MaxValueValidator(2000),
                ],
                verbose_name="passage length",
            ),
        ),
    ]

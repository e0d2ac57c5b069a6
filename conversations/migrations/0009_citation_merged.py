from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0008_shipped_prompts"),
    ]

    operations = [
        migrations.AddField(
            model_name="citation",
            name="merged",
            field=ArrayField(models.BigIntegerField(), blank=True, default=list, editable=False, size=None),
        ),
    ]

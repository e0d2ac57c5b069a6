from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0011_answer_state"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="continues",
            field=models.BooleanField(default=False, verbose_name="continues"),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0012_turn_continues"),
    ]

    operations = [
        migrations.AddField(
            model_name="citation",
            name="reason",
            field=models.TextField(blank=True, verbose_name="reason"),
        ),
    ]

"""Add an index for finding turns by the outcome of their answer."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0032_own_servers")]

    operations = [
        migrations.AddIndex(
            "message",
            models.Index(
                condition=models.Q(("status", "streaming"), _negated=True),
                fields=["answer_state", "turn"],
                name="message_outcome",
            ),
        )
    ]

"""Limit share links to a turn, and add indexes for words of messages and logs of ended answers."""

from typing import Any

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Func, Q, Value


def drop_links(apps: Any, schema_editor: Any) -> None:
    """Remove links that name no turn: until now no page opened them."""
    apps.get_model("conversations", "ShareLink").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0004_memory"),
    ]

    operations = [
        migrations.RunPython(drop_links, migrations.RunPython.noop, elidable=True),
        migrations.AddField(
            model_name="sharelink",
            name="last_turn",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="conversations.turn",
                verbose_name="last turn",
            ),
            preserve_default=False,
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=Q(("heartbeat_at__isnull", False), Q(("status", "streaming"), _negated=True)),
                fields=["heartbeat_at"],
                name="message_log_kept",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=django.contrib.postgres.indexes.GinIndex(
                Func(
                    Value("simple"),
                    Func(
                        F("content"),
                        Value("([㐀-鿿])|[!-/:-@[-`{-~]"),
                        Value(" \\1 "),
                        Value("g"),
                        function="regexp_replace",
                        output_field=models.TextField(),
                    ),
                    function="to_tsvector",
                    output_field=django.contrib.postgres.search.SearchVectorField(),
                ),
                name="message_words",
            ),
        ),
    ]

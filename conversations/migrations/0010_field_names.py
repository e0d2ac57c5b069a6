import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0009_citation_merged"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="chatsession",
            name="deleted_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="deleted"),
        ),
        migrations.AlterField(
            model_name="citation",
            name="message",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="citations",
                to="conversations.message",
                verbose_name="message",
            ),
        ),
        migrations.AlterField(
            model_name="citation",
            name="request_id",
            field=models.UUIDField(editable=False, verbose_name="request id"),
        ),
        migrations.AlterField(
            model_name="contextentry",
            name="covers_from",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="conversations.turn",
                verbose_name="covers from",
            ),
        ),
        migrations.AlterField(
            model_name="contextentry",
            name="session",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="context_entries",
                to="conversations.chatsession",
                verbose_name="session",
            ),
        ),
        migrations.AlterField(
            model_name="contextentry",
            name="turn",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="context_entries",
                to="conversations.turn",
                verbose_name="turn",
            ),
        ),
        migrations.AlterField(
            model_name="feedback",
            name="message",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="feedback",
                to="conversations.message",
                verbose_name="message",
            ),
        ),
        migrations.AlterField(
            model_name="feedback",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="user",
            ),
        ),
        migrations.AlterField(
            model_name="message",
            name="turn",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="messages",
                to="conversations.turn",
                verbose_name="turn",
            ),
        ),
        migrations.AlterField(
            model_name="sharelink",
            name="session",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="share_links",
                to="conversations.chatsession",
                verbose_name="session",
            ),
        ),
        migrations.AlterField(
            model_name="tracestep",
            name="order",
            field=models.PositiveSmallIntegerField(verbose_name="order"),
        ),
        migrations.AlterField(
            model_name="tracestep",
            name="turn",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="trace",
                to="conversations.turn",
                verbose_name="turn",
            ),
        ),
        migrations.AlterField(
            model_name="turn",
            name="parent_turn",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="children",
                to="conversations.turn",
                verbose_name="parent turn",
            ),
        ),
        migrations.AlterField(
            model_name="turn",
            name="request_id",
            field=models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name="request id"),
        ),
        migrations.AlterField(
            model_name="turn",
            name="session",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="turns",
                to="conversations.chatsession",
                verbose_name="session",
            ),
        ),
    ]

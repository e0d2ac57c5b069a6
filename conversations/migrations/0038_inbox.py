"""Unseen answers, and unsent text, of sessions."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0037_summary_versions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Draft",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="draft",
                        serialize=False,
                        to="conversations.chatsession",
                    ),
                ),
                ("text", models.TextField(blank=True, default="", verbose_name="text")),
                ("queued", models.TextField(blank=True, default="", verbose_name="next question")),
                ("queued_id", models.UUIDField(blank=True, editable=False, null=True)),
                ("changed_at", models.DateTimeField(auto_now=True, verbose_name="changed")),
            ],
            options={
                "verbose_name": "draft",
                "verbose_name_plural": "drafts",
            },
        ),
        migrations.CreateModel(
            name="UnseenAnswer",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="unseen_answer",
                        serialize=False,
                        to="conversations.chatsession",
                    ),
                ),
                ("ended_at", models.DateTimeField(auto_now=True, verbose_name="ended")),
            ],
            options={
                "verbose_name": "unseen answer",
                "verbose_name_plural": "unseen answers",
            },
        ),
    ]

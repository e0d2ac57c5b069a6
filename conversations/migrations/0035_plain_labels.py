"""Labels and help texts in plain English; the database does not change."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0034_node_names"),
        ("retrieval", "0012_languages_of_vectors"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="assistantversion",
            options={
                "ordering": ["assistant_id", "-number"],
                "verbose_name": "assistant version",
                "verbose_name_plural": "assistant versions",
            },
        ),
        migrations.AlterField(
            model_name="assistant",
            name="description",
            field=models.CharField(
                blank=True,
                help_text="Its purpose in one line, shown where users choose.",
                max_length=300,
                verbose_name="description",
            ),
        ),
        migrations.AlterField(
            model_name="assistant",
            name="everyone",
            field=models.BooleanField(default=True, verbose_name="available to everyone"),
        ),
        migrations.AlterField(
            model_name="assistant",
            name="is_default",
            field=models.BooleanField(
                default=False,
                help_text="Answers unless another is chosen; available to everyone.",
                verbose_name="default",
            ),
        ),
        migrations.AlterField(
            model_name="assistant",
            name="question_set",
            field=models.ForeignKey(
                blank=True,
                help_text="Used to rehearse a change before it goes live.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="assistants",
                to="retrieval.evaluationset",
                verbose_name="question set",
            ),
        ),
        migrations.AlterField(
            model_name="contextentry",
            name="edited_at",
            field=models.DateTimeField(blank=True, help_text="By the user.", null=True, verbose_name="edited"),
        ),
        migrations.AlterField(
            model_name="feedback",
            name="reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("wrong", "Incorrect"),
                    ("unsupported", "Not in the sources"),
                    ("incomplete", "Incomplete"),
                    ("off-topic", "Off topic"),
                ],
                max_length=40,
                verbose_name="reason",
            ),
        ),
        migrations.AlterField(
            model_name="message",
            name="content",
            field=models.TextField(
                blank=True, help_text="Plain text, extracted from the blocks.", verbose_name="content"
            ),
        ),
        migrations.AlterField(
            model_name="message",
            name="finish_reason",
            field=models.CharField(blank=True, default="", max_length=40, verbose_name="finish reason"),
        ),
        migrations.AlterField(
            model_name="modelprofile",
            name="concurrency",
            field=models.PositiveIntegerField(
                default=100, help_text="Per server process; 0 means unlimited.", verbose_name="concurrent requests"
            ),
        ),
        migrations.AlterField(
            model_name="modelprofile",
            name="enabled",
            field=models.BooleanField(
                default=True,
                help_text="The site uses it for its purpose; assistants may use others.",
                verbose_name="enabled",
            ),
        ),
        migrations.AlterField(
            model_name="modelprofile",
            name="input_price",
            field=models.DecimalField(
                blank=True, decimal_places=4, max_digits=12, null=True, verbose_name="price per million input tokens"
            ),
        ),
        migrations.AlterField(
            model_name="modelprofile",
            name="offered",
            field=models.BooleanField(
                default=False,
                help_text="For their answers, in the composer and by API.",
                verbose_name="users may choose it",
            ),
        ),
        migrations.AlterField(
            model_name="modelprofile",
            name="output_price",
            field=models.DecimalField(
                blank=True, decimal_places=4, max_digits=12, null=True, verbose_name="price per million output tokens"
            ),
        ),
        migrations.AlterField(
            model_name="modelprofile",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("understand", "Understand"),
                    ("rewrite", "Rewrite"),
                    ("split", "Split a question into parts"),
                    ("missing", "Find missing information"),
                    ("answer", "Answer"),
                    ("chat", "Chat"),
                    ("clarify", "Ask for clarification"),
                    ("rerank", "Rerank"),
                    ("filter", "Filter"),
                    ("judge", "Judge citations"),
                    ("notes", "Read whole documents"),
                    ("summary", "Summarise history"),
                    ("title", "Title"),
                    ("embedding", "Embedding"),
                ],
                max_length=20,
                verbose_name="purpose",
            ),
        ),
        migrations.AlterField(
            model_name="prompttemplate",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("understand", "Understand the question"),
                    ("rewrite", "Rewrite for retrieval"),
                    ("split", "Split a question into parts"),
                    ("missing", "Find missing information"),
                    ("answer", "Answer from evidence"),
                    ("chat", "Chat"),
                    ("general", "Answer from general knowledge"),
                    ("clarify", "Ask for clarification"),
                    ("rerank", "Rerank"),
                    ("filter", "Filter hits"),
                    ("judge", "Judge citations"),
                    ("notes", "Read whole documents"),
                    ("summary", "Summarise history"),
                    ("title", "Title"),
                    ("blocks", "Write blocks as JSON"),
                ],
                max_length=20,
                verbose_name="purpose",
            ),
        ),
        migrations.AlterField(
            model_name="turn",
            name="assistant_version",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="conversations.assistantversion",
                verbose_name="assistant version",
            ),
        ),
        migrations.AlterField(
            model_name="turn",
            name="scope",
            field=models.JSONField(blank=True, editable=False, null=True, verbose_name="scope"),
        ),
    ]

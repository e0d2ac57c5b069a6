from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0005_sharing_and_words"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelprofile",
            name="concurrency",
            field=models.PositiveIntegerField(
                default=100, help_text="of one server process; 0 is any number", verbose_name="requests at once"
            ),
        ),
        migrations.AlterField(
            model_name="modelprofile",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("understand", "Understand"),
                    ("rewrite", "Rewrite"),
                    ("answer", "Answer"),
                    ("chat", "Chat"),
                    ("clarify", "Ask back"),
                    ("rerank", "Rerank"),
                    ("filter", "Filter"),
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
                    ("answer", "Answer from evidence"),
                    ("chat", "Chat"),
                    ("general", "Answer from general knowledge"),
                    ("clarify", "Ask back"),
                    ("rerank", "Rerank"),
                    ("filter", "Filter hits"),
                    ("summary", "Summarise history"),
                    ("title", "Title"),
                    ("blocks", "Write blocks as JSON"),
                ],
                max_length=20,
                verbose_name="purpose",
            ),
        ),
    ]

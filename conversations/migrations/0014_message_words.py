"""Leave the URLs of pictures and running answers out of the index on words."""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
from django.db import migrations, models
from django.db.models import F, Func, Q, Value


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0013_citation_reason"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="message",
            name="message_words",
        ),
        migrations.AddIndex(
            model_name="message",
            index=django.contrib.postgres.indexes.GinIndex(
                Func(
                    Value("simple"),
                    Func(
                        F("content"),
                        Value("([㐀-鿿])|\\]\\(/[^)\\s]*\\)|[!-/:-@[-`{-~]"),
                        Value(" \\1 "),
                        Value("g"),
                        function="regexp_replace",
                        output_field=models.TextField(),
                    ),
                    function="to_tsvector",
                    output_field=django.contrib.postgres.search.SearchVectorField(),
                ),
                condition=Q(("status", "streaming"), _negated=True),
                name="message_words",
            ),
        ),
    ]

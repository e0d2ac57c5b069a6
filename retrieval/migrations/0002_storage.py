"""Storage of the index's rows, chosen for what a search reads."""

from django.db import migrations


class Migration(migrations.Migration):
    """Weights are read for every candidate, so they stay beside the row; counts change in place."""

    dependencies = [("retrieval", "0001_initial")]

    operations = [
        migrations.RunSQL(
            [
                "ALTER TABLE retrieval_indexentry ALTER COLUMN weights SET STORAGE MAIN",
                "ALTER TABLE retrieval_termfrequency SET (fillfactor = 80)",
                "ALTER TABLE retrieval_corpussize SET (fillfactor = 50)",
            ],
            [
                "ALTER TABLE retrieval_indexentry ALTER COLUMN weights SET STORAGE EXTENDED",
                "ALTER TABLE retrieval_termfrequency RESET (fillfactor)",
                "ALTER TABLE retrieval_corpussize RESET (fillfactor)",
            ],
        )
    ]

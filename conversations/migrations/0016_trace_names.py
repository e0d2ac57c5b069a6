"""Rename a node and a note in stored traces."""

from django.db import migrations

_RENAME = """
UPDATE conversations_tracestep SET key = 'relevance_gate' WHERE key = 'second_look';
UPDATE conversations_tracestep
SET detail = (detail - 'instead') || jsonb_build_object('deferred_action', detail -> 'instead') WHERE detail ? 'instead';
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0015_citation_words")]

    operations = [migrations.RunSQL(_RENAME, migrations.RunSQL.noop, elidable=True)]

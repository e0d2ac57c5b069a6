from typing import Any

from django.db import migrations


def put_away(apps: Any, schema_editor: Any) -> None:
    """Close the files of chats that were deleted before this was kept."""
    sessions = apps.get_model("conversations", "ChatSession").objects.filter(status="deleted", files__isnull=False)
    bases = apps.get_model("knowledge", "KnowledgeBase").objects.filter(pk__in=sessions.values("files_id"))
    bases.filter(of_chat=True).update(put_away=True)


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0030_scope_of_turns"),
        ("knowledge", "0014_files_of_deleted_chats"),
    ]

    operations = [migrations.RunPython(put_away, migrations.RunPython.noop)]

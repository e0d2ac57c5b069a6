"""Rename nodes in stored traces to match their classes."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RENAMED = {"metadata": "load_passages", "budget": "compose_prompt", "check": "check_citations"}


def rename(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    steps = apps.get_model("conversations", "TraceStep").objects
    for old, new in RENAMED.items():
        steps.filter(key=old).update(key=new)


def restore(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    steps = apps.get_model("conversations", "TraceStep").objects
    for old, new in RENAMED.items():
        steps.filter(key=new).update(key=old)


class Migration(migrations.Migration):
    dependencies = [("conversations", "0033_message_outcome")]

    operations = [migrations.RunPython(rename, restore)]

"""Add whether the address of a profile may be on this machine or in its local network; true for existing profiles."""

from django.db import migrations, models

_LABEL, _HELP = "our own server", "Its address may be on this machine or in its local network."


class Migration(migrations.Migration):
    dependencies = [("conversations", "0031_put_files_of_deleted_chats_away")]

    operations = [
        migrations.AddField(
            "modelprofile", "own_network", models.BooleanField(default=True, help_text=_HELP, verbose_name=_LABEL)
        ),
        migrations.AlterField(
            "modelprofile", "own_network", models.BooleanField(default=False, help_text=_HELP, verbose_name=_LABEL)
        ),
    ]

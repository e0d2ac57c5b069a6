"""Profiles say whether their address may be on this machine or in its local network; those that are there go on."""

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

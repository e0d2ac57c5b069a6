"""The sample knowledge base that the first start creates, so that there is something to ask about.

The documents are in `samples_data/`, written by `tools/samples/`; their contents are made up.
"""

from pathlib import Path

from django.contrib.auth.models import User
from django.core.files import File
from django.utils.translation import gettext as _

from knowledge import services
from knowledge.models import KnowledgeBase

FOLDER = Path(__file__).resolve().parent / "samples_data"
# Files in the folder, and the names under which they are added.
DOCUMENTS = {
    "switch-handbook.pdf": "LS-2400 Switch Handbook.pdf",
    "staff-handbook.docx": "云雀网络员工手册.docx",
    "release-notes.md": "Firmware 4.2 release notes 固件发行说明.md",
    "prices.xlsx": "Price list 价格表.xlsx",
}


def load(owner: User) -> KnowledgeBase:
    """Create the sample knowledge base for a user and queue its documents; call this inside a transaction."""
    base = services.create_knowledge_base(
        owner,
        _("Samples"),
        description=_("A made-up maker of network switches: handbook, release notes, prices and staff rules."),
    )
    for filename, name in DOCUMENTS.items():
        with (FOLDER / filename).open("rb") as file:
            services.add_document(base, owner, name, File(file))
    return base

"""Traditional Chinese is indexed by the same terms as simplified Chinese: its passages must be analysed again."""

from django.db import migrations

from ragsite.language.simplified import simplified

_HAN = range(0x3400, 0xA000)

# Only the bases with a traditional character; reading the texts for it takes seconds per gigabyte.
OUTDATE = """
UPDATE retrieval_corpussize AS corpus SET analysed_to = 0
WHERE EXISTS (
    SELECT FROM retrieval_indexentry AS entry JOIN knowledge_chunk AS chunk ON chunk.id = entry.chunk_id
    WHERE entry.knowledge_base_id = corpus.knowledge_base_id
    AND (chunk.content ~ %(traditional)s OR concat_ws(' ', chunk.lead, array_to_string(chunk.heading_path, ' ')) ~ %(traditional)s)
)
"""


def analyse_anew(apps, schema_editor):
    """Have the workers analyse the passages of bases with traditional Chinese again."""
    traditional = "".join(character for character in map(chr, _HAN) if simplified(character) != character)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(OUTDATE, {"traditional": f"[{traditional}]|甚么|瞭解"})


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0016_passage_length"), ("retrieval", "0013_plain_labels2")]

    operations = [migrations.RunPython(analyse_anew, migrations.RunPython.noop)]

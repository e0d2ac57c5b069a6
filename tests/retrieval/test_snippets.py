"""Snippets: the part that is shown, and the marked words."""

from retrieval.snippets import excerpt, marked, snippet


def test_a_snippet_shows_the_best_matching_part() -> None:
    content = "Nothing here. " * 60 + "The warranty lasts three years. " + "Nothing there. " * 60
    shown = snippet(content, "How long is the warranty?")
    assert "The warranty lasts three years." in shown
    assert shown.startswith("…") and shown.endswith("…") and len(shown) < 500


def test_a_short_passage_is_its_own_snippet() -> None:
    assert snippet("Nine  ports.", "ports") == "Nine ports."


def test_a_heading_inside_a_passage_is_a_plain_line_of_its_snippet() -> None:
    assert snippet("Nine ports.\n\n#### Colour\n\nRed.", "ports") == "Nine ports.\n\nColour\n\nRed."


def test_words_of_the_question_are_marked() -> None:
    assert marked("Paid <leave> is paid", "How long is paid leave?") == (
        "<mark>Paid</mark> &lt;<mark>leave</mark>&gt; is <mark>paid</mark>"
    )
    assert marked("端口隔离可以启用", "如何启用端口隔离") == "<mark>端口隔离</mark>可以<mark>启用</mark>"
    assert marked("anything", "is it?") == "anything"


def test_words_are_marked_in_the_other_script_as_written() -> None:
    assert (
        marked("<端口>隔離可以啟用", "如何启用端口隔离")
        == "&lt;<mark>端口</mark>&gt;<mark>隔離</mark>可以<mark>啟用</mark>"
    )
    assert marked("端口隔离可以启用", "如何啟用端口隔離") == "<mark>端口隔离</mark>可以<mark>启用</mark>"


def test_words_are_marked_at_their_start() -> None:
    assert marked("Unlocking is locking.", "locking") == "Unlocking is <mark>locking</mark>."
    assert marked("Indexes, reindexed", "index") == "<mark>Index</mark>es, reindexed"


def test_an_excerpt_shows_code_without_its_fences() -> None:
    assert excerpt("Try:\n```sql\nVACUUM;\n```\nDone.", "vacuum", 200) == "Try:\n<mark>VACUUM</mark>;\nDone."

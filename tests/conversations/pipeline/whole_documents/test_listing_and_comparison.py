"""Lists in documents, and the differences between two documents."""

from conversations.pipeline.whole_documents.comparison import Comparison, compare
from conversations.pipeline.whole_documents.listing import listed
from conversations.pipeline.whole_documents.sections import Passage, Section, sections_of


def sections(*given: tuple[str, str]) -> list[Section]:
    return sections_of(
        [Passage(at, 1, at, text, tuple(filter(None, path.split("/"))), 1, 90) for at, (path, text) in enumerate(given)]
    )


def lines(subject: str, *given: tuple[str, str], names: tuple[str, ...] = ()) -> list[str]:
    return [line for found in listed(subject, sections(*given), names).found for line in found.lines]


CODES = "The panel shows error codes:\n- E1: cold\n- E2: open\nAnd lamps:\n- red\n- green"


def test_introduction_heading_and_item_count_for_an_item() -> None:
    assert lines("error codes", ("A", CODES)) == ["E1: cold", "E2: open"]
    assert lines("lamps", ("Lamps", "- red\n- green")) == ["red", "green"]
    assert lines("lamps", ("Other", "- a red lamp\n- a door\n1. two lamps")) == ["a red lamp", "two lamps"]
    assert lines("lamp", ("Other", "- a lampshade")) == []


def test_words_of_the_documents_name_are_not_required() -> None:
    given = ("Codes", "- E1: cold")
    assert lines("codes of the LS-2448", given) == []
    assert lines("codes of the LS-2448", given, names=("LS-2448 manual",)) == ["E1: cold"]


def test_rows_of_a_split_table_are_joined() -> None:
    rows = [Passage(at, 1, at, f"Port | Use\n{at} | web", ("Ports",), 1, 90, ("Port", "Use"), ((str(at), "web"),))
            for at in (1, 2)]  # fmt: skip
    listing = listed("ports", sections_of(rows))
    assert [(found.columns, found.rows) for found in listing.found] == [(("Port", "Use"), [("1", "web"), ("2", "web")])]
    assert listing.count == 2


def test_without_lists_sentences_are_returned() -> None:
    listing = listed("dogs", sections(("A", "Dogs stay below. Cats climb."), ("B", "A dog barks.")))
    assert listing.sentences and [found.lines for found in listing.found] == [["Dogs stay below."], ["A dog barks."]]
    assert listed("horses", sections(("A", "Dogs stay below."))).count == 0


def differing(old: list[Section], new: list[Section]) -> list[tuple[str, str | None, str | None]]:
    return [
        (changed.heading, change.old and change.old.text, change.new and change.new.text)
        for changed in compare(old, new).changed
        for change in changed.changes
    ]


def test_changed_sentences_are_paired() -> None:
    old = sections(("A", "The lamp is lit at six. Dogs stay below. It closes."), ("B", "Same."))
    new = sections(("A", "The lamp is lit at seven. It closes. A lift was built."), ("B", "Same."))
    assert differing(old, new) == [
        ("A", "The lamp is lit at six.", "The lamp is lit at seven."),
        ("A", "Dogs stay below.", None),
        ("A", None, "A lift was built."),
    ]
    assert compare(old, new).unchanged == 1


def test_renumbered_or_reworded_headings_are_the_same() -> None:
    old = sections(("1. Scope", "It is this. It is that."), ("2. Opening hours", "Nine to five."), ("3. Dogs", "No."))
    new = sections(
        ("1. Preface", "Hello."), ("2. Scope", "It is this. It is that."), ("3. Opening hour", "Nine to six.")
    )
    comparison = compare(old, new)
    assert comparison.unchanged == 1
    assert [changed.heading for changed in comparison.changed] == ["3. Opening hour"]
    assert [heading for heading, _sections in comparison.removed] == ["3. Dogs"]
    assert [heading for heading, _sections in comparison.added] == ["1. Preface"]


def test_documents_without_headings_are_compared_too() -> None:
    old, new = (sections(*[("", f"Sentence {at} of {what}.") for at in range(9)]) for what in ("all", "all"))
    assert compare(old, new) == Comparison(unchanged=1) and compare(old, new).same
    changed = sections(*[("", f"Sentence {at} of {'all' if at != 4 else 'one'}.") for at in range(9)])
    assert differing(old, changed) == [("", "Sentence 4 of all.", "Sentence 4 of one.")]


def test_long_documents_are_compared_quickly() -> None:
    old = sections(*[(f"H{at % 400}", f"The value of {at} is {at * 7}. It is set by {at % 13}.") for at in range(3000)])
    new = sections(*[(f"H{at % 400}", f"The value of {at} is {at * 9}. It is set by {at % 13}.") for at in range(3000)])
    assert sum(len(changed.changes) for changed in compare(old, new).changed) > 2000

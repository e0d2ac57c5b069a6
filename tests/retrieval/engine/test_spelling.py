"""Misspelt words of a question that no passage contains."""

import pytest
from django.contrib.auth.models import User

from knowledge.models import KnowledgeBase
from retrieval.engine import indexing
from retrieval.engine.spelling import corrected, corrections
from tests import factories

pytestmark = pytest.mark.django_db

PASSAGES = (
    "The notice period is six months. The landlord keeps the deposit.",
    "Descale the machine with vinegar, which the Larkspur shop sells for a small price.",
    "Restarting erases the configuration. 员工每年有二十八天年假。",
    "The bread is baked at noon, and the police station stands on the square.",
)


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base)
    factories.make_chunks(document, PASSAGES, heading_path=["Switch handbook"])
    indexing.index_words(document.pk)
    return base


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the notise period?", {"notise": "notice"}),  # a letter that sounds the same
        ("What is the notcie period?", {"notcie": "notice"}),  # two swapped
        ("How high is the depositt?", {"depositt": "deposit"}),  # doubled
        ("Who is the landord?", {"landord": "landlord"}),  # one missing
        ("Is vunegar allowed?", {"vunegar": "vinegar"}),  # a neighbouring key, a vowel
        ("What does larkspar sell?", {"larkspar": "larkspur"}),  # in no dictionary
        ("Where is the configurotian kept?", {"configurotian": "configuration"}),  # two edits
        ("How heavy is the swithc?", {"swithc": "switch"}),  # only in a heading
        ("How is it descaeled?", {"descaeled": "descaled"}),  # in another form
        ("Notise period?", {"Notise": "Notice"}),
        ("合同的notise是多久", {"notise": "notice"}),
        ("Has the landord the depositt?", {"landord": "landlord", "depositt": "deposit"}),
    ],
)
def test_a_misspelt_word_stands_for_the_nearest_one_in_the_documents(
    base: KnowledgeBase, question: str, words: dict[str, str]
) -> None:
    assert corrections(question, [base.pk]) == words


@pytest.mark.parametrize(
    "question",
    [
        "What is the notice period?",
        "Who is the beard for?",  # a word that the documents lack: bread
        "What does the prince say?",  # price
        "How fast is the notary?",
        "Do statans help?",  # two letters too many for a word of seven: station
        "What is the Notise period?",  # a name
        "Where is notise.example or notise-2?",  # addresses and codes
        "Is there a bolice?",  # the first letter is right
        "Wie lange dauert die kundigungsfrist im mietvertrag?",  # another language
    ],
)
def test_other_words_are_not_corrected(base: KnowledgeBase, question: str) -> None:
    assert corrections(question, [base.pk]) == {}


def test_only_words_of_the_searched_knowledge_bases_are_taken(base: KnowledgeBase, owner: User) -> None:
    other = factories.make_knowledge_base(owner)
    assert corrections("What is the notise period?", [other.pk]) == {}


def test_all_occurrences_of_a_word_are_replaced() -> None:
    assert corrected("notise and notised and 的notise", {"notise": "notice"}) == "notice and notised and 的notice"
    assert corrected("nothing", {}) == "nothing"

"""Understanding without a model."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.history import PastTurn
from conversations.pipeline.understanding.carry_over import Known
from conversations.pipeline.understanding.rules import (
    BESIDE,
    Understanding,
    context_probe_query,
    queries_with_rewrite,
    understand,
)
from ragsite.language.content_words import content_terms, words
from retrieval.engine.fulltext import Frequencies

SWITCH = "How do I reset the TL-SE2109 switch?"
# Of 1,000 passages; words that are not listed occur in none.
COMMON, RARE = 300, 5


def frequencies(*texts: str, common: str = "") -> Frequencies:
    """Return frequencies in which the texts' words are rare, except for some common ones."""
    held = {term: RARE for text in texts for term in content_terms(text)}
    return Frequencies(1000, held | dict.fromkeys(content_terms(common), COMMON))


def asked(question: str, *earlier: str, common: str = "") -> Understanding:
    history = [PastTurn(number, text, "An answer.") for number, text in enumerate(earlier)]
    return understand(question, history, Known(frequencies(question, *earlier, common=common)))


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello!",
        "good morning",
        "thanks a lot",
        "Thank you very much!",
        "你好",
        "您好！",
        "谢谢你",
        "谢谢你的帮助",
        "Thanks for your help!",
        "thank you very much for the quick answer",
        "Thanks, that helped!",
        "OK, thank you, that's all",
        "好的，谢谢，很有帮助",
        "who are you?",
        "你能做什么？",
        "你好呀，在吗",
        "What can you do for me?",
    ],
)
def test_greetings_are_chat(text: str) -> None:
    assert asked(text).action == "answer_chat"


@pytest.mark.parametrize(
    "text",
    [
        "hi-fi amplifiers compared",
        "Thanks to which law is it legal?",
        "你好酒店的退房时间是几点？",
        "help desk phone number",
        "OK button does nothing",
        "Thanks! And how do I reset it to factory settings?",
        "thanks for the manual of the switch",
        "Thanks for the answer on page 3",
        "感谢信怎么写？",
        "好的谢谢，保修期是多久？",
    ],
)
def test_questions_that_begin_like_greetings_are_searched(text: str) -> None:
    assert asked(text).action == "retrieve_vector"


@pytest.mark.parametrize("text", ["???", "…", "and", "的"])
def test_a_message_without_searchable_words_needs_clarification(text: str) -> None:
    assert asked(text).action == "clarify"


@pytest.mark.parametrize(
    "question",
    [
        "What is the warranty period of the rack mounting kit?",
        "Which modules does the core chassis take?",
        "机架安装套件的保修期是多长时间？",
        "端口隔离功能怎样配置？",
    ],
)
def test_a_question_of_rare_words_is_searched_as_it_is(question: str) -> None:
    found = asked(question, SWITCH)
    assert (found.queries, found.ranking_query, found.reason, found.carried) == (
        ((question, 1.0),),
        question,
        "stands alone",
        (),
    )


@pytest.mark.parametrize("text", ["How long does it take?", "它支持多少个端口？", "and the power supply?", "那价格呢"])
def test_a_question_that_refers_back_is_searched_with_words_of_earlier_questions(text: str) -> None:
    found = asked(text, SWITCH, common="reset switch")
    (bare, own), (full, weight) = found.queries
    assert (bare, own, weight) == (text, BESIDE, 1.0)
    assert full.startswith("TL-SE2109 ") and full.endswith(text) and found.ranking_query == full
    assert found.carried[0] == "TL-SE2109"


@pytest.mark.parametrize(
    ("first", "other"),
    [("How many ports does the LS-2424 have?", "And the LS-2448P?"), ("LS-2424 有多少个端口？", "那 LS-2448P 呢？")],
)
def test_a_later_question_is_about_the_code_that_replaced_another(first: str, other: str) -> None:
    carried = asked("How heavy is it?", first, other).carried
    assert "LS-2448P" in carried and "LS-2424" not in carried


@pytest.mark.parametrize(
    ("first", "second", "full"),
    [
        ("Which chair is the most expensive?", "And the cheapest?", "Which chair is the cheapest?"),
        ("Which route has the highest fare?", "and the lowest one", "Which route has the lowest fare?"),
        ("哪款车最贵？", "那最便宜的呢？", "哪款车最便宜？"),
        ("哪個館的座位最多？", "最少的呢", "哪個館的座位最少？"),
    ],
)
def test_a_superlative_alone_asks_the_same_for_the_other_end(first: str, second: str, full: str) -> None:
    found = asked(second, first)
    assert found.ranking_query == full and found.queries[-1] == (full, 1.0)
    assert found.carried and not set(words(second)) & set(found.carried)
    third = asked("And the heaviest?", first, second).ranking_query
    assert third == asked("And the heaviest?", first).ranking_query


def test_a_superlative_with_a_subject_of_its_own_changes_no_earlier_question() -> None:
    found = asked("Which cable is the cheapest?", "Which chair is the most expensive?")
    assert found.queries == (("Which cable is the cheapest?", 1.0),)
    assert asked("And the cheapest cable?", "Which chair is the most expensive?").ranking_query.endswith(
        "cheapest cable?"
    )
    assert "chair" in asked("And the cheapest?", "How heavy are the chairs?").ranking_query


def test_another_topic_carries_over_nothing_from_the_previous_one() -> None:
    assert asked("那病假呢？", "年假有多少天？", common="病假").queries == (("那病假呢？", 1.0),)
    assert "猫" in asked("它吃什么？", "猫的寿命多长？", common="吃").carried


def test_a_question_of_very_few_words_depends_fully() -> None:
    (bare, own), (_full, weight) = asked("Ports?", SWITCH, common="ports").queries
    assert (bare, own, weight) == ("Ports?", BESIDE, 1.0)


@pytest.mark.parametrize(
    "question",
    [
        "What is a cursor?",
        "How do I create an index?",
        "How many ports does the LS-2408 have?",
        "List all models and their prices.",
        "Who owns the building?",
        "Is it safe to open the case?",
        "各型号及其价格",
        "公司有没有食堂？",
        "装修交的那三千块押金什么时候退？",
    ],
)
def test_a_question_that_names_its_subject_stands_alone_however_common_its_words_are(question: str) -> None:
    assert asked(question, SWITCH, "交换机怎么重启？", common=question).queries == ((question, 1.0),)


@pytest.mark.parametrize("question", ["What do they do?", "为什么呢？"])
def test_a_question_that_names_nothing_is_only_searched_as_expanded(question: str) -> None:
    ((full, weight),) = asked(question, SWITCH).queries
    assert "TL-SE2109" in full and full.endswith(question) and weight == 1.0


def test_the_former_or_latter_of_two_things_is_searched_for() -> None:
    found = asked("How is the latter set up?", "What is the difference between trunk ports and port mirroring?")
    assert found.queries[1][0] == "How is port mirroring set up?"
    assert found.carried == ("port mirroring",)


def test_a_question_stands_alone_if_the_conversation_adds_nothing() -> None:
    assert asked("Does the switch reset?", "Reset the switch!").queries == (("Does the switch reset?", 1.0),)


def test_a_first_question_is_searched_as_it_is() -> None:
    assert asked("How long does a reset take?").queries == (("How long does a reset take?", 1.0),)


@pytest.mark.parametrize("question", ["What is this about?", "How long does it take?", "这是讲什么的？", "多少钱？"])
def test_a_selected_document_is_the_object(question: str) -> None:
    known = Known(frequencies(question), titles=("Long leave",))
    full = f"{question} Long leave"
    assert understand(question, [], known).queries == ((full, 1.0),)
    assert understand(question, [], known).ranking_query == full
    assert understand("How long is parental leave?", [], known).queries == (("How long is parental leave?", 1.0),)


@pytest.mark.parametrize("question", ["How long does it take?", "And in 2023?", "多少钱？", "怎么取消它？"])
def test_a_first_question_without_an_object_needs_clarification(question: str) -> None:
    assert asked(question) == Understanding("clarify", ((question, 1.0),), "no object", question)
    assert asked(question, "hello").action == "clarify"
    assert asked(question, SWITCH).action == "retrieve_vector"


def test_a_rewritten_question_is_searched_together_with_the_question() -> None:
    assert queries_with_rewrite("Its price?", "Price of the TL-SE2109") == (
        ("Price of the TL-SE2109", 1.0),
        ("Its price?", 0.5),
    )
    assert queries_with_rewrite("Price?", "Price?") == (("Price?", 1.0),)


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=3))
def test_every_message_leads_to_an_action(question: str, earlier: list[str]) -> None:
    found = asked(question, *earlier)
    assert bool(found.queries) == (found.action == "retrieve_vector") == bool(found.ranking_query)
    assert all(text.strip() and 0 < weight <= 1 for text, weight in found.queries)
    assert not found.queries or found.ranking_query in dict(found.queries)


BOUGHT = "微软什么时候收购了动视暴雪？"
COST = "花了多少钱？"


def joined(question: str, *earlier: str, passages: Sequence[str]) -> Understanding:
    """Understand a question of words rare enough to stand alone, with these passages on it and the conversation."""
    known = Known(frequencies(question, *earlier), [set(content_terms(passage)) for passage in passages])
    return understand(question, [PastTurn(1, text, "") for text in earlier], known)


def test_passages_with_words_of_both_show_that_a_question_leaves_out_its_subject() -> None:
    alone = joined(COST, BOUGHT, passages=["他花了钱。", "微软收购了动视暴雪。"])
    depends = joined(COST, BOUGHT, passages=["花了687亿美元的钱，微软收购了动视暴雪。"])
    (_bare, (full, weight)) = depends.queries
    assert weight > dict(alone.queries).get(full, 0.0) and {"微软", "暴雪"} <= set(depends.carried)


def test_a_long_question_stands_alone_despite_passages_with_words_of_both() -> None:
    question = "What is the warranty period of the rack mounting kit?"
    assert joined(question, SWITCH, passages=[f"{question} {SWITCH}"]).queries == ((question, 1.0),)


def test_passages_are_looked_up_only_if_the_question_depends_on_the_conversation() -> None:
    known = frequencies(COST, BOUGHT, SWITCH)
    assert context_probe_query(COST, [BOUGHT], known).endswith(COST)
    assert context_probe_query("What does it cost?", [SWITCH], known).endswith("TL-SE2109 switch What does it cost?")
    assert context_probe_query("的", [SWITCH], known) == ""
    alone, points = (f"Which {whose} warranty period?" for whose in ("kit's", "its"))
    known = frequencies(alone, SWITCH)
    assert context_probe_query(alone, [SWITCH], known) == "" != context_probe_query(points, [SWITCH], known)


@pytest.mark.parametrize("greeting", ["hello", "你好", "Thanks, that helped!"])
def test_a_greeting_is_not_carried_over(greeting: str) -> None:
    question = "What does VACUUM FULL do to tables?"
    assert asked(question, greeting, common="vacuum full tables").queries == ((question, 1.0),)
    carried = asked("How long does it take?", greeting, SWITCH, greeting).carried
    assert carried and not set(content_terms(" ".join(carried))) & set(content_terms(greeting))


def test_a_short_question_in_another_language_than_all_before_it_is_independent() -> None:
    question = "加班费？"
    assert asked(question, SWITCH, common="加班费 加班 班费").queries == ((question, 1.0),)
    assert asked(question, SWITCH, "交换机怎么重启？", common="加班费 加班 班费").ranking_query != question


def test_a_question_that_refers_back_does_so_in_another_language_too() -> None:
    found = asked("它多少钱？", SWITCH)
    assert found.reason == "pronoun" and found.ranking_query != "它多少钱？"


def test_passages_in_two_languages_show_that_a_question_leaves_out_its_subject() -> None:
    question = "保修多久？"
    passages = ["Reset switch TL-SE2109 保修 三年"]
    known = Known(frequencies(SWITCH, common="保修"), [set(content_terms(passage)) for passage in passages])
    found = understand(question, [PastTurn(1, SWITCH, "")], known)
    assert found.ranking_query != question


@pytest.mark.parametrize(
    ("earlier", "question", "expanded"),
    [
        ("How much does the LS-2408 weigh?", "and the LS-2424?", "How much does the LS-2424 weigh?"),
        ("LS-2424 多少钱？", "那 LS-2448P 呢", "LS-2448P 多少钱？"),
    ],
)
def test_another_code_repeats_the_earlier_question(earlier: str, question: str, expanded: str) -> None:
    assert asked(question, earlier).ranking_query == expanded


def test_a_code_of_another_kind_or_in_a_question_of_its_own_replaces_nothing() -> None:
    assert asked("and the LN-3155?", "How much does the LS-2408 weigh?").ranking_query.endswith("and the LN-3155?")
    alone = asked("Does the LS-2424 have a fan?", "How much does the LS-2408 weigh?")
    assert "weigh" not in alone.ranking_query

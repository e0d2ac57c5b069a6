"""Rules treat a text in traditional Chinese as the same text in simplified characters."""

from collections.abc import Callable

import pytest

from ragsite.language import answer_types, small_talk
from ragsite.language.analysis import border_pairs, pieces, terms
from ragsite.language.content_words import content_terms, naming_likelihood, words
from ragsite.language.context_dependence import dependence_on_context, introduces, names_another
from ragsite.language.facts import is_named, is_quoted, names
from ragsite.language.missing_object import lacks_object
from ragsite.language.quantities import quantities
from ragsite.language.questions import asks
from ragsite.language.sentences import split_sentences
from ragsite.language.word_tokens import word_tokens


def test_both_scripts_have_the_same_terms() -> None:
    simple, traditional = "无线网络里面的油漆桶，为什么？", "無線網絡裡面的油漆桶，為甚麼？"
    assert terms(traditional) == terms(simple)
    assert border_pairs(traditional) == border_pairs(simple)
    assert pieces(traditional, {"油漆桶"}) == pieces(simple, {"油漆桶"})
    assert content_terms(traditional) == content_terms(simple)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (answer_types.is_broad, "總結一下保修條款"),
        (answer_types.is_broad, "兩款交換機有什麼區別？"),
        (answer_types.wants_procedure, "怎麼重新啟動"),
        (answer_types.wants_explanation, "為甚麼會發熱"),
        (answer_types.wants_picture, "有沒有實物照片或插圖"),
        (answer_types.wants_list, "請列舉全部規格，列出來"),
        (small_talk.is_small_talk, "謝謝你的幫助！"),
        (small_talk.is_small_talk, "你叫什麼名字"),
        (small_talk.asks_to_translate, "請翻譯一下"),
        (asks, "這種型號的交換機在出廠的時候究竟是不是已經設定了密碼，還請說明"),
        (names_another, "那麼病假呢？"),
        (introduces, "什麼是宏"),
        (lacks_object, "那個要多少錢？"),
    ],
)
def test_a_rule_recognises_traditional_text(rule: Callable[[str], bool], text: str) -> None:
    assert rule(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("這個要多少錢？", "pronoun"), ("還有呢？", "pronoun"), ("那麼加班費呢？", "pronoun"), ("退貨運費由誰承擔？", "")],
)
def test_dependence_on_context(text: str, reason: str) -> None:
    assert dependence_on_context(text) == reason


def test_small_talk_is_of_a_kind_and_its_word_is_given_as_written() -> None:
    assert small_talk.kind_of("謝謝") == "thanks"
    assert small_talk.kind_of("再見") == "farewell"
    assert small_talk.pointer_in("這個怎麼用？") == "這個"


def test_words_are_as_written_and_segmented_alike() -> None:
    assert words("無線網絡連不上") == ("無線網絡", "連不上")
    assert naming_likelihood("網絡") == naming_likelihood("网络") == 1.0
    assert naming_likelihood("關於") == naming_likelihood("关于") < 1.0
    assert [word.text for word in word_tokens("無線網絡")] == ["無線網絡"]
    assert [word.key for word in word_tokens("無線網絡")] == [word.key for word in word_tokens("无线网络")]


@pytest.mark.parametrize(
    ("text", "value", "unit", "written"),
    [
        ("共三萬二千元", 32_000, "yuan", "三萬二千元"),
        ("下午兩點開會", 840, "time of day", "下午兩點"),
        ("十五分鐘後", 15, "minute", "十五分鐘"),
        ("週五開放", 5, "weekday", "週五"),
    ],
)
def test_quantities_have_their_place_in_the_text(text: str, value: int, unit: str, written: str) -> None:
    (found,) = [quantity for quantity in quantities(text) if quantity.unit == unit]
    assert found.value == value
    assert text[found.start : found.end] == written


def test_names_match_in_the_other_script() -> None:
    assert names("合同由張偉強在臺灣簽署。") == ["張偉強", "臺灣"]
    assert is_named("張偉強", "张伟强签署了合同")
    assert is_named("台灣", "在臺灣簽署")
    assert not is_named("張偉強", "李明签署了合同")
    assert is_quoted("運費由賣方承擔", "运费由卖方承担。")


def test_the_caption_of_a_picture_is_one_sentence() -> None:
    assert split_sentences("圖 3. 連接方式。\n下一句。") == ["圖 3. 連接方式。\n", "下一句。"]

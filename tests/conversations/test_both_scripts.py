"""Questions, answers and passages in traditional Chinese are treated as in simplified ones, and shown as written."""

import pytest

from conversations.citations.verdict import check
from conversations.memory.requests import Request, read_request
from conversations.pipeline.understanding.carry_over import Known
from conversations.pipeline.understanding.coreference import pair, with_carried_words
from conversations.pipeline.understanding.plans import asks_for_facts, may_ask_for_facts
from conversations.pipeline.understanding.rewriting import refuses, usable_rewrite
from conversations.pipeline.understanding.splitting import split
from conversations.pipeline.whole_documents.requests import WholeRequest, may_want_whole, names_in, whole_request
from conversations.rendering.quotations import marked
from retrieval.engine.fulltext import Frequencies

TRADITIONAL = "退貨的運費由賣方承擔。貨物可以在十五天內退回。冬季不得使用溫泉池。簽約人是張偉強。"
SIMPLIFIED = "退货的运费由卖方承担。货物可以在十五天内退回。冬季不得使用温泉池。签约人是张伟强。"


@pytest.mark.parametrize(
    ("sentence", "source", "problems", "says"),
    [
        ("退货的运费由卖方承担", TRADITIONAL, [], {}),
        ("退貨的運費由賣方承擔", SIMPLIFIED, [], {}),
        ("簽約人是張偉強", SIMPLIFIED, [], {}),
        ("貨物可以在二十五天內退回", SIMPLIFIED, [("number", "二十五天")], {"二十五天": "十五天"}),
        ("货物可以在二十五天内退回", TRADITIONAL, [("number", "二十五天")], {"二十五天": "十五天"}),
        ("冬季可以使用溫泉池", SIMPLIFIED, [("polarity", "")], {}),
        ("冬季可以使用温泉池", TRADITIONAL, [("polarity", "")], {}),
        ("簽約人是王建國", SIMPLIFIED, [("name", "王建國")], {}),
        ("裡面寫道「運費由買方和賣方平分」", SIMPLIFIED, [("quotation", "運費由買方和賣方平分")], {}),
    ],
)
def test_citations_are_checked(sentence, source, problems, says):
    (verdict,) = check(f"{sentence} [1]。", {1: source})
    assert [problem for problem in verdict.problems if problem[0] != "words"] == problems
    assert verdict.says == says
    assert (verdict.status == "supported") == (not problems)


def test_what_the_source_says_is_given_as_written():
    (verdict,) = check("保修期為三個月 [1]。", {1: "保修期為兩個月。"})
    assert verdict.says == {"三個月": "兩個月"}


def test_an_uncited_name_is_given_as_written():
    (verdict,) = check("合同由張偉強簽署。", {1: "合同由李明签署。"}, known=[])
    assert (verdict.status, verdict.problems) == ("uncited", (("name", "張偉強"),))


def test_the_claimed_words_of_a_quotation_are_highlighted():
    assert marked("運費由賣方承擔。", ["运费由卖方承担"]) == "<mark>運費由賣方承擔</mark>。"
    assert marked("运费由卖方承担。", ["運費由賣方承擔"]) == "<mark>运费由卖方承担</mark>。"


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("請記住：我在臺北的辦公室工作", Request("我在臺北的辦公室工作", True)),
        ("記住我對花生過敏，謝謝", Request("我對花生過敏", True)),
        ("請記住我住在高雄。最近的圖書館在哪裡？", Request("我住在高雄", False)),
        ("記住了什麼？", None),
    ],
)
def test_requests_to_remember(message, asked):
    assert read_request(message) == asked


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("總結這份文檔", WholeRequest("summary", "documents")),
        ("請幫我寫一份摘要", WholeRequest("summary", "nothing")),
        ("請列出文檔中的全部聯繫人", WholeRequest("list", "documents", "聯繫人")),
        ("總結《圖書館規則》", WholeRequest("summary", "names")),
        ("退貨運費由誰承擔？", None),
    ],
)
def test_requests_for_whole_documents(question, wanted):
    assert whole_request(question, ["图书馆规则"]) == wanted
    assert may_want_whole(question) == (wanted is not None)


def test_names_of_documents_are_found():
    assert names_in("圖書館規則有什麼規定", ["图书馆规则", "規則"]) == ["图书馆规则"]


def test_parts_of_a_question_are_as_written():
    assert split("保修期多長，運費由誰承擔？").parts == ("保修期多長", "運費由誰承擔")
    assert split("保修條款：運費、期限、範圍").parts == ("保修條款運費", "保修條款期限", "保修條款範圍")
    assert split("什麼是頁眉？它怎麼設置？").dependent == (1,)


def test_one_of_two_things_is_named_as_written():
    earlier = ["頁眉與頁腳有什麼區別？"]
    assert pair(earlier[0]) == ("頁眉", "頁腳")
    assert with_carried_words("後者怎麼刪除？", earlier, Known(Frequencies(0, {})))[0] == "頁腳怎麼刪除？"
    assert with_carried_words("第一種怎麼刪除？", earlier, Known(Frequencies(0, {})))[0] == "頁眉怎麼刪除？"


def test_questions_are_recognised():
    assert asks_for_facts("週末幾點關門")
    assert not asks_for_facts("剛才說了什麼？")
    assert may_ask_for_facts("請說明保修條款")
    assert not may_ask_for_facts("剛剛說的第一個問題")


def test_replies_that_are_no_question():
    assert refuses("非常抱歉，我無法改寫", "保修期多長？")
    assert usable_rewrite("保修期多长？", "保修期多長？") == ""

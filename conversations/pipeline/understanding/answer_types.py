"""What kind of thing a question asks for (a person, a date, an amount …), and whether a text holds one. Pure.

A passage near the topic of a question seldom lacks its words; what it may lack is a thing of the kind that is asked
for: a price where somebody asks what it costs. Kinds whose things hardly a passage lacks (where, which, how to) are not
told apart.
"""

import re
from enum import StrEnum

from conversations.citations.facts import is_person, names
from conversations.citations.quantities import fold, quantities
from conversations.citations.times_of_day import DAY_TIME, DIAL, WEEKDAY
from conversations.pipeline.understanding.keywords import content_terms, words
from retrieval.engine.analysis import terms


class Thing(StrEnum):
    """A kind of thing that a question may ask for."""

    MONEY = "money"
    DURATION = "duration"
    TIME = "time"
    NUMBER = "number"
    PERSON = "person"


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


# The first that fits counts.
_ASKED = {
    Thing.MONEY: _words(
        r"""\bhow\ much\b.*\b(?:costs?|pay|paid|charged?|fees?|prices?|money|fines?|deposit|worth)\b
        |\bwhat\b.*\b(?:costs?|prices?|fees?|charges?)\b(?!\s+(?:code|cent|list))|\bhow\ (?:expensive|cheap)\b
        |多少(?:钱|元|块|费用|押金|补贴)|什么价|价格(?:是|为)?多少|几(?:块|元)钱?
        |(?:收费|费用|押金|罚款|票价|售价|单价|租金|工资|补贴|津贴)(?:是|为)?(?:多少|怎么算|几)"""
    ),
    Thing.DURATION: _words(
        r"""\b(?:for\ )?how\ (?:long|many\ (?:years|months|weeks|(?:\w+\ )?days|hours|minutes|seconds))\b
        |\bhow\ much\ time\b|多久|多长时间|(?:几个?|多少个?)(?:小时|钟头|分钟|秒|星期|礼拜|工作日|自然日|周|年|月|天)"""
    ),
    Thing.TIME: _words(
        r"""\bwhen\b(?=\s+(?:is|are|was|were|did|does|do|will|can|must|should|has|have)\b)|^\W*when\b(?!.*,)
        |\b(?:what|which)\ (?:time|date|day|year|month)\b|\b(?:since|by)\ when\b
        |\bwhat\ (?:is|are|was)\ the\ (?:\w+\ ){0,3}(?:date|deadline|(?:opening\ |closing\ )?hours)\b
        |什么时[候间]|何时|哪一?[年天日月]|几[点号时月]|哪个(?:月|季度)|截止(?:日期|时间)"""
    ),
    Thing.NUMBER: _words(
        r"""\bhow\ (?:many|much|far|big|large|small|tall|high|deep|wide|heavy|fast|hot|cold|old|thick|thin|loud)\b
        |\bwhat\ (?:is|are|was|were)\ the\ (?:\w+\ ){0,3}?(?:number|size|percentage|percent|weight|height|width|depth
        |speed|temperature|distance|capacity|length|limit|maximum|minimum|rate|amount|age|total)\b
        |\b(?:what|which)\ (?:number|size|percentage|port|version|speed|temperature|weight)\b
        |多少|几(?![乎何])[个台人名位次种块张件份条页层楼公千毫级]|多(?:大|高|重|远|快|宽|深|厚|长)(?!时)|百分之几"""
    ),
    Thing.PERSON: _words(
        r"""\bwho\ (?:is|are|was|were|wrote|founded|invented|created|designed|developed|made|discovered|runs|leads|owns
        |painted|built)\b(?!\s+(?:allowed|able|entitled|eligible|responsible|covered|exempt))
        |\bwhose\ (?:name|idea)\b|\bwho['’]s\b|\bwhat\ is\ the\ name\ of\b
        |[是由]谁|谁(?:是|写|创|发明|设计|开发|负责|画|建)
        |(?:创始人|作者|院长|校长|经理|总裁|发明者|负责人)(?:是|叫)"""
    ),
}  # fmt: skip
_CURRENCIES = frozenset({"yuan", "eur", "usd", "gbp"})
_LASTING = frozenset({"year", "month", "week", "day", "hour", "minute", "second", "ms"})
_OF_THE_CALENDAR = frozenset({"calendar year", DAY_TIME, DIAL, WEEKDAY, "month name"})
# What says as much as a thing of the kind without naming one.
_INSTEAD = {
    Thing.MONEY: _words(r"\b(?:free|no\ (?:extra\ )?(?:charge|cost|fee)|at\ no\ cost)\b|免费|不收费|不收取|无需付费"),
    Thing.DURATION: _words(
        r"""\b(?:immediate(?:ly)?|instant(?:ly)?|permanent(?:ly)?|forever|indefinite(?:ly)?|until|unlimited|lifetime
        |overnight|at\ once)\b|立即|永久|直到|长期|无限期|终身|当[天日]"""
    ),
    Thing.TIME: _words(
        r"""\b(?:when|whenever|before|after|until|till|once|as\ soon\ as|during|upon|while|since|by\ the\ (?:end|time)
        |at\ the\ (?:end|beginning)|in\ (?:spring|summer|autumn|winter)|today|tomorrow|immediately|daily|weekly|monthly
        |nightly)\b|时候?|之?前|之?后|期间|当|每|立即|起|届满|日内"""
    ),
    Thing.NUMBER: _words(
        r"""\b(?:no|none|any\ number|unlimited|several|both|single|only\ one|pair|dozen|half|double|all|infinite)\b
        |无限|不限|任意|若干|单个|唯一|一半|全部"""
    ),
    Thing.PERSON: re.compile(r"\b[A-Z][\w’'-]+\s+(?:[A-Z]\.\s+)?[A-Z][\w’'-]+"),
}

# What documents call what is asked for, and what else people say for it: "how much do I pay?" is answered by a column
# of prices, in whichever language. The first that fits counts.
_CALLED = (
    (_ASKED[Thing.MONEY], "price 价格",
     "cost fee pay paid charge worth money expensive cheap 钱 多少钱 价 价钱 收费 售价 单价 票价 贵 便宜 费用"),
    (_words(r"\bhow\ (?:heavy|much\b.*\bweigh)|多重|几(?:公斤|千克|斤|吨)"), "weight 重量", "heavy weigh 重 多重"),
    (_words(r"\bhow\ (?:big|large)\b|多大"), "size 尺寸 大小", "big large 大 多大"),
    (_words(r"\bhow\ (?:tall|high)\b|多高"), "height 高度", "tall high 高 多高"),
    (_words(r"\bhow\ (?:wide|broad)\b|多宽"), "width 宽度", "wide broad 宽 多宽"),
    (_words(r"\bhow\ deep\b|多深"), "depth 深度", "deep 深 多深"),
    (_words(r"\bhow\ fast\b|多快"), "speed 速度", "fast 快 多快"),
    (_words(r"\bhow\ far\b|多远"), "distance 距离", "far 远 多远"),
    (_words(r"\bhow\ (?:hot|cold|warm)\b|几度"), "temperature 温度", "hot cold warm 热 冷 几度"),
)  # fmt: skip


def asked_for(question: str) -> Thing | None:
    """Return the kind of thing that a question asks for, or None where it is none of these."""
    return next((thing for thing, pattern in _ASKED.items() if pattern.search(question)), None)


def as_called(question: str) -> str:
    """Return a question in the documents' words for the thing that it asks for; empty where it has no others."""
    names = next((names for pattern, names, _said in _CALLED if pattern.search(question)), "")
    if not names:
        return ""
    alike = said_alike(question)
    about = (word for word in words(question) if (found := set(content_terms(word))) and not found & alike)
    return " ".join([*about, names])


def said_alike(question: str) -> frozenset[str]:
    """Return the terms for the thing that a question asks for, each of which says what the others say."""
    found = (f"{names} {said}" for pattern, names, said in _CALLED if pattern.search(question))
    return frozenset(terms(next(found, "")))


def holds_thing(thing: Thing, text: str) -> bool:
    """Whether a text (a sentence, a table's row) holds a thing of the kind, or says as much in words."""
    text = fold(text)
    if _INSTEAD[thing].search(text):
        return True
    if thing is Thing.PERSON:
        return any(is_person(name) for name in names(text))
    found = quantities(text)
    match thing:
        case Thing.MONEY:
            return any(each.unit in _CURRENCIES for each in found)
        case Thing.DURATION:
            return any(each.unit in _LASTING and each.kind != "calendar year" for each in found)
        case Thing.TIME:
            return any(each.kind in _OF_THE_CALENDAR or each.may_be_a_year or each.unit in _LASTING for each in found)
        case Thing.NUMBER:
            return any(not each.spelled or each.value != 1 for each in found)
        case _:
            return False

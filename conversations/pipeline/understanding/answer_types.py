"""What documents call the thing that a question asks for: "how much do I pay?" is answered by prices. Pure."""

import re

from conversations.pipeline.understanding.keywords import content_terms, words
from retrieval.engine.analysis import terms


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


_MONEY = _words(
    r"""\bhow\ much\b.*\b(?:costs?|pay|paid|charged?|fees?|prices?|money|fines?|deposit|worth)\b
    |\bwhat\b.*\b(?:costs?|prices?|fees?|charges?)\b(?!\s+(?:code|cent|list))|\bhow\ (?:expensive|cheap)\b
    |多少(?:钱|元|块|费用|押金|补贴)|什么价|价格(?:是|为)?多少|几(?:块|元)钱?
    |(?:收费|费用|押金|罚款|票价|售价|单价|租金|工资|补贴|津贴)(?:是|为)?(?:多少|怎么算|几)"""
)
# What documents call what is asked for, and what else people say for it: "how much do I pay?" is answered by a column
# of prices, in whichever language. The first that fits counts.
_CALLED = (
    (_MONEY, "price 价格",
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

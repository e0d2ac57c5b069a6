"""What the words of a question tell of it: which only ask, and whether it wants an overview. Pure."""

import re
from functools import cache

from ragsite.language import words_of
from retrieval.engine.analysis import terms

# The characters that jieba may cut off question words.
_CHARACTERS = "什么怎样如何哪些个里几多少为是否吗呢请问告诉介绍说明一下有的了和在可以能需要应该谁何时候我们你要用"
_BROAD = re.compile(
    r"\b(?:overview|summar(?:y|ise|ize)|compar(?:e|ed|ison)|differ(?:ence|ences|ent|s)?|versus|vs|respectively"
    r"|all (?:the )?\w+s|every|which (?:documents|files|products|models|versions))\b"
    r"|概述|概括|总结|综述|汇总|比较|对比|区别|差异|不同|分别|所有|全部|各个|各种|哪些(?:文档|文件|产品|型号|版本)",
    re.IGNORECASE,
)


@cache  # made when first asked for, since jieba reads its dictionary for it: a quarter of a second at each start
def question_words() -> frozenset[str]:
    """Return the terms that only ask."""
    return frozenset([*terms(" ".join(words_of(__file__, "question_words"))), *_CHARACTERS])


def is_broad(question: str) -> bool:
    """Whether a question asks for an overview or a comparison, which one document seldom answers alone."""
    return bool(_BROAD.search(question))

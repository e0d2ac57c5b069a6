"""What turns a sentence into its opposite: negations, and pairs of opposites. Pure."""

import re

_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|hardly|unless|except|excluding|lacks?|n't|\w+n[’']t"
    r"|banned|forbidden|prohibited|refused?|denied)\b"
    r"|\b(?:un|non-?|in)(?:able|available|necessary|needed|permitted|affected|changed|limited|supported|paid|used)\b"
    r"|不(?!仅|但|过|断|同|久|锈|动产|少|如|论|管|得不)|没有|没|未|无(?!线|论|锡|人机)|非(?!常|洲)|勿|禁|免|莫|别(?=再|用|把)",
    re.IGNORECASE,
)
# Both of a pair; where a sentence has one and its source only the other, they disagree.
_OPPOSITES = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"\benabled?\b|\b(?:turn|switch)(?:ed|s)? on\b", r"\bdisabled?\b|\b(?:turn|switch)(?:ed|s)? off\b"),
        (r"\b(?:allow|permit)\w*\b", r"\b(?:forbid|prohibit|ban(?:s|ned)?\b)\w*\b"),
        (
            r"\bincreas\w*\b|\bris(?:e|es|ing|en)\b|\brose\b|\bgr[eo]w\w*\b|\bup by\b",
            r"\bdecreas\w*\b|\bf[ae]ll\w*\b|\bdeclin\w*\b|\bdrop\w*\b|\bdown by\b|\bshr[aiu]nk\w*\b",
        ),
        (r"\bbefore\b|\bprior to\b", r"\bafter\b|\bfollowing\b"),
        (
            r"\b(?:more|greater|longer|higher|over|above|at least|minimum)\b",
            r"\b(?:less|fewer|shorter|lower|under|below|at most|maximum|up to|no more)\b",
        ),
        (r"\b(?:must|required?|mandatory|compulsory|obliged)\b", r"\b(?:may|optional|voluntary|can)\b"),
        (r"\binclud\w+\b", r"\bexclud\w+\b"),
        (r"\baccept\w*\b|\bapprov\w*\b", r"\breject\w*\b|\bdeclin\w*\b|\brefus\w*\b"),
        (r"\bopen\w*\b", r"\bclos\w*\b"),
        (r"\bwith\b", r"\bwithout\b"),
        (r"启用|开启|打开", r"禁用|关闭|停用"),
        (r"允许|可以|准许", r"禁止|不得|不可|严禁"),
        (r"增加|上升|增长|提高|上涨", r"减少|下降|降低|下跌"),
        (
            r"以上|超过|高于|大于|不少于|不低于|至少|最低",
            r"以下|低于|少于|小于|不超过|不高于|最多|至多|最高",
        ),
        (r"之?前", r"之?后"),
        (r"必须|须|应当|需要", r"可选|自愿|无需|不必|不需"),
        (r"包括|包含|含", r"不包括|不含|除外"),
        (r"收费|付费", r"免费"),
        (r"支持", r"不支持"),
        (r"批准|通过|同意", r"否决|驳回|拒绝"),
    )
)


def negations(text: str) -> int:
    """Return how often a text negates."""
    return len(_NEGATIONS.findall(text))


def opposed(claim: str, source: str) -> bool:
    """Whether a claim says one of a pair of opposites where its source says only the other."""
    for one, other in _OPPOSITES:
        for mine, theirs in ((one, other), (other, one)):
            if mine.search(claim) and not mine.search(source) and theirs.search(source) and not theirs.search(claim):
                return True
    return False


def contradicts(claim: str, source: str) -> bool:
    """Whether a claim and the sentence that it rests on differ in polarity."""
    return (negations(claim) % 2 != negations(source) % 2) or opposed(claim, source)

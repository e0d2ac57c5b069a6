"""The length and the language that instructions ask for, as far as answers without a model can follow them. Pure.

Only common wordings are understood. A sentence with a condition ("if …"), a negation or several languages is skipped:
following half of it would be worse than following nothing.
"""

import re
from dataclasses import dataclass, replace

_NUMBERS = {
    "one": 1, "a single": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_SENTENCE = re.compile(r"(?:(?<!\d)\.(?!\d)|[!?。！？;；\n])+")
_CLAUSE = re.compile(r"[,，、:：()（）—–]+|\s-\s")
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|except|otherwise|in case|instead of|rather than)\b"
    r"|如果|若是|假如|要是|除非|否则|除了|当.{1,20}时|(?<![同随及])时(?=[,，])|的时候|而不是",
    re.IGNORECASE,
)
_NOT = r"(?:\b(?:not|never|no|don['’]?t|do not|avoid|without|too|isn['’]?t|aren['’]?t)\b|不|别|勿|无需|避免|太|过于)"
_NEGATED = re.compile(rf"{_NOT}[^,，]{{0,12}}$", re.IGNORECASE)

_COUNT_EN = rf"({'|'.join(name for name in _NUMBERS if name.isascii())}|\d{{1,2}})"
_SENTENCES = [
    # "in at most two sentences", "keep it to one or two sentences", "fewer than three sentences"
    re.compile(
        r"\b(?P<cue>in|at most|no more than|not more than|never more than|no longer than|up to|maximum of"
        r"|max\.?|within|exceed|to|use|write|give|fewer than|less than|under|below)\s+"
        r"(?:(?:just|only|about|roughly|at most|no more than|a maximum of"
        r"|(?:one|two|\d)(?:\s+or\s+|\s*[-–]\s*|\s+to\s+))\s*)*"
        rf"{_COUNT_EN}\s+(?:(?:short|simple|brief|plain|concise|full)\s+)*sentences?\b",
        re.IGNORECASE,
    ),
    # "two sentences at most", "one sentence only"
    re.compile(
        rf"(?P<cue>)\b{_COUNT_EN}\s+(?:short\s+)?sentences?"
        r"\s+(?:at (?:the )?most|max(?:imum)?|or (?:less|fewer)|only)\b",
        re.IGNORECASE,
    ),
    # "one-sentence answers"
    re.compile(rf"(?P<cue>)\b{_COUNT_EN}-sentence\s+(?:answers?|replies|reply|responses?)\b", re.IGNORECASE),
    # 最多两句话, 用一两句话回答, 控制在三句以内
    re.compile(
        r"(?P<cue>最多|至多|不超过|不要超过|别超过|不得超过|不多于|少于|控制在|限制在|限于|限|只用|就用|用|以|只[写说答])"
        r"[^\d一二两三四五六七八九十,，]{0,3}(?:[一二两三\d](?:到|至|[-~–]|(?=[一二两三四五])))?"
        r"([一二两三四五六七八九十]|\d{1,2})\s*(?:个)?(?:短)?句(?:子|话)?"
    ),
    # 两句话以内, 一句话回答
    re.compile(
        r"(?P<cue>)(?<![第每一二三四五六七八九十\d])([一二两三四五六七八九十]|\d{1,2})\s*(?:个)?句(?:子|话)?"
        r"(?:以内|之内|内|即可|就行|就够|就好|说完|说清|回答|作答|答复|概括|总结|讲清)"
    ),
]
_LESS_ONE = {"fewer than", "less than", "under", "below", "少于"}
_AT_LEAST = re.compile(r"\b(?:at least|more than|every)\b|至少|起码|以上|每", re.IGNORECASE)
_AT_MOST = re.compile(r"\b(?:no|not|never) more than\b", re.IGNORECASE)
_LENGTHS = [
    (
        "short",
        re.compile(
            r"\b(?:brief(?:ly)?|concise(?:ly)?|succinct(?:ly)?|terse(?:ly)?|to the point|in short|as short as possible"
            r"|(?:answers?|replies|reply|responses?|it|them|things)\s+(?:as\s+)?(?:very\s+)?short(?!\s*\w*\s*sentence)"
            r"|(?:be|answer|reply|respond)\s+(?:very\s+)?short(?:ly)?(?!\s*\w*\s*sentence)"
            r"|short\s+(?:answers?|replies|reply|responses?)|(?:answers?|replies)\s+(?:should|must)\s+be\s+(?:very\s+)?short)"
            r"\b|简短|简洁|简明|简要|精简|简练|精炼|言简意赅|短一点|短一些|尽量短|越短越好|长话短说",
            re.IGNORECASE,
        ),
    ),
    (
        "detailed",
        re.compile(
            r"\b(?:in (?:full |great |more )?detail|detailed|at length|thorough(?:ly)?|comprehensive(?:ly)?"
            r"|in depth|in-depth|exhaustive(?:ly)?|elaborate(?:ly)?|(?:long|full)\s+(?:answers?|replies|responses?))\b"
            r"|详细|详尽|全面|具体展开|展开说明|充分说明|尽量完整|长一点|长一些",
            re.IGNORECASE,
        ),
    ),
]
_LANGUAGE_OF = {
    "english": "en", "chinese": "zh", "mandarin": "zh", "英文": "en", "英语": "en", "中文": "zh", "汉语": "zh",
    "普通话": "zh", "简体": "zh", "简体字": "zh",
}  # fmt: skip
_NAME_EN = r"(?:(?:simplified|plain|simple|british|american|good|clear|formal)\s+)*(english|chinese|mandarin)"
_NAME_ZH = r"(?:简体|规范的?)?(英文|英语|中文|汉语|普通话|简体字?)"
_LANGUAGES = [
    re.compile(
        r"\b(?:answer|reply|respond|write|speak|explain|answers|replies|responses)\b(?:\s+[\w'’]+){0,5}?\s+in\s+"
        rf"{_NAME_EN}\b(?!\s+(?:terms?|names?|units?|words?|quot))",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:speak|always|only)\s+(?:in\s+|use\s+)?{_NAME_EN}\b(?=\s*(?:please|only|$))", re.IGNORECASE),
    re.compile(
        rf"^\s*(?:please\s+)?(?:use\s+|in\s+|language\s+)?{_NAME_EN}\s*(?:only|always|please|answers?|replies)?\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:用|以|使用|说|讲|写|采用|改用){_NAME_ZH}(?:语言)?(?:来|进行|给我|给出|为我)?"
        r"(?=回答|回复|答复|作答|答题|书写|撰写|写|说明|解释|输出|表达|交流|沟通)"
    ),
    re.compile(
        rf"^\s*(?:请|一律|始终|总是|都|全部|全程|语言|回答语言|只)*(?:用|使用|为|是|说|讲)?{_NAME_ZH}(?:回答|回复|作答|答复)?\s*$"
    ),
]
_SEVERAL_LANGUAGES = re.compile(
    r"\b(?:english|chinese|mandarin)\s*(?:or|and|/)\s*[A-Z]\w+|\w+\s*(?:or|and|/)\s*(?:english|chinese|mandarin)\b"
    r"|[语文][或和与、/][\u4e00-\u9fff]{1,3}[语文]|繁体",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What instructions ask for: a length as `ANSWER_LENGTH` without "normal", the most sentences, and a language.

    Empty and None where they ask for nothing, or for nothing that is understood.
    """

    length: str = ""
    sentences: int | None = None
    language: str = ""


def read_wishes(*texts: str) -> Wishes:
    """Return what texts ask for; of contradicting wishes the last one applies."""
    found = Wishes()
    for text in texts:
        for sentence in _SENTENCE.split(text):
            if not _CONDITION.search(sentence):
                found = _of_sentence(sentence, found)
    return found


def _of_sentence(sentence: str, found: Wishes) -> Wishes:
    languages: list[str] = []
    for clause in _CLAUSE.split(sentence):
        if (most := _sentences_in(clause)) is not None:
            found = replace(found, sentences=most, length="")
        for length, pattern in _LENGTHS:
            if (match := pattern.search(clause)) and not _NEGATED.search(clause[: match.start()]):
                # A wish for detail withdraws an earlier limit.
                found = replace(found, length=length, sentences=found.sentences if length == "short" else None)
        for pattern in _LANGUAGES:
            match = pattern.search(clause.strip())
            if match and not _NEGATED.search(clause.strip()[: match.start()]):
                languages.append(_LANGUAGE_OF[match[1].lower()])
    if len(set(languages)) == 1 and not _SEVERAL_LANGUAGES.search(sentence):
        found = replace(found, language=languages[0])
    return found


def _sentences_in(clause: str) -> int | None:
    """Return the most sentences that a clause allows; None if it has no such limit."""
    if _AT_LEAST.search(_AT_MOST.sub("", clause)):
        return None
    for pattern in _SENTENCES:
        match = pattern.search(clause)
        exceeds = match is not None and match["cue"].lower() == "exceed"
        if match and bool(re.search(rf"{_NOT}\s*$", clause[: match.start()], re.IGNORECASE)) == exceeds:
            word = match[2].lower()
            count = int(word) if word.isdecimal() else _NUMBERS[word]
            return max(1, count - (match["cue"].lower() in _LESS_ONE))
    return None

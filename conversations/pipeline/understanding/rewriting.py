"""Extracts a rewritten question from a model's reply, unless it is unusable. Pure."""

import re

from conversations.events import NUMBER, in_brackets
from conversations.prompts.no_reply import NoReply
from ragsite.language.analysis import terms
from ragsite.language.questions import question_words
from ragsite.language.simplified import simplified
from ragsite.llm.stream.json_reply import line, objects

# The most columns of a rewritten question, or this multiple of the question's; a Chinese character counts as two.
MAX_COLUMNS = 240
MAX_GROWTH = 4
# The most nested wrappings around a question that are removed.
MAX_WRAPPINGS = 6

_FENCE = re.compile(r"^```\w*\s*|\s*```$")
_BULLET = re.compile(r"^(?:[-•*]|1[.)、])\s+")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "`": "`", "*": "*", "<": ">"}
_PREFIX = re.compile(
    r"""^\W{0,4}(
        (here\s+is|here's|this\s+is|sure|okay|ok|certainly|of\s+course)\b[^:：\n]{0,60}
        |(the\s+)?(re-?written|rewrite|rephrased|reformulated|revised)(\s+(stand-?alone|search|user))?
            (\s+(question|query|version|form))?(\s+is)?
        |(the\s+)?(stand-?alone|self-contained|improved|new|final|full|search)\s+(question|query)(\s+is)?
        |(question|query|answer|output|result|message|user|assistant|q|a)
        |(好的?|当然)[^:：\n]{0,20}
        |(查询|问题|问句)?(改写|重写)[^:：\n]{0,12}
        |(独立|完整|最终|新)的?(问题|问句|查询)[^:：\n]{0,6}
        |(问题|查询|问句|输出|结果|答案)(是|为)?
        |用户|助手|消息|问
    )\W{0,3}[:：]\**""",
    re.IGNORECASE | re.VERBOSE,
)
_REFUSAL = re.compile(
    r"^\W*(i['’]?\s?a?m\s+(very\s+)?(sorry|unable|not\s+able)|sorry\b|apologies|i\s+(can\s?not|can['’]t|won['’]t|do\s+not|don['’]t)\b"
    r"|as\s+an?\s+(ai|language\s+model)|unfortunately,?\s+i\b"
    r"|(非常|很|十分)?(抱歉|对不起|遗憾)|作为(一个|一名)?\s*(ai|人工智能|语言模型|大模型)|我(无法|不能|没有办法|不可以|做不到))",
    re.IGNORECASE,
)  # fmt: skip
_EXPLAINS = re.compile(
    r"^\W*(the\s+(user|question|message|conversation)\s+(is|was|wants?|asks?|asked|means?|refers?|needs?|seems?|does|has|can)\b"
    r"|(this|that)\s+(question|message|query)\b|(based|according)\s+(on|to)\s+the\s+(conversation|context|history)"
    r"|(the\s+)?(original|last)\s+question\s+(is|does|needs|was|can)\b|no\s+(rewrite|rewriting|change)|there\s+is\s+no\b"
    r"|用户(想|要|在|问|询问|希望|的(意思|问题))|(这|该)个?(问题|消息|句)|根据(对话|上下文|历史)|(原|最后一个)问题|无需改写|不需要改写|没有(足够|提供))",
    re.IGNORECASE,
)  # fmt: skip

# The fields in which models that answer in JSON put the question.
_NAMES = ("rewrite", "rewritten", "rewritten_question", "rewritten_query", "question", "query", "改写", "问题", "查询")
_AFTERTHOUGHT = re.compile(
    r"(?<=[?？])\s*[(（][^()（）]*(rewr|resol|refer|replac|origin|改写|说明|指代|指的|原)[^()（）]*[)）]$",
    re.IGNORECASE,
)
# A code, such as TL-SE2109: letters, in capitals too, and more than one digit.
_CODE = re.compile(r"\b(?=[\w./-]*[A-Z])(?=(?:[\w./-]*\d){2})[\w./-]+", re.ASCII)
# Citation markers at the end, but not subscripts such as "b[2]".
_SQUARE, _LENTICULAR, _ = in_brackets(NUMBER)
_CITES = re.compile(rf"(?:(?<=[\s.。]){_SQUARE}|{_LENTICULAR})[\W\d]*$")


class Unusable(NoReply):
    """The model's reply is unusable."""


def usable_rewrite(reply: str, question: str, background: str = "", *, cut: bool = False) -> str:
    """Return the rewritten question in a reply, or an empty string if it is the same as the question.

    `background` is the conversation, empty if it is not known; `cut` says that the end of the reply is missing. Raises
    `Unusable`: `empty`, `refusal`, `explains` (or answers), `too long`, `off the subject` if it shares no word with the
    question or the conversation, or `made up` if it contains a code that neither does, since models copy codes from the
    prompt's examples.
    """
    if _FENCE.sub("", reply.strip()).startswith("{"):  # JSON
        values = (line(item.get(name)) for item in objects(reply, *_NAMES) for name in _NAMES if name in item)
        reply = next(values, reply)
    lines = [text for part in _FENCE.sub("", reply.strip()).splitlines() if (text := _bare(part))]
    if not lines:
        raise Unusable("empty")
    if refuses(lines[0], question):
        raise Unusable("refusal")
    explains = _EXPLAINS.match(simplified(lines[0])) and not _EXPLAINS.match(simplified(question))
    answers = _CITES.search(lines[0]) and not _CITES.search(question)
    if len(lines) > 1 or explains or answers:
        raise Unusable("explains")
    if cut or _columns(lines[0]) > max(MAX_COLUMNS, MAX_GROWTH * _columns(question)):
        raise Unusable("too long")
    said = set(terms(lines[0])) - question_words()
    if not said & set(terms(question)) and not said & set(terms(background)):
        raise Unusable("off the subject")
    given = _plain(f"{question} {background}")
    if background and any(_plain(code) not in given for code in _CODE.findall(lines[0])):
        raise Unusable("made up")
    return "" if _plain(lines[0]) == _plain(question) else lines[0]


def refuses(reply: str, question: str) -> bool:
    """Return whether a reply is an apology instead of the text asked for, unless the question starts like one too."""
    return bool(_REFUSAL.match(simplified(reply))) and not _REFUSAL.match(simplified(question))


def _bare(text: str) -> str:
    """Return a line without a label, quotes, emphasis or a trailing remark, which models add to a question."""
    for _wrapping in range(MAX_WRAPPINGS):
        before = text
        text = _AFTERTHOUGHT.sub("", _PREFIX.sub("", _BULLET.sub("", text.strip()), count=1).strip())
        if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[-1] not in text[1:-1]:
            text = text[1:-1]
        if text.startswith("**") and text.endswith("**"):
            text = text.strip("*")
        if text == before:
            break
    return text


def _columns(text: str) -> int:
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", simplified(text)).lower()

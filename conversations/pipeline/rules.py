"""Understanding a question without a model: what to do with it, and what to search for. Pure.

Greetings are chat; a question that refers to nothing is asked back; a question that leans on the turns before
it is searched as it stands and, beside it, joined with them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from conversations.pipeline.state import PastTurn
from retrieval.analysis import terms
from retrieval.words import QUESTION_WORDS

# The weight of the history-joined query beside the bare one.
JOINED_WEIGHT = 0.5

_CHAT = re.compile(
    r"""^\W*(
        hi|hello|hey|hiya|howdy|greetings|good\s+(morning|afternoon|evening|night)
        |(hi|hello|hey)\s+(there|all|everyone|ragsite)
        |thanks?(\s+(you|a\s+lot|so\s+much|very\s+much))*|thank\s+you(\s+(so|very)\s+much)?|cheers|thx
        |ok(ay)?|great|perfect|nice|cool|got\s+it|bye|goodbye|see\s+you
        |who\s+are\s+you|what\s+(are\s+you|can\s+you\s+do)|how\s+are\s+you(\s+doing)?|help
        |你好啊?|您好|嗨|哈喽|早上好|上午好|中午好|下午好|晚上好|晚安|在吗|大家好
        |谢谢你?您?|多谢|感谢|好的?|好吧|明白了?|知道了|再见|拜拜
        |你是谁|你叫什么(名字)?|你能(做|干)(什么|些什么|啥)|你会(做)?什么|帮助
    )(\W*(ragsite|呀|啊|哦|了|吗|呢|ok))?\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
_PRONOUN = re.compile(
    r"\b(it|its|they|them|their|theirs|this|that|these|those|he|she|him|her|his|hers|one|ones|former|latter|same|there"
    r"|above|previous|another|others?|else)\b"
    r"|它们?|他们?|她们?|这个|那个|这些|那些|这位|那位|这里|那里|前者|后者|上述|上面|刚才|其中|其|此|该|这(?=[种款项部篇本条次])"
    r"|那(?=[种款项部篇本条次])|这样|那样|另一个|还有(吗|呢|什么|哪些)|呢[?？]?$",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^\s*(and|but|so|also|or|then|what about|how about|why not|what else|for example|such as)\b"
    r"|^\s*(那么?|还有|另外|然后|以及|例如|比如)",
    re.IGNORECASE,
)


_ASKS = re.compile(
    r"\b(what|how|which|who|whom|whose|when|where|why|is|are|does|do|did|can|could|should|will)\b"
    r"|什么|如何|怎么|怎样|哪|谁|多少|几|为何|为什么|是否|吗",
    re.IGNORECASE,
)
# Of what thing, is in the question before.
_ASKS_A_MEASURE = re.compile(
    r"\b(how (long|many|much|often|far|big|large|old|about)|when|where|why)\b"
    r"|多久|多长|多大|多少|几[个天年月次台人]|什么时候|何时",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Understanding:
    """What to do (`retrieve_vector`, `answer_chat`, `clarify`), what to search for with which weight, and why.

    `focus` is what passages are judged by: the question, with the one before it where it leans on that.
    """

    action: str
    queries: tuple[tuple[str, float], ...] = ()
    reason: str = ""
    focus: str = ""


def understand(question: str, history: Sequence[PastTurn]) -> Understanding:
    """Decide by rules; `history` is oldest first."""
    text = question.strip()
    if _CHAT.match(text):
        return Understanding("answer_chat", reason="greeting")
    words = [term for term in terms(text) if term not in QUESTION_WORDS]
    if not history:
        if not words:
            return Understanding("clarify", reason="no searchable word")
        return Understanding("retrieve_vector", ((text, 1.0),), "stands alone", text)
    reason = leaning(text, words)
    if not reason:
        return Understanding("retrieve_vector", ((text, 1.0),), "stands alone", text)
    joined = join_with_history(text, history)
    focus = join_with_history(text, history[-1:])
    if not words:
        return Understanding("retrieve_vector", ((joined, 1.0),), reason, focus)
    return Understanding("retrieve_vector", ((text, 1.0), (joined, JOINED_WEIGHT)), reason, focus)


def leaning(question: str, words: Sequence[str]) -> str:
    """Say why a question leans on what came before it; an empty string when it stands alone."""
    if _PRONOUN.search(question):
        return "pronoun"
    if _LEADING.search(question) and len(set(words)) <= 4:
        return "continuation"
    fragment = len(set(words)) <= 2 and (not _ASKS.search(question) or _ASKS_A_MEASURE.search(question))
    return "fragment" if fragment or not words else ""


def join_with_history(question: str, history: Sequence[PastTurn]) -> str:
    """Return the branch's questions and this one as one query, oldest first."""
    return "\n".join([*(turn.question for turn in history), question])

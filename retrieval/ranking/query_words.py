"""What the words of a question tell of it: which only ask, and whether it wants an overview. Pure."""

import re

from retrieval.engine.analysis import terms

QUESTION_WORDS = set(
    terms(
        "what which who whom whose when where why how many much does did can could should would tell explain describe "
        "list give show please mean means called name following between use used using "
        "什么 怎么 怎样 如何 哪些 哪个 哪里 哪 多少 几 为什么 为何 是否 吗 呢 请问 请 告诉 介绍 说明 一下 是 有 的 了 "
        "和 在 可以 能 "
        "需要 应该 多久 多长 谁 何时 时候 怎么办 进行 使用 用 我 我们 你 要"
        # Words that hold a sentence together. Passages word it in their own way, so that these tell nothing of them.
        "都 把 被 让 使 给 对 对于 关于 向 往 从 到 于 由 以 按 按照 跟 同 与 及 以及 或 或者 而 而且 并 并且 但 但是 "
        "不过 如果 要是 因为 所以 虽然 只 只有 也 还 还是 又 再 就 就是 才 才能 很 太 更 最 比较 像 一样 比如 例如 "
        "它 它们 他 他们 她 她们 自己 大家 这 那 这个 那个 这些 那些 这样 那样 那么 怎么样 这里 那里 其 此 该 某 各 每 "
        "一 一个 一些 一种 几个 一起 连在 连在一起 一共 总共 之间 之后 之前 以后 以前 时 着 过 地 得 之 所 想 想要 "
        "希望 会 应当 必须 得到 出 出来 起来 下来 上 下 里 中 内 到底 究竟 直接 能不能 可不可以 有没有 是不是"
    )
) | set("什么怎样如何哪些个里几多少为是否吗呢请问告诉介绍说明一下有的了和在可以能需要应该谁何时候我们你要用")

_BROAD = re.compile(
    r"\b(?:overview|summar(?:y|ise|ize)|compar(?:e|ed|ison)|differ(?:ence|ences|ent|s)?|versus|vs|respectively"
    r"|all (?:the )?\w+s|every|which (?:documents|files|products|models|versions))\b"
    r"|概述|概括|总结|综述|汇总|比较|对比|区别|差异|不同|分别|所有|全部|各个|各种|哪些(?:文档|文件|产品|型号|版本)",
    re.IGNORECASE,
)


def is_broad(question: str) -> bool:
    """Whether a question asks for an overview or a comparison, which one document seldom answers alone."""
    return bool(_BROAD.search(question))

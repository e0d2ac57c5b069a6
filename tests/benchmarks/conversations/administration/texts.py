"""Texts in English, Chinese and both, with word frequencies like those of natural language (Zipf)."""

from collections.abc import Sequence
from itertools import accumulate
from random import Random

# Search terms: a word in most answers of each language, and one in very few.
FREQUENT, FREQUENT_HAN = "switch", "端口"
RARE, RARE_HAN = "bergamot", "佛手柑"

_ENGLISH = (
    "the of to and is in a for on by it with at from that as are or be this can port switch when not network after"
    " settings if page power version firmware device one factory each before cable reset button warranty seconds user"
    " default table document manual rack years mounting kit address which hold restore answer question time more years"
    " file model number light green amber blinks connected update release password administrator isolation traffic"
)
_HAN = (
    "的 是 在 和 可以 交换机 端口 设置 默认 网络 以后 如果 电源 版本 固件 设备 恢复 出厂 按钮 保修 秒 用户 页面"
    " 文档 手册 机架 安装 地址 按住 回答 问题 时间 文件 型号 数量 指示灯 绿色 闪烁 连接 更新 发布 密码 管理员"
    " 隔离 流量 配置 启用 关闭 需要 支持"
)
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_LONG_TAIL = 20_000


class Writer:
    """Writes texts, the same ones in every run."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._english = self._vocabulary(_ENGLISH.split(), _SYLLABLES, 4)
        self._han = self._vocabulary(_HAN.split(), [chr(0x4E00 + 7 * number) for number in range(1500)], 2)

    def text(self, least: int, most: int) -> str:
        """Return a text of about this number of characters, in one language or in both, occasionally with a rare word.

        About four of ten texts are English, and four are Chinese.
        """
        length, kind = self._random.randint(least, most), self._random.random()
        if kind < 0.4:
            return self._rare(RARE, 10_000) + self._prose(self._english, length // 6, " ", ". ")
        if kind < 0.8:
            return self._rare(RARE_HAN, 10_000) + self._prose(self._han, length // 2, "", "。")
        return self._prose(self._english, length // 12, " ", ". ") + self._prose(self._han, length // 4, "", "。")

    def _rare(self, word: str, one_in: int) -> str:
        return f"{word} " if self._random.randrange(one_in) == 0 else ""

    def _prose(self, vocabulary: tuple[Sequence[str], Sequence[float]], count: int, space: str, stop: str) -> str:
        words = self._random.choices(vocabulary[0], cum_weights=vocabulary[1], k=max(1, count))
        sentences = (space.join(words[start : start + 14]) for start in range(0, len(words), 14))
        return stop.join(sentences) + stop

    def _vocabulary(self, known: Sequence[str], parts: Sequence[str], most: int) -> tuple[list[str], list[float]]:
        """Return words, frequent ones first, with the running sum of their weights."""
        made = ("".join(self._random.choices(parts, k=self._random.randint(2, most))) for _number in range(_LONG_TAIL))
        words = list(dict.fromkeys([*known, *made]))
        return words, list(accumulate(1 / (rank + 5) for rank in range(len(words))))

"""Words and their opposites, in English and Chinese. Pure."""

import re
from dataclasses import dataclass
from functools import cache

from conversations.citations.words import cut, is_han, key_of

# Each line is a pair: what stands before the slash, and its opposites. A pair too long for a line
# goes on in the next. A word of English stands for all its forms; what is more than a word is found as a phrase.
_PAIRS = """
enable, activate, turn on, switch on / disable, deactivate, turn off, switch off
allow, permit / forbid, prohibit, ban
at least / at most, up to
increase, raise, rise, rose, risen, grow, grew, gain, up by
    / decrease, reduce, fall, fell, fallen, drop, decline, shrink, down by
more, great, greater, large, larger, high, higher, long, longer
    / less, few, fewer, small, smaller, low, lower, short, shorter
most, greatest, largest, highest, longest, maximum / least, fewest, smallest, lowest, shortest, minimum
above, over, exceed / below, under, beneath
fast, faster, quick, quicker, fastest / slow, slower, slowest
speed, accelerate, speed up / slow, decelerate, slow down
good, better, best, improve / bad, worse, worst, worsen
early, earlier, earliest / late, later, latest
old, older, oldest / new, newer, newest
old, older, oldest / young, younger, youngest
easy, easier / difficult, hard, harder
strong, stronger / weak, weaker
wide, wider / narrow, narrower
thick, thicker / thin, thinner
heavy, heavier / light, lighter
hot, hotter, warm, warmer / cold, colder, cool, cooler
rich / poor
before, prior to, earlier than / after, following, later than
include / exclude, leave out, left out, omit
accept, approve / reject, decline, refuse
open / close
useful / useless
same, identical / different
ascend / descend
start, begin, began, begun / stop, end, finish
add, insert, append / remove, delete
show, display / hide, hidden
connect, attach / disconnect, detach
encrypt, lock / decrypt, unlock
compress / decompress
import / export
upload / download
read / write
input / output
push / pull
send, sent, transmit / receive
buy, bought, purchase / sell, sold
lend, lent / borrow
win, won / lose, lost
succeed, success, successful / fail, failure
pass / fail
visible / invisible
valid / invalid
possible / impossible
complete / incomplete
compatible / incompatible
correct / incorrect
consistent / inconsistent
dependent / independent
direct / indirect
equal / unequal
explicit / implicit
internal, inner, inside / external, outer, outside
known / unknown
necessary / unnecessary
reversible / irreversible
safe / unsafe, dangerous
sufficient / insufficient
synchronous / asynchronous
usual, common / unusual, rare
predictable / unpredictable
automatic / manual
optional, voluntary / mandatory, compulsory, obligatory, required
public / private
local / remote
permanent / temporary
static / dynamic
horizontal / vertical
left / right
upper, top / lower, bottom
first / last
front / back
north, northern / south, southern
east, eastern / west, western
positive / negative
active / inactive, passive
busy / idle
full / empty
dry / wet
male, man, men / female, woman, women
major / minor
majority / minority
profit / loss
supply / demand
surplus / deficit
cause / prevent
encourage, recommend / discourage
upgrade / downgrade
ancestor, parent / descendant, child, children
advantage, benefit / disadvantage, drawback
simple / complex, complicated
continue / stop
启用, 开启, 打开, 开放, 激活 / 禁用, 关闭, 停用, 关停
增加, 上升, 增长, 提高, 上涨, 上调, 增至, 升至, 升高, 放大, 增多, 递增, 回升, 提升, 增加到
    / 减少, 下降, 降低, 下跌, 下调, 降至, 减至, 缩小, 递减, 回落, 下滑, 减少到
增强, 加强 / 减弱, 削弱
加快, 加速, 提速 / 减慢, 放慢, 放缓, 减速
扩大, 扩张 / 缩小, 收缩
延长 / 缩短
提前 / 推迟, 延后, 延迟, 延期
最大 / 最小
最早 / 最晚, 最迟
最好 / 最差, 最坏
大, 较大, 更大, 大得多 / 小, 较小, 更小, 小得多, 小很多
多, 较多, 更多 / 少, 较少, 更少
高, 较高, 更高 / 低, 较低, 更低
长, 较长, 更长 / 短, 较短, 更短
快, 较快, 更快 / 慢, 较慢, 更慢
新, 较新, 更新 / 旧, 较旧, 更旧
强, 较强, 更强 / 弱, 较弱, 更弱
前, 之前, 以前 / 后, 之后, 以后
必须, 应当, 需要, 须 / 可选, 自愿, 无需, 不必, 不需, 不需要, 不用, 无须
包括, 包含 / 除外, 不包括, 不含
收费, 付费 / 免费
批准, 同意 / 否决, 驳回, 拒绝, 不同意
接受 / 拒绝
赞成, 支持 / 反对
承认 / 否认
相同, 一致, 一样 / 不同
显示 / 隐藏
升序 / 降序
同步 / 异步
远程 / 本地
永久, 永远 / 临时, 暂时
常见, 普遍 / 罕见, 少见
开头, 开始 / 结尾, 末尾, 结束
顶端, 顶部 / 底端, 底部
上方, 上面 / 下方, 下面
左侧, 左边 / 右侧, 右边
内部 / 外部
室内 / 室外, 户外
境内, 国内 / 境外, 国外
添加, 新增, 增设 / 删除, 移除, 取消
连接 / 断开
锁定 / 解锁
加密 / 解密
压缩 / 解压
导入, 进口 / 导出, 出口
输入 / 输出
上传 / 下载
读取 / 写入
读 / 写
发送, 发出 / 接收, 收到
买入, 购买, 购入 / 卖出, 出售, 售出
成功 / 失败
盈利 / 亏损
顺差 / 逆差
严格 / 宽松
安全 / 危险
简单, 容易 / 复杂, 困难
自动 / 手动, 人工
公开, 公共 / 私有, 私人, 保密
有效 / 无效
进步 / 退步
符合 / 违反
有关, 相关 / 无关, 不相关
正常 / 异常
静态 / 动态
主动 / 被动
直接 / 间接
正面, 积极 / 负面, 消极
男, 男性, 男子 / 女, 女性, 女子
白天 / 夜间, 夜里, 晚上
上午 / 下午
优点, 优势 / 缺点, 劣势
优于 / 劣于
继续 / 停止, 中止
升级 / 降级
入职 / 离职
以上, 超过, 高于, 大于, 多于, 不少于, 不低于, 至少, 最低, 最少, 起码
    / 以下, 低于, 少于, 小于, 不足, 未满, 不超过, 不高于, 最多, 至多, 最高
可见 / 不可见, 隐藏
"""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of pairs of opposites: what names the pairs, and whether it is their second side."""

    pairs: frozenset[str]
    second: bool


def side_of(word: str) -> Side | None:
    """Return the side on which a word stands, or None for a word without an opposite."""
    return None if word.endswith("ingly") else _sides().get(_key(word))


@cache
def phrases() -> re.Pattern[str]:
    """Return what finds the opposites that are more than one word, of which the longest counts."""
    longest_first = sorted(_sides(), key=len, reverse=True)
    english = "|".join(item.replace(" ", "(?:s|es|ed|ing)? ") for item in longest_first if " " in item)
    chinese = "|".join(filter(_is_cut, longest_first))
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


@cache
def _sides() -> dict[str, Side]:
    sides: dict[str, Side] = {}
    for number, line in enumerate(re.sub(r"\n +", " ", _PAIRS.strip()).splitlines()):
        for second, items in enumerate(line.split(" / ")):
            for key in map(_key, items.split(", ")):
                known = sides[key].pairs if key in sides else frozenset()
                sides[key] = Side(known | {f"±{number}"}, bool(second))
    return sides


def _key(item: str) -> str:
    return " ".join(map(key_of, item.split()))


def _is_cut(item: str) -> bool:
    """Whether a Chinese item isn't one word to jieba, or would be taken for a negation."""
    return is_han(item[0]) and (item[0] in "不无" or len(list(cut(item))) > 1)

"""Tests of the citation rules: numbers, names, polarity, and the verdicts on labelled pairs."""

from decimal import Decimal
from pathlib import Path

import pytest

from conversations.citations.statements import Statement, cited_statements
from conversations.citations.verdict import check
from conversations.citations.verifiers.rules import Rules
from ragsite.language.facts import is_named, names, quotations
from ragsite.language.quantities import fold, quantities
from tests.benchmarks.conversations.citations import TRUE, check_statement, measure, read_pairs

PAIRS = Path(__file__).parents[1] / "data"
SWITCH = (
    "The TL-SE2109 has nine ports and costs 1,600 EUR. The warranty of the fan lasts three years. The case has a "
    "warranty of 24 months. Paid leave is not carried over. The gateway was tested by Maria Lopez on 1 March 2024."
)


def judged(sentence: str, passage: str = SWITCH) -> tuple[str, list[tuple[str, str]]]:
    verdict = check_statement(Statement(sentence, (1,)), [passage])
    return verdict.status, list(verdict.problems)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,600 EUR", [("1600", "eur")]),
        ("１６００ euros", [("1600", "eur")]),
        ("€1600.50", [("1600.50", "eur")]),
        ("1.6 million people", [("1600000", "person")]),
        ("三万五千元", [("35000", "yuan")]),
        ("18.6万元", [("186000", "yuan")]),
        ("一千二百两", [("1200", "")]),
        ("15 per cent", [("15", "%")]),
        ("百分之十五", [("15", "%")]),
        ("百分之零点五", [("0.5", "%")]),
        ("百分之4.25", [("4.25", "%")]),
        ("twenty-five days", [("25", "day")]),
        ("十五日", [("15", "day")]),
        ("1 March 2024", [("1", ""), ("3", "calendar month"), ("2024", "")]),
        ("2024-03-01", [("2024", "year"), ("3", "calendar month"), ("1", "day")]),
        ("2024年3月1日", [("2024", "year"), ("3", "calendar month"), ("1", "day")]),
        ("3个月", [("3", "month")]),
        ("TL-SE2109 and v1.2.3", []),
        ("It may fail.", []),
        ("13:00", [("780", "time of day")]),
        ("from 1 pm to 5:30 p.m.", [("780", "time of day"), ("1050", "time of day")]),
        ("下午1点半", [("810", "time of day")]),
        ("上午八時三十分", [("510", "time of day")]),
        ("at 9:00", [("540", "time on a dial")]),
        ("on Sundays", [("7", "weekday")]),
        ("每周一开会", [("1", "weekday")]),
        ("一周一次", [("1", "week"), ("1", "times")]),
        ("万分之三", [("0.03", "%")]),
        ("两个半小时", [("2.5", "hour")]),
        ("half a year", [("0.5", "year")]),
        ("twice", [("2", "times")]),
        ("-5 °C to 40 °C", [("-5", "°c"), ("40", "°c")]),
        ("3-6 months", [("3", ""), ("6", "month")]),
        ("£312.6m", [("312600000", "gbp")]),
        ("60周岁", [("60", "year")]),
        ("9点到17点", [("540", "time on a dial"), ("1020", "time of day")]),
        ("保持在-18℃", [("-18", "°c")]),
        ("41平方千米", [("41", "")]),
        ("一些", []),
    ],
)
def test_numbers_are_read_however_they_are_written(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(found.value, found.unit) for found in quantities(fold(text))] == [
        (Decimal(value), unit) for value, unit in expected
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("24 hours", "1 day", True),
        ("a year", "12 months", True),
        ("0.5 kg", "500克", True),
        ("3 years", "3 months", False),
        ("3 years", "3", True),
        ("5 EUR", "5 USD", False),
        ("1 pm", "13:00", True),
        ("1 pm", "1:00", True),
        ("1 pm", "1 am", False),
        ("64K", "64,000", True),
        ("64K", "64 KB", True),
        ("1.1 kW", "1100瓦", True),
        ("3片", "3次", False),
        ("6座", "六个", True),
        ("half a year", "6 months", True),
    ],
)
def test_quantities_agree_across_units(one: str, other: str, same: bool) -> None:
    (mine,), (theirs,) = quantities(fold(one)), quantities(fold(other))
    assert mine.agrees(theirs) is same


def test_names_and_codes_are_distinguished_from_words() -> None:
    assert names("The gateway TL-SE2109 of Maria Lopez runs pg_dump v1.2.3 on 10GB in March") == [
        "TL-SE2109", "pg_dump", "v1.2.3", "Maria", "Lopez",
    ]  # fmt: skip
    assert names("Enable WAL archiving in this 10GB file") == ["WAL"]
    assert names("The 2.4x faster disk of 100 MB and 62 km2 is on a page of Dr. Lopez") == ["Lopez"]
    assert names("Set sessionId with --no-wait, at 5 kW or 35 degrees Celsius") == ["--no-wait", "sessionId"]
    assert names("本品由江苏康缘制药有限公司生产，耶伦是访客") == ["江苏", "康缘", "耶伦"]
    assert is_named("WHO", "the World Health Organization") and not is_named("WHO", "the whole health")
    assert is_named("Chile", "a Chilean botanist") and not is_named("Chile", "chilly weather")
    assert names("这张表未经许可不得修改") == []
    assert names("王丽萍在北京批准了《用户手册》") == ["用户手册", "王丽萍", "北京"]
    assert is_named("Lopez", "by lopez's team") and not is_named("Lop", "Lopez")


def test_only_longer_text_in_quotation_marks_is_a_quotation() -> None:
    assert quotations('It says "hold the button down" and “press” and 「长按复位键十秒」.') == [
        "hold the button down",
        "长按复位键十秒",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nine ports [1]. Red [2][1].", [("Nine ports.", (1,)), ("Red.", (2, 1))]),
        ("Nine ports. [1] It is red.", [("Nine ports.", (1,))]),
        ("- **Nine** ports [1, 2]\n- red", [("Nine ports", (1, 2))]),
        ("有九个端口【1】。是红色的。", [("有九个端口。", (1,))]),
        ("```\na[1]\n```\nNo claim.", []),
        ("Take `a[1]` of ``b`[2]`` there [3].", [("Take a of b there.", (3,))]),
        ("[1] Nine ports. [2] Red.", [("Nine ports.", (1,)), ("Red.", (2,))]),
        ("A [link](https://example.org) to it [3].", [("A link to it.", (3,))]),
    ],
)
def test_the_sentences_with_markers_are_found(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(statement.text, statement.sources) for statement in cited_statements(text)] == expected


@pytest.mark.parametrize(
    ("sentence", "status", "problem"),
    [
        ("The TL-SE2109 has 9 ports.", "supported", None),
        ("It costs 1600 euros.", "supported", None),
        ("The TL-SE2109 has twelve ports.", "contradicted", ("number", "twelve")),
        ("The TL-SE2106 has nine ports.", "partly", ("name", "TL-SE2106")),
        ("The warranty of the fan lasts 24 months.", "contradicted", ("number", "24 months")),
        ("The case has a warranty of two years.", "supported", None),
        ("Paid leave is carried over.", "partly", ("polarity", "")),
        ('It says that "the fan is loud at night".', "partly", ("quotation", "the fan is loud at night")),
        ("Bread is baked from flour and water.", "unclear", ("words", "")),
        # In other words, a number may be calculated and a name another word for the same.
        ("Both guarantees together come to 60 months.", "unclear", ("number", "60 months")),
        ("Whoever checked our router, it was Anna Berg.", "unclear", ("name", "Berg")),
    ],
)
def test_problems_are_named(sentence: str, status: str, problem: tuple[str, str] | None) -> None:
    found, problems = judged(sentence)
    assert found == status
    assert problem is None or problem in problems


RULES = (
    "Loop prevention is disabled by default; to enable it, open the Monitoring page. Glass and paint must not be put "
    "into household bins. Orders over 50 EUR are free of charge. 访客网络默认关闭，可在“无线设置”页面开启。"
    "样品中未检出铅和镉。工作满一年不满十年的员工享有5天年假，试用期员工不享受年假。"
)


@pytest.mark.parametrize(
    ("sentence", "true"),
    [
        ("Loop prevention is disabled by default and enabled on the Monitoring page.", True),
        ("Loop prevention is enabled by default.", False),
        ("Glass and paint may not be put into household bins.", True),
        ("Glass and paint can be put into household bins.", False),
        ("Orders over 50 EUR are at no charge.", True),
        ("访客网络默认是关闭的，要在“无线设置”页面开启。", True),
        ("访客网络默认是开启的，可以到“无线设置”页面关闭。", False),
        ("样品中没有检出铅和镉。", True),
        ("样品中检出了铅和镉。", False),
        ("工作满一年不满十年的员工，享有5天年假。", True),
        ("试用期员工享受年假。", False),
    ],
)
def test_words_are_compared_in_similar_contexts(sentence: str, true: bool) -> None:
    status, problems = judged(sentence, RULES)
    assert (status != "supported", problems) == ((False, []) if true else (True, [("polarity", "")]))


def test_url_without_words_does_not_fail() -> None:
    assert judged("See http://www. for the ports.", "The ports are listed at http://www.")[0] == "supported"


def test_sentence_in_another_language_is_judged_by_numbers_and_names() -> None:
    assert judged("TL-SE2109 有 9 个端口。")[0] == "supported"
    assert judged("TL-SE2109 有 12 个端口。") == ("unclear", [("number", "12 个")])
    assert judged("它很好用。") == ("unclear", [("language", "")])
    assert judged("TL-SE2109 的风扇噪音很大，不宜放在卧室。") == ("unclear", [("language", "")])


def test_only_the_beginning_of_a_very_long_sentence_is_judged() -> None:
    filling = "and nine ports, " * 61
    assert judged(f"The TL-SE2109 has {filling}at 1600 euros, and has twelve ports.") == ("supported", [])
    assert judged(f"The TL-SE2109 has {filling[:400]}and has twelve ports.")[1] == [("number", "twelve")]


def test_marker_is_judged_by_its_own_passages() -> None:
    (first, second) = check("Nine ports [1]. Nine ports [2].", {1: SWITCH, 2: "Bread is baked from flour."})
    assert (first.status, second.status) == ("supported", "unclear")


OPPOSITES = (
    "An index scan is much faster than a sequential scan. Ports are checked before the service starts. Smoking is "
    "forbidden everywhere except on the terrace. Monthly migraine days fell by 5.8. Options given twice are ignored. "
    "自习室座位通过“书香云湖”小程序预约。流复制的数据丢失窗口要小得多。除露台外，酒店内禁止吸烟。苗数达到计划的八成时晒田，每人每月不超过1,800元。"
)


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("An index scan is much slower than a sequential scan.", ("polarity", "")),
        ("An index scan is far faster than a sequential one.", None),
        ("A sequential scan is much slower than an index scan.", None),
        ("Ports are checked after the service starts.", ("polarity", "")),
        ("Before the service starts, ports are checked.", None),
        ("流复制的数据丢失窗口要大得多。", ("polarity", "")),
        ("流复制的数据丢失窗口小很多。", None),
        # two ways of negating
        ("Smoking is only allowed on the terrace.", None),
        ("只有在露台可以吸烟。", None),
        ("Options given twice are not used.", None),
        # names in quotation marks, and numbers written differently
        ("自习室座位要通过“悦读云湖”预约。", ("name", "悦读云湖")),
        ("自习室座位要通过“书香云湖”预约。", None),
        ("Monthly migraine days fell by nearly six.", None),
        ("Monthly migraine days fell by six.", ("number", "six")),
        ("苗数达到计划的80%时晒田。", None),
        ("每人每月不超过一千八。", None),
    ],
)
def test_opposites_are_found_and_paraphrases_accepted(sentence: str, problem: tuple[str, str] | None) -> None:
    status, problems = judged(sentence, OPPOSITES)
    assert (status != "supported", problems[:1]) == ((True, [problem]) if problem else (False, []))


LAW = (
    "Hotel costs are refunded up to 120 euros. Vasquez headed the herbarium from 1962 to 1979 and left the next year. "
    "Flights take 40 minutes, the drive 90 minutes. "
    "The risk was 1.38 times higher. The board has Ann Reed, Bo Lind and "
    "Cy Moss. The release is V5.3. Repairs are reported to the caretaker, Luis Ortega, at extension 118. "
    "The tenant is Marcus T. Ellery. "
    "Volunteers may not accept gifts. Books can be renewed. "
    "The filter RF-22 cannot be cleaned and must be replaced. Version 8 drops support for Python 3. "
    "工作满一年不满十年的为5天，满十年不满二十年的为10天。甲方应向乙方支付服务费。逾期三十日的，乙方有权解除合同。"
    "孕妇禁用，对青霉素过敏者禁用。"
    "碑文为书法家米友清所书。知州范仲元主持修桥。贵重物品不予寄存。停机须提前通知，且不计入不可用时间。堆高不得超过2.4米。"
)


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        # derived numbers
        ("Vasquez headed the herbarium for 17 years.", None),
        ("Vasquez headed the herbarium for 18 years.", ("number", "18 years")),
        ("Vasquez left the herbarium in 1980.", None),
        ("The board has three members: Ann Reed, Bo Lind and Cy Moss.", None),
        ("The board has four members: Ann Reed, Bo Lind and Cy Moss.", ("number", "four")),
        ("The risk was 38 % higher.", None),
        ("The release is version 5.3.", None),
        # numbers of another thing
        ("工作满一年不满十年的员工，每年享有5天年假。", None),
        ("工作满一年不满十年的员工，每年享有10天年假。", ("number", "10天")),
        # names
        (
            "Repairs should be reported to the caretaker, Marcus T. Ellery, at extension 118.",
            ("name", "Marcus T. Ellery"),
        ),
        ("碑文为书法家范仲元所书。", ("name", "范仲元")),
        ("碑文由书法家米友清书写。", None),
        # permitted and forbidden
        ("Volunteers can't accept gifts.", None),
        ("可以寄存贵重物品。", ("polarity", "")),
        # one of several negations is missing, or a comparison is reversed
        ("停机计入不可用时间。", ("polarity", "")),
        ("堆高不超过2.4米。", None),
        # a negation does not reach other statements
        ("The filter RF-22 has to be replaced.", None),
        ("The filter RF-22 can be cleaned and must be replaced.", ("polarity", "")),
        ("Version 8 no longer supports Python 3.", None),
        ("Version 8 supports Python 3.", ("polarity", "")),
    ],
)
def test_derived_and_misplaced_facts(sentence: str, problem: tuple[str, str] | None) -> None:
    status, problems = judged(sentence, LAW)
    assert (status != "supported", problems[:1]) == ((True, [problem]) if problem else (False, []))


MUST = ("客人必须在十点前退房。", "Guests must check out by ten.")
MUST_NOT = ("客人不得在十点前退房。", "Guests must not check out by ten.")


@pytest.mark.parametrize(
    ("sentence", "at"),
    [
        ("客人不得不在十点前退房。", 0),
        ("客人不能不在十点前退房。", 0),
        ("客人不可不在十点前退房。", 0),
        ("Guests cannot but check out by ten.", 1),
        ("Guests can't help but check out by ten.", 1),
        ("Guests could not help checking out by ten.", 1),
        ("Guests have no choice but to check out by ten.", 1),
    ],
)
def test_double_negations_affirm(sentence: str, at: int) -> None:
    assert judged(sentence, MUST[at])[0] == "supported"
    assert judged(MUST[at], sentence)[0] == "supported"
    assert judged(sentence, MUST_NOT[at])[1] == [("polarity", "")]


@pytest.mark.parametrize(
    ("sentence", "is_right"),
    [
        ("Revenue of the office segment was 71.8 million euros.", True),
        ("Revenue of the office segment was 78.1 million euros.", False),
        ("厨房业务的营业收入为 3,560 万元。", True),
        ("厨房业务的营业收入为 3,650 万元。", False),
    ],
)
def test_numbers_of_a_table_are_in_the_unit_of_its_heading(sentence: str, is_right: bool) -> None:
    tables = "EUR million | Office\nRevenue | 71.8\n\n单位：万元 | 厨房业务\n营业收入 | 3,560"
    assert (judged(sentence, tables)[1] == []) is is_right


def test_a_sum_or_a_difference_of_two_numbers_is_not_doubted() -> None:
    assert judged("Flights and the drive take 130 minutes.", LAW) == ("unclear", [("number", "130 minutes")])
    assert judged("The drive takes 50 minutes longer than flights.", LAW) == ("unclear", [("number", "50 minutes")])
    assert judged("Flights take 45 minutes.", "Flights take 40 minutes.")[0] == "contradicted"


def test_a_number_that_the_source_states_of_something_else_is_doubted_whichever_is_right() -> None:
    source = "The fan weighs 9 kg and the fan weighs 7 kg. The pump of the plant weighs 12 kg."
    assert judged("The fan weighs 12 kg.", source) == ("partly", [("number", "12 kg")])


def test_a_full_width_sign_does_not_join_two_words() -> None:
    assert judged("Ports：The TL-SE2109 has nine ports，it costs 1,600 EUR.") == ("supported", [])
    assert judged("Ports：The TL-SE2109 has nine ports，it costs 1,700 EUR.")[0] == "contradicted"


def test_a_negated_sentence_may_say_in_other_words_what_the_source_affirms() -> None:
    assert judged("Nobody needs to give a reason.", "Guests may cancel without giving a reason.")[1] == []
    assert judged("Ordinary glasses do not replace goggles.", "Goggles replace ordinary glasses.")[0] == "supported"


def test_negated_help_is_not_a_double_negation() -> None:
    source = "The filter does not help cleaning the water."
    assert judged("The filter helps cleaning the water.", source) == ("partly", [("polarity", "")])


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("file", "right", "doubted"),
    [
        ("citation_pairs.jsonl", 57, 67),
        ("citation_pairs_paraphrased.jsonl", 249, 0),
        ("citation_pairs_held_out.jsonl", 54, 57),
        ("citation_pairs_third.jsonl", 102, 116),
        ("citation_pairs_fourth.jsonl", 236, 30),
    ],
)
async def test_verdicts_on_labelled_pairs(file: str, right: int, doubted: int) -> None:
    """The measured numbers of true sentences not doubted and false ones doubted, by the rules alone."""
    rows = await measure(read_pairs((PAIRS / file).read_text(encoding="utf-8").splitlines()), Rules())
    assert sum(row.right for row in rows if row.label == TRUE) >= right
    assert sum(row.right for row in rows if row.label != TRUE) >= doubted

"""Counts and extremes from all rows of a table."""

import pytest

from conversations.pipeline.writing.quoting.columns import measured_in, number_in, unit_of
from conversations.pipeline.writing.quoting.extremes import counted_in, extreme_in
from conversations.pipeline.writing.quoting.from_rows import (
    FromRows,
    count_rows,
    find_extreme,
    find_within,
    holds_cell,
    holds_measure,
    rows_with_range,
)
from conversations.pipeline.writing.quoting.limits import limit_in
from retrieval.answerability.question_weights import weigh_words
from retrieval.engine.fulltext import Frequencies
from retrieval.search import Hit

BIKES = [
    ["Swift", "1,250", "9.5 kg", "Road"],
    ["Boulder", "980", "13 kg", "Mountain"],
    ["Cargo", "2,100", "31 kg", "Town"],
    ["Total", "4,330", "", ""],
]
COLUMNS = ["Bike", "Price (EUR)", "Weight", "Kind"]
LIBRARIES = [["城东馆", "3100", "42"], ["湖滨馆", "5050", "38"], ["合计", "8150", "80"]]
COLUMNS_ZH = ["分馆", "藏书（册）", "座位"]


def table(columns: list[str], rows: list[list[str]], heading: str) -> Hit:
    return Hit(1, 1, 1, "", "table", "list.csv", heading, None, 1.0, [], columns=columns, rows=rows)


def answered(question: str) -> FromRows | None:
    asked = weigh_words(question, Frequencies(10, {}))
    is_english = question.isascii()
    rows = BIKES if is_english else LIBRARIES
    hit = table(COLUMNS, rows, "Our bikes") if is_english else table(COLUMNS_ZH, rows, "图书馆")
    if extreme := extreme_in(question):
        return find_extreme(extreme, asked, question, hit, rows)
    counted = counted_in(question)
    return count_rows(counted, asked, question, hit, rows) if counted else None


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("How many bikes are there?", 3),
        ("What is the number of bikes?", 3),
        ("How many kinds of bike are there?", 3),
        ("一共有几个分馆？", 2),
        ("一共有幾個分館？", 2),
    ],
)
def test_things_are_counted_without_the_total(question: str, count: int) -> None:
    found = answered(question)
    assert found is not None and found.count == count


@pytest.mark.parametrize(
    ("question", "first", "value"),
    [
        ("Which bike is the cheapest?", "Boulder", "980"),
        ("Which is the most expensive bike?", "Cargo", "2,100"),
        ("Which bike has the lowest weight?", "Swift", "9.5 kg"),
        ("哪个分馆的座位最多？", "城东馆", "42"),
        ("藏书最少的是哪个馆？", "城东馆", "3100"),
        ("藏書最少的是哪個館？", "城东馆", "3100"),
    ],
)
def test_the_row_with_the_extreme_comes_first(question: str, first: str, value: str) -> None:
    found = answered(question)
    assert found is not None and (found.rows[0][0], found.value) == (first, value)


@pytest.mark.parametrize(
    "question",
    [
        "How many bikes are made of steel?",  # no column says so
        "How many kilos does the Cargo weigh?",  # a row's figure
        "Which bike is the biggest?",  # either of two columns
        "How many riders are allowed at most?",
        "城东馆有多少座位？",
        "每人最多可借几册？",
        "自习室最晚待到几点？",
        "座位多少钱？",
    ],
)
def test_nothing_is_computed_if_no_single_column_holds_it(question: str) -> None:
    assert answered(question) is None


def test_a_word_that_the_table_lacks_makes_an_extreme_uncertain() -> None:
    assert [answered(f"Which {kind}bike is the cheapest?").is_certain for kind in ("", "electric ")] == [True, False]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("cell", "number"),
    [("€ 1,250.50", "1250.50"), ("1.250,5", "1250.5"), ("12 %", "12"), ("-3", "-3"), ("10-20", None), ("A4", None)],
)
def test_numbers_are_read_with_units_and_separators(cell: str, number: str | None) -> None:
    found = number_in(cell)
    assert (found and str(found)) == number


def test_a_cell_is_held_if_the_question_names_its_row_and_its_column() -> None:
    assert holds_cell("What is the weight of the Swift?", COLUMNS, BIKES[0])
    assert not holds_cell("What is the colour of the Swift?", COLUMNS, BIKES[0])
    assert not holds_cell("What is the weight of the Titan?", COLUMNS, BIKES[0])
    assert holds_cell("湖滨馆的座位有多少？", COLUMNS_ZH, LIBRARIES[1])


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("最便宜的是什么？", "lowest"),
        ("最貴的配件叫什麼？", "highest"),
        ("哪个配件最便宜？", "lowest"),
        ("What is the cheapest accessory?", "lowest"),
    ],
)
def test_a_superlative_asks_for_one_of_all(question: str, end: str) -> None:
    found = extreme_in(question)
    assert found is not None and found.end == end and found.is_price


@pytest.mark.parametrize(
    "question", ["我最多可以借几本书？", "最便宜的套餐包含短信吗？", "At most how many books may I borrow?"]
)
def test_a_limit_or_a_known_thing_is_no_extreme(question: str) -> None:
    assert extreme_in(question) is None


@pytest.mark.parametrize(("yuan", "first"), [(["149", "2599"], "Bracket"), (["2599", "149"], None)])
def test_of_two_columns_of_prices_the_first_counts_if_they_agree(yuan: list[str], first: str | None) -> None:
    columns, euros = ["Article", "Price (EUR)", "Price (CNY)"], ["19", "329"]
    rows = [[*row] for row in zip(("Bracket", "Supply"), euros, yuan, strict=True)]
    question, extreme = "What is the cheapest article?", extreme_in("What is the cheapest article?")
    assert extreme is not None
    asked = weigh_words(question, Frequencies(10, {}))
    found = find_extreme(extreme, asked, question, table(columns, rows, "Accessories"), rows)
    assert (found and found.rows[0][0]) == first


@pytest.mark.parametrize("question", ["一年能休多少天年假？", "要交多少元押金？", "保修幾年？", "几点开门？"])
def test_what_has_a_unit_is_measured_not_counted(question: str) -> None:
    assert counted_in(question) is None


CARS = [
    ["Finch", "15.8", "4520", "1380", "180"],
    ["Rook", "23.9", "4890", "1720", "210"],
    ["Wren", "8", "3650", "980", ""],
]
CAR_COLUMNS = ["型号", "价格（万元）", "车长（mm）", "Weight (kg)", "Top speed (km/h)"]


@pytest.mark.parametrize(
    ("question", "first", "column"),
    [
        ("Which car is the lightest?", "Wren", "Weight (kg)"),
        ("Which car is the fastest?", "Rook", "Top speed (km/h)"),
        ("哪款车最长？", "Rook", "车长（mm）"),
        ("哪款車最輕？", "Wren", "Weight (kg)"),
    ],
)
def test_a_superlative_is_of_the_column_of_its_dimension(question: str, first: str, column: str) -> None:
    extreme = extreme_in(question)
    assert extreme is not None
    asked = weigh_words(question, Frequencies(10, {}))
    found = find_extreme(extreme, asked, question, table(CAR_COLUMNS, CARS, "Cars 车"), CARS)
    assert found is not None and (found.rows[0][0], found.column) == (first, column)


@pytest.mark.parametrize("question", ["Which car is the widest?", "Which bird is the largest?", "哪款车最宽？"])
def test_the_only_column_of_numbers_is_not_of_another_dimension_or_thing(question: str) -> None:
    extreme = extreme_in(question)
    assert extreme is not None
    asked = weigh_words(question, Frequencies(10, {}))
    columns, rows = ["Car", "Power (W)"], [["Finch", "80"], ["Rook", "120"]]
    assert find_extreme(extreme, asked, question, table(columns, rows, "Cars 车"), rows) is None


def within(question: str) -> tuple[list[str], str] | None:
    """Return the names of the cars within a question's limit, and the limit, or None."""
    limit = limit_in(question)
    if limit is None:
        return None
    asked = weigh_words(question, Frequencies(10, {}))
    found = find_within(limit, asked, question, table(CAR_COLUMNS, CARS, "Cars 车"), CARS)
    return found and ([row[0] for row in found.rows], f"{found.column} {found.limit}")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which cars weigh more than 1,380 kg?", (["Rook"], "Weight (kg) > 1,380 kg")),
        ("List the cars of at least 1380 kg.", (["Finch", "Rook"], "Weight (kg) ≥ 1380 kg")),
        ("How many cars are lighter than 1500 kilos?", (["Finch", "Wren"], "Weight (kg) < 1500 kilos")),
        ("Which cars have a top speed over 200 km/h?", (["Rook"], "Top speed (km/h) > 200 km/h")),
        ("哪些车不超过15.8万元？", (["Finch", "Wren"], "价格（万元） ≤ 15.8万元")),
        ("比 10 万元便宜的车有哪些？", (["Wren"], "价格（万元） < 10 万元")),
        ("車長4520毫米以上的有哪些？", (["Finch", "Rook"], "车长（mm） ≥ 4520毫米")),
    ],
)
def test_rows_within_a_limit_are_found(question: str, found: tuple[list[str], str]) -> None:
    assert within(question) == found


@pytest.mark.parametrize(
    "question",
    [
        "Which cars cost less than 100 dollars?",  # no column of dollars
        "Which cars are cheaper than 2 euros?",
        "Which cars weigh more than 9000 kg?",  # none does
        "Which cars take longer than 3 hours?",
        "Is a car of more than 1500 kg allowed?",  # chooses nothing
        "Which car is checked over a year?",
        "哪些车能坐5人以上？",
    ],
)
def test_without_a_column_for_the_limit_nothing_is_found(question: str) -> None:
    assert within(question) is None


def test_a_unit_of_time_is_no_limit() -> None:
    assert limit_in("What is the price of two checks over each year?") is None


def test_things_that_are_counted_have_no_unit() -> None:
    limit, rows = limit_in("哪些房间的座位不少于10人？"), [["松厅", "12"], ["竹厅", "6"]]
    assert limit is not None
    asked = weigh_words("哪些房间的座位不少于10人？", Frequencies(10, {}))
    found = find_within(limit, asked, "哪些房间的座位不少于10人？", table(["房间", "座位（个）"], rows, "房间"), rows)
    assert found is not None and found.rows == rows[:1]


@pytest.mark.parametrize(
    ("name", "unit"),
    [("Price (EUR)", "eur"), ("Price in dollars", "usd"), ("€", "eur"), ("Speed (km/h)", ""), ("Weight", "")],
)
def test_the_unit_of_a_column_is_in_its_name(name: str, unit: str) -> None:
    assert unit_of(name) == (unit, 1)


PARCELS = [["up to 500 g", "3.20"], ["500 g to 2 kg", "5.90"], ["2 to 10 kg", "9.40"], ["over 10 kg", "17.00"]]
LEAVE = [["不满一年", "0"], ["一年至三年", "12 天"], ["三年至六年", "15 天"], ["六年以上", "20 天"]]
AGES = [["6岁以下", "免费"], ["6–17岁", "30"], ["60岁及以上", "30"]]


@pytest.mark.parametrize(
    ("question", "rows", "found"),
    [
        ("What does a parcel of 3 kg cost?", PARCELS, {2}),
        ("How much is a parcel of 300 grams?", PARCELS, {0}),
        ("What is the price for 2 kg?", PARCELS, {1, 2}),
        ("And for ten kilos?", PARCELS, {2}),
        ("Parcels over 10 kg?", PARCELS, {3}),
        ("What does a parcel of up to 500 g cost?", PARCELS, {0}),
        ("under 500 g", PARCELS, {0}),
        ("工作六年以上有几天年假？", LEAVE, {3}),
        ("工作四年以上有几天年假？", LEAVE, {2, 3}),
        ("工作满五年有几天年假？", LEAVE, {2}),
        ("入职半年有年假吗？", LEAVE, {0}),
        ("入职满12个月有几天年假？", LEAVE, {1}),
        ("What about 3 years?", [["up to 500 g", "A"], ["over 1 year", "B"], ["over 5 years", "C"]], {1}),
        ("How many days after eight years?", LEAVE, {3}),
        ("8岁的孩子票价多少？", AGES, {1}),
        ("60歲的老人買票多少錢？", AGES, {2}),
        ("What does a parcel of 3 litres cost?", PARCELS, set()),  # of another kind
        ("Do parcels of 1 kg and 3 kg cost the same?", PARCELS, set()),
        ("What does a parcel cost?", PARCELS, set()),
        ("What weighs 3 kg?", [["Hammer", "3 kg"], ["Saw", "over 2 kg"]], set()),  # no column of ranges
    ],
)
def test_a_quantity_lies_in_the_range_of_rows(question: str, rows: list[list[str]], found: set[int]) -> None:
    assert rows_with_range(question, rows) == found


@pytest.mark.parametrize(
    ("question", "is_held"),
    [
        ("How heavy is the Rook?", True),
        ("How fast is a Rook?", True),
        ("Rook 有多长？", True),
        ("Rook 多重", True),
        ("How heavy is the Finch?", False),  # another row
        ("How wide is the Rook?", False),  # no column
        ("How long may I keep the Rook?", False),  # columns of a length and of a time
        ("Rook 多长时间保养一次？", False),
        ("How heavy is it?", False),
    ],
)
def test_a_measure_is_held_by_the_column_of_its_dimension(question: str, is_held: bool) -> None:
    is_of_time = question.startswith("How long")
    columns, row = [*CAR_COLUMNS, *["Time to charge"] * is_of_time], [*CARS[1], *["2"] * is_of_time]
    assert holds_measure(question, columns, row) is is_held


def test_how_high_in_chinese_asks_for_a_height() -> None:
    assert ["height" in each.names for each in measured_in("这把椅子多高？")] == [True]

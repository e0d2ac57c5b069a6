"""Number formats of Excel: each row is a code, a value and what the sheet shows."""

from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest
from openpyxl import Workbook

from knowledge.parsing.xlsx.format import builtin_format, show
from knowledge.parsing.xlsx.number_format import parse_format
from tests.knowledge.reading import outline, read

ACCOUNTING = r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)'
YUAN = r'_ "￥"* #,##0.00_ ;_ "￥"* \-#,##0.00_ ;_ "￥"* "-"??_ ;_ @_ '
EURO = r'_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-'
PHONE = r"[<=9999999]###\-####;\(###\)\ ###\-####"
SHORT = '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0'
DAY = datetime(2024, 2, 5)  # a Monday
MOMENT = datetime(2024, 2, 5, 14, 30, 5)

NUMBERS: list[tuple[str, object, str]] = [
    # the general format
    ("General", 3.0, "3"),
    ("General", 0.1 + 0.2, "0.3"),
    ("General", 1 / 3, "0.333333333"),
    ("General", -1234.56789012, "-1234.56789"),
    ("General", 12345678901.5, "12345678902"),
    ("General", 4006381333931, "4006381333931"),
    ("General", 123456789012.5, "1.23457E+11"),
    ("General", 1e20, "1E+20"),
    ("General", 0.0001234, "0.0001234"),
    ("General", 0.00000123456, "1.23456E-06"),
    ("General", -0.0, "0"),
    ("GENERAL", 7.5, "7.5"),
    ('General" kg"', 7.5, "7.5 kg"),
    (r'General\("元"\/"亩"\)', 900, "900(元/亩)"),
    ("General;[Red]-General", -4, "-4"),
    (r"\(General\)", -2, "-(2)"),
    # digits
    ("0", 2.5, "3"),
    ("0", -2.5, "-3"),
    ("0.00", 0.125, "0.13"),
    ("0.00", 1.005, "1.01"),
    ("0.0", 0.25, "0.3"),
    ("0.00", -0.001, "0.00"),
    ("0.00", 2056.7399999999998, "2056.74"),
    ("0.###", 5, "5."),
    ("0.0##", 5.25, "5.25"),
    ("#.##", 0.5, ".5"),
    (".00", 3.14159, "3.14"),
    ("#", 0, ""),
    ("00000", 1067, "01067"),
    ("00000", -42, "-00042"),
    ('"RE-"0000', 42, "RE-0042"),
    ("000-0000", 5551234, "555-1234"),
    (r"000\-00\-0000", 123456789, "123-45-6789"),
    (PHONE, 8675309, "867-5309"),
    (PHONE, 2813308004, "(281) 330-8004"),
    ("0.0?", 1.5, "1.5"),
    ("#,##0", 1234567.5, "1,234,568"),
    ("#,##0.00", 1234.5, "1,234.50"),
    ("#,##0.00", -221596.1, "-221,596.10"),
    ("#,###", 999, "999"),
    ("0,000", 12, "0,012"),
    ("#,##0.00", 1e15, "1,000,000,000,000,000.00"),
    (r"#\ ##0.00", 1672.97, "1 672.97"),
    ("# ##0.00", 74.81, "74.81"),
    ("0", 10**30, "1" + 30 * "0"),
    ("0.00", 1e308, "1" + 308 * "0" + ".00"),
    # thousands left out
    ("#,##0,", 2450000, "2,450"),
    ('#,##0.0,,"M"', 12_345_678, "12.3M"),
    ("0.00,", 12345, "12.35"),
    (r'0!.0,"万"', 12345, "1.2万"),
    (r'0\.0,"万"', 123456, "12.3万"),
    ('0!.00,,"亿"', 1_234_000_000, "12.34亿"),
    # percentages and powers of ten
    ("0.0%", 0.256, "25.6%"),
    ("0%", 0.005, "1%"),
    (r"0\ %", 0.455, "46 %"),
    ("0.00%%", 0.5, "5000.00%%"),
    ("0%", -0.001, "0%"),
    ("0.00E+00", 12345678, "1.23E+07"),
    ("0.00E+00", 0.00148741, "1.49E-03"),
    ("0.00E-00", 12345678, "1.23E07"),
    ("0.0E+0", 99999, "1.0E+5"),
    ("0.00E+00", 0, "0.00E+00"),
    ("##0.0E+0", 12345, "12.3E+3"),
    ("##0.0E+0", 999950, "1.0E+6"),
    ("##0.0E+0", 0.00012, "120.0E-6"),
    # fractions
    ("# ?/?", 2.5, "2 1/2"),
    ("# ?/?", 0.25, "1/4"),
    ("# ?/?", 3, "3"),
    ("# ?/?", 0, "0"),
    ("# ?/?", -1.2, "-1 1/5"),
    ("# ??/??", 12.34, "12 17/50"),
    ("# ?/8", 1.2, "1 2/8"),
    ("# ??/16", 0.99, "1"),
    ("# ??/100", 0.07, "7/100"),
    ("?/?", 1.75, "7/4"),
    ('# ?/?"″"', 0.5, "1/2″"),
    # sections
    ("0.00;(0.00)", -12.5, "(12.50)"),
    ('0.00_);[Red]("minus" 0.00)', -12.5, "(minus 12.50)"),
    ('#,##0" kg";[Red]-#,##0" kg"', -12, "-12 kg"),
    ("#,##0;[Red]#,##0", -327, "327"),
    ('0;-0;"none"', 0, "none"),
    ('$#,##0;;"-"', -4, ""),
    (";;;", 5, ""),
    ('"Yes";"Yes";"No"', 0, "No"),
    ("0.00%;\\-0.00%;\\%", 0, "%"),
    (SHORT, 2_500_000, "2.5M"),
    (SHORT, 45_000, "45.0K"),
    (SHORT, 500, "500"),
    (SHORT, -500, "-500"),
    ('[=1]0" day";0" days"', 1, "1 day"),
    ('[=1]0" day";0" days"', 3, "3 days"),
    ('[<0]"below";[>100]"above";0', 50, "50"),
    ("[>5]0", 3, "3"),
    ("[Blue][>=10]0.0;[Color 12]0.000", 9, "9.000"),
    ("[<0]0.0;0", -2.5, "2.5"),
    ("[>=0]0;0", -2, "2"),
    # currencies and padding
    ('"$"#,##0.00', 1999.5, "$1,999.50"),
    ("[$¥-804]#,##0", 1999.5, "¥2,000"),
    ("#,##0.00 [$€-407]", 1234.5, "1,234.50 €"),
    ("[$$-409]#,##0.00;[RED]\\-[$$-409]#,##0.00", -169, "-$169.00"),
    ("[$USD] #,##0", 12, "USD 12"),
    ('#,##0.00"元"', 1234.5, "1,234.50元"),
    (ACCOUNTING, 56050, "$56,050.00"),
    (ACCOUNTING, -192000, "$(192,000.00)"),
    (ACCOUNTING, 0, "$-"),
    (YUAN, -1234.5, "￥-1,234.50"),
    (YUAN, 0, "￥-"),
    (EURO, -99.9, "-99.90 €"),
    (EURO, 0, "- €"),
    (builtin_format(44) or "", -3, "$(3.00)"),
    ('"Rs."#,##0.00', -5, "-Rs.5.00"),
    # Chinese numerals
    ("[DBNum1][$-804]General", 12345, "一万二千三百四十五"),
    ("[DBNum1][$-804]General", 10203, "一万〇二百〇三"),
    ("[DBNum1]General", 10, "一十"),
    ("[DBNum1]General", 100000001, "一亿〇一"),
    ("[DBNum1]G/通用格式", 0, "〇"),
    ("[DBNum2][$-804]General", 1050.5, "壹仟零伍拾.伍"),
    ('[DBNum2][$-804]General"元整"', 320, "叁佰贰拾元整"),
    ("[DBNum1]0", 2024, "二〇二四"),
    ("[DBNum3]0", 123, "１２３"),
    # numbers under formats for text, codes that aren't valid
    ("@", 5, "5"),
    ('"RE-"@', 5, "5"),
    ('0.00"', 1.5, "1.5"),
    ("[Red", 1.5, "1.5"),
    ("0;0;0;@;0", 1.5, "1.5"),
    ("Standard", 1.5, "1.5"),
    ("#,##0 days", 1.5, "1.5"),
    ("General0", 1.5, "1.5"),
    ("", 1.5, "1.5"),
    ("[>1.2.3]0", 1.5, "2"),
    (256 * "0", 1.5, "1.5"),
    ("0_", 3, "3"),
]

DATES: list[tuple[str, object, str]] = [
    # in digits only: ISO 8601
    ("mm-dd-yy", DAY, "2024-02-05"),
    ("m/d/yy", DAY, "2024-02-05"),
    ("dd/mm/yyyy", DAY, "2024-02-05"),
    ("d.m.yyyy", DAY, "2024-02-05"),
    (r"dd\.mm\.yy", DAY, "2024-02-05"),
    ("dd.mm.", DAY, "2024-02-05"),
    ("m/d;@", DAY, "2024-02-05"),
    ("yyyy/m/d", DAY, "2024-02-05"),
    ("yyyy-mm-dd", date(2024, 2, 5), "2024-02-05"),
    ("yyyymmdd", DAY, "2024-02-05"),
    (r"[$-F800]dddd\,\ mmmm\ dd\,\ yyyy", DAY, "2024-02-05"),
    ("[$-x-sysdate]dddd, mmmm dd, yyyy", DAY, "2024-02-05"),
    ("m/d/yy h:mm", MOMENT, "2024-02-05 14:30"),
    ("yyyy-mm-dd h:mm:ss", MOMENT, "2024-02-05 14:30:05"),
    ("yyyy-mm-dd h:mm:ss", DAY, "2024-02-05"),
    ("yyyy-mm-ddThh:mm:ssZ", MOMENT, "2024-02-05T14:30:05Z"),
    ("yyyy-mm-ddThh:mm:ss", DAY, "2024-02-05"),
    ("m/d/yyyy h:mm AM/PM", MOMENT, "2024-02-05 2:30 PM"),
    ("m/d/yy", MOMENT, "2024-02-05"),
    ("yyyy-mm-dd aaaa", DAY, "2024-02-05 星期一"),
    ("ddd dd/mm/yyyy", DAY, "Mon 2024-02-05"),
    ("yyyy-mm", DAY, "2024-02"),
    ("mm/yyyy", DAY, "2024-02"),
    # with words
    ("mmm yy", DAY, "Feb 24"),
    ("mmm-yy", DAY, "Feb-24"),
    ("d-mmm-yy", DAY, "5-Feb-24"),
    ("d-mmm", DAY, "5-Feb"),
    ("d mmmm yyyy", DAY, "5 February 2024"),
    (r"[$-409]mmmm\ d\,\ yyyy;@", DAY, "February 5, 2024"),
    ("dddd", DAY, "Monday"),
    ("ddd", DAY, "Mon"),
    ("MMMM", DAY, "February"),
    ("mmmmm", DAY, "F"),
    ("yyyy", DAY, "2024"),
    ("yy", DAY, "24"),
    ("d", DAY, "5"),
    ('"FY"yyyy', DAY, "FY2024"),
    ("[$-407]d. mmmm yyyy", datetime(2024, 3, 5), "5. März 2024"),
    ("[$-40C]dddd d mmmm yyyy", DAY, "lundi 5 février 2024"),
    ("[$-de-DE]dddd", DAY, "Montag"),
    # Chinese and Japanese
    ('yyyy"年"m"月"', DAY, "2024年2月"),
    ('[$-804]yyyy"年"m"月"d"日"', DAY, "2024年2月5日"),
    ('m"月"d"日"', DAY, "2月5日"),
    ("aaaa", DAY, "星期一"),
    ("aaa", DAY, "一"),
    ("[$-804]aaa", DAY, "周一"),
    ("[$-804]dddd", DAY, "星期一"),
    ("[$-804]mmm", DAY, "2月"),
    ("[$-804]mmmm", datetime(2024, 12, 1), "十二月"),
    ("[$-zh-TW]ddd", DAY, "週一"),
    ("[$-411]dddd", DAY, "月曜日"),
    ('[$-411]ggge"年"m"月"d"日"', DAY, "令和6年2月5日"),
    ("[$-404]e", DAY, "113"),
    ("e", DAY, "2024"),
    ("bbbb", DAY, "2567"),
    ('[DBNum1][$-804]yyyy"年"m"月"d"日"', datetime(2024, 12, 15), "二〇二四年十二月十五日"),
    ('[DBNum1][$-804]m"月"', datetime(2024, 10, 1), "十月"),
    ('h"时"mm"分"', MOMENT, "14时30分"),
    ('上午/下午h"时"mm"分"', MOMENT, "下午2时30分"),
    ("[$-804]AM/PM h:mm", time(9, 5), "上午 9:05"),
    # times
    ("h:mm", MOMENT, "14:30"),
    ("h:mm", time(9, 5), "9:05"),
    ("hh:mm:ss", time(9, 5), "09:05:00"),
    ("h:mm AM/PM", time(0, 15), "12:15 AM"),
    ("h A/P", time(14), "2 P"),
    ("mm:ss", time(0, 3, 7), "03:07"),
    ("mm:ss.0", time(0, 3, 7, 450_000), "03:07.5"),
    ("hh:mm:ss.000", time(9, 5, 1, 250_000), "09:05:01.250"),
    ("h:mm:ss", time(9, 59, 59, 700_000), "10:00:00"),
    ("h:mm", time(9, 59, 59, 700_000), "9:59"),
    ("[h]:mm:ss", timedelta(hours=30, minutes=5), "30:05:00"),
    ("[hh]:mm", timedelta(hours=5), "05:00"),
    ("[mm]:ss", timedelta(hours=2, seconds=9), "120:09"),
    ("[s]", timedelta(minutes=2), "120"),
    # numbers of days; values that are no dates
    ("m/d/yy", 36150.0, "1998-12-21"),
    ('yyyy"年"m"月"', 45689, "2025年2月"),
    ("h:mm", 0.75, "18:00"),
    ("d mmm yyyy", 1, "1 Jan 1900"),
    ("dddd", 36150, "Monday"),
    ("d mmm yyyy", -5, "-5"),
    ("yyyy-mm-dd", 99_999_999, "99999999"),
    ('[=0]"";yyyy-mm-dd', 45327, "2024-02-05"),
    ("[<43831]yyyy;mmm yyyy", DAY, "Feb 2024"),
    ("0.00", time(12), "0.50"),
    ('yyyy-mm-dd"', DAY, "2024-02-05"),
    ("General", DAY, "2024-02-05"),
    ("General", MOMENT, "2024-02-05 14:30:05"),
    ("General", time(9, 5), "09:05"),
    ("General", timedelta(hours=30), "30:00:00"),
]

TEXTS: list[tuple[str, object, str]] = [
    ("General", "  text ", "text"),
    ("@", "text", "text"),
    ('"Mr "@', "Li", "Mr Li"),
    ('0;-0;0;"<"@">"', "Li", "<Li>"),
    ("0;-0;0;[Red]General", "Li", "Li"),
    (";;;", "Li", ""),
    (YUAN, "合计", "合计"),
    ("0.00", "a\nb", "a\nb"),
    ('@"!"', "#DIV/0!", "#DIV/0!"),
    ("0.00", True, "TRUE"),
    ("General", None, ""),
    ('0.00"', "text", "text"),
]


@pytest.mark.parametrize(("code", "value", "shown"), NUMBERS + DATES + TEXTS)
def test_values_as_shown_in_the_sheet(code: str, value: object, shown: str) -> None:
    assert show(value, code) == shown


def test_codes_are_never_shown_or_refused() -> None:
    pieces = [*'0#?.,%/@;[]"\\_*!mh', "E+", "yy", "[h]"]
    values = [0, -1.5, 1e300, -1e-300, float("nan"), float("inf"), 10**400, DAY, time(1), timedelta(days=-1), "text"]
    codes = [first + second + third for first in pieces for second in pieces for third in pieces]
    for number, code in enumerate(codes):
        assert isinstance(show(values[number % len(values)], code), str)
    for value in values:
        assert show(value, "0." + 253 * "0") and show(value, "0" + 254 * "%") and show(value, "?/" + 253 * "?")
        assert "wrong" not in show(value, "wrong 0.00 days")


def test_codes_are_parsed_once() -> None:
    parse_format.cache_clear()
    for number in range(100):
        show(number * 1.37, "#,##0.00_);(#,##0.00)")
    assert parse_format.cache_info().misses == 1


def test_cells_are_read_as_the_sheet_shows_them(tmp_path: Path) -> None:
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    rows: list[list[tuple[object, str]]] = [
        [(name, "General") for name in ("Town", "Turnover", "Budget", "Postcode", "Invoice", "Month", "Grade")],
        [("Ghent", "@"), (2_500_000, SHORT), (2_450_000, "#,##0,"), (1067, "00000"), (42, '"RE-"0000')],
        [("Liege", '"City of "@'), (45_000, SHORT), (1_980_000, "#,##0,"), (4109, "00000"), (7, '"RE-"0000')],
        [("Spa", "General"), (500, SHORT), (870_000, "#,##0,"), (99, "00000"), (1234, '"RE-"0000')],
    ]
    for row in rows[1:]:
        row += [(datetime(2024, 2, 1), "mmm yy"), ("b", ';;;"grade "@')]
    for down, row in enumerate(rows, 1):
        for across, (value, code) in enumerate(row, 1):
            cell = sheet.cell(down, across, value)  # type: ignore[call-overload]
            cell.number_format = code
    made.save(tmp_path / "a.xlsx")

    assert outline(read(tmp_path / "a.xlsx"))[1:] == [
        "table: Town,Turnover,Budget,Postcode,Invoice,Month,Grade"
        " | Ghent,2.5M,2,450,01067,RE-0042,Feb 24,grade b"
        " | City of Liege,45.0K,1,980,04109,RE-0007,Feb 24,grade b"
        " | Spa,500,870,00099,RE-1234,Feb 24,grade b"
    ]


def test_formats_that_only_chinese_versions_have(tmp_path: Path) -> None:
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    for row in (["Day", "Month"], [45071, 45689], [45072, 45717]):
        sheet.append(row)
    # Numbers of formats that such files don't declare, and the one that openpyxl writes for a dollar amount.
    for cell, number in (("A2", 31), ("A3", 58), ("B2", 57), ("B3", 44)):
        sheet[cell].number_format = "0"  # a style of its own
        sheet[cell]._style.numFmtId = number
    made.save(tmp_path / "a.xlsx")

    assert outline(read(tmp_path / "a.xlsx"))[1:] == ["table: Day,Month | 2023年5月25日,2025年2月 | 5月26日,$45,717.00"]

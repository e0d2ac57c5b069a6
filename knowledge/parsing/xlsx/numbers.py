"""Shows numbers by a section of a number format, as Excel does."""

from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from itertools import count

from knowledge.parsing.xlsx.number_format import Section

_CONTEXT = Context(prec=2000, rounding=ROUND_HALF_UP)
_LEAST_REST = Decimal("5e-8")  # of a continued fraction
_LARGEST = 308  # power of ten
_MOST_CHARACTERS = 11  # of a number in the general format, with its decimal point
_LONGEST_WHOLE = 15  # digits of a whole number in the general format; Excel changes to powers of ten after eleven
_DIGITS = ("", "〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖", "０１２３４５６７８９")
_UNITS = ("", ("", "十", "百", "千"), ("", "拾", "佰", "仟"), ("", "十", "百", "千"))
_MYRIADS = ("", "万", "亿", "万亿", "亿亿")


def exact(value: float) -> Decimal:
    """Return a number as Excel sees it: with fifteen significant digits."""
    return Decimal(value if isinstance(value, int) else f"{value:.15g}")


def show_general(value: float) -> str:
    """Return a number in the general format: a whole number with its digits, others in up to eleven characters."""
    number = exact(value)
    power = number.adjusted()
    if number == number.to_integral_value(context=_CONTEXT) and power < _LONGEST_WHOLE:
        return f"{number:.0f}" if number else "0"
    decimals = _MOST_CHARACTERS - 2 - max(power, 0)
    fixed = number.quantize(Decimal(1).scaleb(-max(decimals, 0)), context=_CONTEXT) if abs(power) < 20 else number
    if -5 < power < _MOST_CHARACTERS or (power < 0 and fixed == number):
        text = f"{fixed:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = f"{number:.5E}".partition("E")
    return f"{mantissa.rstrip('0').rstrip('.')}E{exponent[0]}{exponent[1:]:0>2}"


def show_number(value: float, section: Section) -> str:
    """Return a number by a section with placeholders for digits, or with text only."""
    number = exact(value)
    if number.adjusted() > _LARGEST:
        return show_general(value)
    if section.kind == "general":
        digits = show_general(abs(value))
        shown = numeral(digits, section.numerals) if section.numerals else digits
        texts = [shown if token.kind == "general" else token.text for token in section.tokens]
    elif section.kind == "fraction":
        texts, number = _fraction(number, section)
    elif section.affixes is not None:
        number = number.scaleb(section.power, _CONTEXT).quantize(_unit(len(section.marks["decimal"])), context=_CONTEXT)
        texts = [section.affixes[0], format(number.copy_abs(), ",f" if section.grouped else "f"), section.affixes[1]]
    else:
        texts, number = _decimal(number, section)
    return ("-" if number < 0 and section.signed else "") + "".join(texts).strip()


@lru_cache
def _unit(decimals: int) -> Decimal:
    return Decimal(1).scaleb(-decimals)


def _decimal(number: Decimal, section: Section) -> tuple[list[str], Decimal]:
    """Return the texts of a section's tokens, and the number as rounded."""
    whole_marks, decimal_marks, power_marks = section.marks["whole"], section.marks["decimal"], section.marks["power"]
    number = number.scaleb(section.power, context=_CONTEXT)
    unit = _unit(len(decimal_marks))
    exponent = 0
    if power_marks and number:
        # The power of ten is a multiple of the number of whole digits.
        period = max(len(whole_marks), 1)
        exponent = number.adjusted() // period * period
        mantissa = number.scaleb(-exponent, context=_CONTEXT)
        if mantissa.copy_abs().quantize(unit, context=_CONTEXT) >= 10**period:  # rounding made it longer
            exponent += period
            mantissa = number.scaleb(-exponent, context=_CONTEXT)
        number = mantissa
    number = number.quantize(unit, context=_CONTEXT)
    whole, _, decimals = f"{number.copy_abs():f}".partition(".")
    whole = "" if whole == "0" else whole
    texts = {
        "whole": _from_right(whole, whole_marks, section.grouped),
        "decimal": _from_left(decimals, decimal_marks),
        "power": _from_right(str(abs(exponent)), power_marks),
    }
    if section.numerals:
        names = str.maketrans("0123456789", _DIGITS[section.numerals])
        texts = {kind: [text.translate(names) for text in shown] for kind, shown in texts.items()}
    following = {kind: iter(shown) for kind, shown in texts.items()}
    result = []
    for kind, text in section.tokens:
        if kind in following:
            result.append(next(following[kind]))
        elif kind == "point":
            result.append(("" if whole_marks else whole) + ".")
        elif kind == "exponent":
            sign = "+" if text.endswith("+") else ""
            result.append("E" + ("-" if exponent < 0 else sign))
        else:
            result.append(text)
    return result, number


def _from_right(digits: str, marks: str, grouped: bool = False) -> list[str]:
    """Return the text at each placeholder for whole digits; the first one has all digits that are left."""
    if not marks:
        return []
    blanks = {"0": "0", "?": " ", "#": ""}
    shown = [blanks[mark] for mark in marks[: max(len(marks) - len(digits), 0)]] + list(digits)
    if grouped:
        last = len(shown) - 1
        shown = [
            f"{text}," if text.isdigit() and place < last and (last - place) % 3 == 0 else text
            for place, text in enumerate(shown)
        ]
    more = len(shown) - len(marks)
    return ["".join(shown[: more + 1]), *shown[more + 1 :]]


def _from_left(digits: str, marks: str) -> list[str]:
    """Return the text at each placeholder for decimals, without the zeros at the end that are optional."""
    shown = list(digits)
    for place in reversed(range(len(marks))):
        if shown[place] != "0" or marks[place] == "0":
            break
        shown[place] = " " if marks[place] == "?" else ""
    return shown


def _fraction(number: Decimal, section: Section) -> tuple[list[str], Decimal]:
    """Return the texts of the tokens of a section with a fraction, and the number as rounded."""
    whole_marks, divisor = section.marks["whole"], section.marks["divisor"]
    whole, rest = _CONTEXT.divmod(number.copy_abs(), 1) if whole_marks else (Decimal(0), number.copy_abs())
    if divisor:
        denominator = max(int(divisor), 1)
        numerator = int(_CONTEXT.multiply(rest, denominator).to_integral_value(ROUND_HALF_UP))
    else:
        numerator, denominator = _nearest_fraction(rest, 10 ** len(section.marks["denominator"]) - 1)
    if whole_marks and numerator == denominator:
        whole, numerator = whole + 1, 0
    digits = f"{whole:.0f}" if whole or not numerator else ""
    following = iter(_from_right(digits, whole_marks, False))
    hidden = bool(whole_marks) and not numerator  # a whole number has no fraction
    texts = []
    for kind, text in section.tokens:
        if kind == "whole":
            text = next(following)
        elif kind in ("numerator", "slash", "denominator", "divisor") and hidden:
            text = ""
        elif kind == "numerator":
            text = "".join(_from_right(str(numerator), text)).strip()
        elif kind == "denominator":
            text = str(denominator)
        texts.append(text)
    return texts, number if whole or numerator else Decimal(0)


def _nearest_fraction(number: Decimal, largest: int) -> tuple[int, int]:
    """Return the last fraction with a denominator up to this one in the number's continued fraction, as Excel does."""
    before, now = (0, 1), (1, 0)
    rest = number
    for _ in count():
        part = int(rest)
        after = (part * now[0] + before[0], part * now[1] + before[1])
        if after[1] > largest:
            break
        before, now = now, after
        rest -= part
        if rest < _LEAST_REST:
            break
        rest = _CONTEXT.divide(1, rest)
    return now


def numeral(digits: str, kind: int, in_date: bool = False) -> str:
    """Return a number as it is said in Chinese: 105 as 一百〇五; a day or month from ten to nineteen without 一."""
    whole, _, decimals = digits.partition(".")
    if not whole.isdecimal() or not (decimals or "0").isdecimal() or len(whole) > 4 * len(_MYRIADS):
        return digits
    names, units = _DIGITS[kind], _UNITS[kind]
    result = ""
    skipped = False
    for place, digit in enumerate(whole):
        left = len(whole) - 1 - place
        if digit != "0":
            result += (names[0] if skipped and result else "") + names[int(digit)] + units[left % 4]
            skipped = False
        else:
            skipped = True
        if left % 4 == 0 and left and whole[max(place - 3, 0) : place + 1].strip("0"):
            result += _MYRIADS[left // 4]
    if in_date and kind == 1 and whole[0] == "1" and len(whole) == 2:
        result = result[1:]
    return (result or names[0]) + ("." + "".join(names[int(digit)] for digit in decimals) if decimals else "")

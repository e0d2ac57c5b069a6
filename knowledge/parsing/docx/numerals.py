"""Formats of numbers before Word's list items and headings."""

_DIGITS = "零一二三四五六七八九"
_UNITS = ("", "十", "百", "千")
_LAST_LETTERS = 780  # as in Word
_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v"}
_ROMAN |= {4: "iv", 1: "i"}
_CHINESE = frozenset(
    {"chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand"}
    | {"japaneseCounting", "ideographDigital", "chineseLegalSimplified", "koreanCounting"}
)


def numeral(number: int, form: str) -> str:
    """Return a number (0 to 9999) in one of Word's `w:numFmt` formats, in digits if the format is unknown."""
    if form in ("lowerLetter", "upperLetter") and 0 < number <= _LAST_LETTERS:
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        return _roman(number) if form == "lowerRoman" else _roman(number).upper()
    if form in _CHINESE and 0 <= number <= 9999:
        if number < 10:
            return _DIGITS[number]
        text = ""
        digits = [int(digit) for digit in str(number)]
        for place, digit in enumerate(digits):
            if digit:
                text += _DIGITS[digit] + _UNITS[len(digits) - 1 - place]
            elif not text.endswith("零"):
                text += "零"
        text = text.rstrip("零")
        return text.removeprefix("一") if text.startswith("一十") else text
    if form.startswith("decimalEnclosedCircle") and 0 < number <= 20:
        return chr(0x2460 + number - 1)
    return f"{number:02}" if form == "decimalZero" else str(number)


def _roman(number: int) -> str:
    text = ""
    for size, letters in _ROMAN.items():
        text += letters * (number // size)
        number %= size
    return text

"""Conversion of formulas in Office documents and web pages to TeX."""

import pytest
from lxml import etree

from ragsite.markup import tex

_SUM = '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
_NO_BAR = '<m:fPr><m:type m:val="noBar"/></m:fPr>'
_BRACE = '<m:dPr><m:begChr m:val="{"/><m:endChr m:val=""/></m:dPr>'
_OFFICE = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(inner: str, name: str = "e") -> str:
    return f"<m:{name}>{inner}</m:{name}>"


@pytest.mark.parametrize(
    ("office", "said"),
    [
        (r("x=5"), "x=5"),
        (f"{r('x=')}<m:f>{e(r('1'), 'num')}{e(r('2'), 'den')}</m:f>", r"\(x=\frac{1}{2}\)"),
        (f"{r('E=m')}<m:sSup>{e(r('c'))}{e(r('2'), 'sup')}</m:sSup>", r"\(E=mc^{2}\)"),
        (f"<m:sSubSup>{e(r('ab'))}{e(r('i'), 'sub')}{e(r('n'), 'sup')}</m:sSubSup>", r"\({ab}_{i}^{n}\)"),
        (f"{r('𝑓')}<m:f>{_NO_BAR}{e(r('n'), 'num')}{e(r('k'), 'den')}</m:f>", r"\(f{n \atop k}\)"),
        (f"<m:rad><m:deg/>{e(r('2'))}</m:rad>", r"\(\sqrt{2}\)"),
        (f"<m:rad>{e(r('3'), 'deg')}{e(r('2'))}</m:rad>", r"\(\sqrt[3]{2}\)"),
        (f"<m:nary>{_SUM}{e(r('i=1'), 'sub')}{e(r('n'), 'sup')}{e(r('i'))}</m:nary>", r"\(∑_{i=1}^{n} i\)"),
        (f"<m:d>{e(r('a+b'))}</m:d>", "(a+b)"),
        (
            f"<m:d>{_BRACE}{e('<m:eqArr>' + e(r('a')) + e(r('b')) + '</m:eqArr>')}</m:d>",
            r"\(\left\{ \begin{matrix} a \\ b \end{matrix} \right.\)",
        ),
        (
            f"<m:m><m:mr>{e(r('a'))}{e(r('b'))}</m:mr><m:mr>{e(r('c'))}{e(r('d'))}</m:mr></m:m>",
            r"\(\begin{matrix} a & b \\ c & d \end{matrix}\)",
        ),
        (f"<m:eqArr>{e(r('a=b#(1)'))}</m:eqArr>", r"\(\begin{matrix} a=b\quad (1) \end{matrix}\)"),
        (f"<m:acc>{e(r('x'))}</m:acc>", r"\(\hat{x}\)"),
        ("<m:r><m:rPr><m:sty m:val='p'/></m:rPr><m:t>sin</m:t></m:r>", r"\(\mathrm{sin}\)"),
        (r("利润率=50%"), r"\(\text{利润率=50\%}\)"),
    ],
)
def test_formulas_of_office(office: str, said: str) -> None:
    assert tex.of_office(etree.fromstring(f"<m:oMath {_OFFICE}>{office}</m:oMath>")) == said


_TEX = '<annotation encoding="application/x-tex">{\\displaystyle \\alpha ^{2}}</annotation>'


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        ("<mi>x</mi><mo>=</mo><mn>5</mn>", "x = 5"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", r"\(\frac{1}{2}\)"),
        ("<msup><mi>x</mi><mn>2</mn></msup><mo>≤</mo><msub><mi>a</mi><mi>i</mi></msub>", r"\(x^{2} ≤ a_{i}\)"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msqrt><mi>i</mi></msqrt>", r"\(∑_{i}^{n}\sqrt{i}\)"),
        ("<mover><mi>x</mi><mo>¯</mo></mover><mroot><mi>y</mi><mn>3</mn></mroot>", r"\(\bar{x}\sqrt[3]{y}\)"),
        ("<mtable><mtr><mtd>a</mtd><mtd>b</mtd></mtr></mtable>", r"\(\begin{matrix} a & b \end{matrix}\)"),
        ("<mtext>net of</mtext><msup><mi>x</mi><mi>n</mi></msup>", r"\(\text{ net of }x^{n}\)"),
        (f"<semantics><mi>x</mi>{_TEX}</semantics>", r"\(\alpha ^{2}\)"),
        ("<mrow>" * 200 + "<mi>x</mi>" + "</mrow>" * 200, "x"),
    ],
)  # fmt: skip
def test_formulas_of_web_pages(inner: str, said: str) -> None:
    assert tex.of_mathml(etree.fromstring(f"<math>{inner}</math>")) == said


def test_a_formula_s_own_words_and_a_prefix() -> None:
    assert tex.of_mathml(etree.fromstring('<math alttext="\\frac{a}{b}"><mi>x</mi></math>')) == r"\(\frac{a}{b}\)"
    prefixed = '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mn>7</m:mn></m:math>'
    assert tex.of_mathml(etree.fromstring(prefixed)) == "7"

"""Convert formulas of Office documents (OMML, ECMA-376 part 1, 22.1) and web pages (MathML) to TeX.

A simple formula ("x = 5") remains plain text; others become TeX within `\\(` and `\\)`, which pages typeset: as plain
text, the fraction 1/2 would become 12.
"""

import re
import unicodedata

from lxml import etree

_SPECIAL = str.maketrans(
    {"\\": r"\backslash ", "^": r"\wedge ", "~": r"\sim ", "\xa0": " "} | {sign: f"\\{sign}" for sign in "{}_#$%&"}
)
_INVISIBLE = re.compile("[\u200b\u2061-\u2064]")
_STYLED = re.compile("[\U0001d400-\U0001d7ff\u210a-\u2134]")  # letters that are italic, bold and so on by themselves
_WORD = re.compile(r"[^\W\d_]{2,}")
_FOREIGN = re.compile("[\u0400-\u052f\u0590-\u1fff\u2e80-\uffef]")  # letters that formulas don't use
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0307": "dot", "\u0308": "ddot",
    "\u20d7": "vec", "^": "hat", "~": "tilde", "¯": "bar", "‾": "overline", "˙": "dot", "¨": "ddot", "→": "vec",
}  # fmt: skip
_DEEPEST = 100


def of_office(node: etree._Element) -> str:
    """Return the TeX of an Office formula, an `m:oMath` element."""
    return _delimited(_office(node, 0))


def of_mathml(node: etree._Element) -> str:
    """Return the TeX of a web page's formula, a `math` element; its own TeX if it contains some."""
    for note in node.iter(etree.Element):
        if _name(note) == "annotation" and "tex" in note.get("encoding", "").lower() and (note.text or "").strip():
            return _delimited(_plain(note.text or ""), is_tex=True)
    if (alternative := node.get("alttext", "")).strip() and re.search(r"[\\^_]", alternative):
        return _delimited(_plain(alternative), is_tex=True)
    return _delimited(_mathml(node, 0))


def _plain(tex: str) -> str:
    return re.sub(r"^\{\\displaystyle (.*)\}$|^\$+(.*?)\$+$", r"\1\2", " ".join(tex.split()))


def _delimited(tex: str, is_tex: bool = False) -> str:
    tex = " ".join(tex.split())
    return rf"\({tex}\)" if re.search(r"[\\^_]", tex) or (is_tex and "{" in tex) else tex


def _name(node: etree._Element) -> str:
    return re.sub(r"^\{.*\}|^\w+:", "", node.tag) if isinstance(node.tag, str) else ""


def _signs(text: str, upright: bool = False) -> str:
    text = _STYLED.sub(lambda match: unicodedata.normalize("NFKC", match[0]), _INVISIBLE.sub("", text))
    if _FOREIGN.search(text):
        return rf"\text{{{text.translate(_SPECIAL)}}}"
    tex = text.translate(_SPECIAL)
    return rf"\mathrm{{{tex}}}" if upright and _WORD.fullmatch(text) else tex


def _scripts(base: str, below: str = "", above: str = "") -> str:
    base = base if re.fullmatch(r".?|\\\w+", base) or re.fullmatch(r"\\\w+(?:\{[^{}]*\})*", base) else f"{{{base}}}"
    return base + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _table(rows: list[list[str]], environment: str = "matrix") -> str:
    lines = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{{environment}}} {lines} \end{{{environment}}}"


def _accented(base: str, accent: str) -> str:
    name = _ACCENTS.get(accent.strip())
    return rf"\{name}{{{base}}}" if name else rf"\overset{{{accent}}}{{{base}}}"


def _office(node: etree._Element, depth: int) -> str:
    space = node.tag.removesuffix(_name(node))

    def of(name: str) -> str:
        part = node.find(f"{space}{name}")
        return _office(part, depth + 1) if part is not None else ""

    def each(name: str) -> list[str]:
        return [_office(part, depth + 1) for part in node.findall(f"{space}{name}")]

    def attribute(name: str, default: str) -> str:
        found = node.find(f"{node.tag}Pr/{space}{name}")
        return default if found is None else found.get(f"{space}val", "")

    if depth > _DEEPEST:
        return "".join(map(str, node.itertext()))
    match _name(node):
        case "f" if attribute("type", "bar") == "noBar":
            return rf"{{{of('num')} \atop {of('den')}}}"
        case "f":
            return rf"\frac{{{of('num')}}}{{{of('den')}}}"
        case "sSup" | "sSub" | "sSubSup":
            return _scripts(of("e"), of("sub"), of("sup"))
        case "sPre":
            return f"{_scripts('', of('sub'), of('sup'))}{of('e')}"
        case "rad":
            return rf"\sqrt[{degree}]{{{of('e')}}}" if (degree := of("deg")) else rf"\sqrt{{{of('e')}}}"
        case "nary":
            return f"{_scripts(attribute('chr', '∫'), of('sub'), of('sup'))} {of('e')}"
        case "limLow":
            return _scripts(of("e"), below=of("lim"))
        case "limUpp":
            return _scripts(of("e"), above=of("lim"))
        case "func":
            return f"{of('fName')} {of('e')}"
        case "d":
            begin, end = (_signs(attribute(name, usual)) or "." for name, usual in (("begChr", "("), ("endChr", ")")))
            inner = attribute("sepChr", "|").join(each("e"))
            tall = "\\" in inner or "^" in inner
            if tall:
                return rf"\left{begin} {inner} \right{end}"
            return f"{begin}{inner}{end}".strip(".") if "." in (begin, end) else f"{begin}{inner}{end}"
        case "m":
            return _table([[_office(cell, depth + 2) for cell in row] for row in node.findall(f"{space}mr")])
        case "eqArr":
            return _table(
                [[line.replace(r"\#", r"\quad ")] for line in each("e")]
            )  # "E=mc^2#(1)": the number of the equation
        case "acc":
            return _accented(of("e"), attribute("chr", "\u0302"))
        case "bar":
            return rf"\{'overline' if attribute('pos', 'bot') == 'top' else 'underline'}{{{of('e')}}}"
        case "r":
            style = node.find(f"{space}rPr/{space}sty")
            upright = style is not None and style.get(f"{space}val") == "p"
            return "".join(_signs(text.text or "", upright) for text in node.iter(f"{space}t"))
        case name if name.endswith("Pr"):
            return ""
        case _:
            return "".join(_office(child, depth + 1) for child in node if isinstance(child.tag, str))


def _mathml(node: etree._Element, depth: int) -> str:
    if depth > _DEEPEST:
        return "".join(map(str, node.itertext()))
    children = [child for child in node if isinstance(child.tag, str)]
    parts = [_mathml(child, depth + 1) for child in children]
    text = " ".join((node.text or "").split())
    match _name(node), parts:
        case "mfrac", [above, below, *_]:
            return rf"\frac{{{above}}}{{{below}}}"
        case "msup", [base, above, *_]:
            return _scripts(base, above=above)
        case "msub" | "munder", [base, below, *_]:
            return _scripts(base, below=below)
        case "msubsup" | "munderover", [base, below, above, *_]:
            return _scripts(base, below, above)
        case "mover", [base, above, *_]:
            return _accented(base, above) if len(above) == 1 else _scripts(base, above=above)
        case "msqrt", _:
            return rf"\sqrt{{{''.join(parts)}}}"
        case "mroot", [base, degree, *_]:
            return rf"\sqrt[{degree}]{{{base}}}"
        case "mtable", _:
            return _table([[_mathml(cell, depth + 2) for cell in row] for row in children])
        case "mfenced", _:
            return node.get("open", "(") + ", ".join(parts) + node.get("close", ")")
        case "semantics", [shown, *_]:
            return shown
        case "mtext" | "ms", _:
            return rf"\text{{ {text.translate(_SPECIAL)} }}" if text else " "
        case "mi", _:
            return _signs(text, upright=True)
        case "mn", _:
            return _signs(text)
        case "mo", _:
            return f" {_signs(text)} " if re.fullmatch(r"[=<>≤≥≠≈≡→←↔⇒⇔∈⊂⊆×+−±-]", text) else _signs(text)
        case "annotation" | "annotation-xml" | "mspace" | "mphantom", _:
            return " "
        case _:
            return text + "".join(parts)

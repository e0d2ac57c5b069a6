"""Simplified and traditional Chinese as one script."""

import re

import pytest

from ragsite.language.simplified import as_written, forms, pattern, simplified


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("退貨運費由誰承擔？", "退货运费由谁承担？"),
        ("健身房守則：週末不開放", "健身房守则：周末不开放"),
        ("這裡、這裏", "这里、这里"),  # Taiwan, Hong Kong
        ("衞生署説", "卫生署说"),
        ("為甚麼、爲什麽", "为什么、为什么"),
        ("妳瞭解牠嗎", "你了解它吗"),
        ("後天與皇后", "后天与皇后"),
        ("乾淨的乾隆，乾坤", "干净的乾隆，乾坤"),
    ],
)
def test_a_traditional_text_has_the_form_of_its_simplified_one(written, form):
    assert simplified(written) == form


@pytest.mark.parametrize(
    "text",
    ["", "plain English, naïve café 5 €", "乾隆与哪吒吃乾坤面，关系着著名的覆盖", "ひらがな한국어", "𠮷野家 😀\ud800"],
)
def test_other_texts_stay_as_they_are(text):
    assert simplified(text) == text


def test_places_stay_the_same_whatever_the_text():
    everything = "".join(map(chr, range(0x20, 0x20000)))
    assert len(simplified(everything)) == len(everything)


def test_twice_is_once():
    once = simplified("".join(map(chr, range(0x3400, 0xA000))))
    assert simplified(once) == once


def test_a_part_is_given_as_it_was_written():
    assert as_written("谁承担", "運費由誰承擔？") == "誰承擔"
    assert as_written("别的", "運費") == "别的"


def test_the_forms_of_a_character():
    assert set(forms("干")) == set(forms("乾")) == set("干乾幹榦")
    assert forms("人") == "人"
    assert forms("a") == "a"


@pytest.mark.parametrize("text", ["退貨 (運費)", "退货 (運费)"])
def test_a_pattern_matches_both_scripts(text):
    assert re.fullmatch(pattern("退货 (运费)"), text)
    assert re.fullmatch(pattern(text), "退貨 (運費)")
    assert not re.fullmatch(pattern(text), "退貨 運費")

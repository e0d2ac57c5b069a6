"""Tests of the length and the language that instructions ask for, in wordings of both languages."""

import pytest

from conversations.instructions.wishes import Wishes, read_wishes


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Answer in at most two sentences.", 2),
        ("Keep it to one or two sentences", 2),
        ("Use no more than 3 short sentences.", 3),
        ("One-sentence answers, please.", 1),
        ("Two sentences at most", 2),
        ("Reply with fewer than three sentences.", 2),
        ("Answers should not exceed four sentences.", 4),
        ("最多两句话。", 2),
        ("请用一两句话回答", 2),
        ("控制在三句以内", 3),
        ("一句话回答就行", 1),
        ("回答不要超过3句话", 3),
        ("Write at least two sentences.", None),
        ("至少写三句话", None),
        ("Every two sentences, start a new line.", None),
        ("Use short sentences.", None),
        ("Explain the first two sentences of the policy.", None),
        ("第一句话要点明结论", None),
    ],
)
def test_number_of_sentences(text: str, sentences: int | None) -> None:
    assert read_wishes(text).sentences == sentences


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("Be brief.", "short"),
        ("Keep answers short and friendly.", "short"),
        ("Short answers, please", "short"),
        ("Concise, in bullet points", "short"),
        ("回答要简短", "short"),
        ("简明扼要，语气正式", "short"),
        ("Explain in detail, with examples.", "detailed"),
        ("Thorough answers", "detailed"),
        ("请详细说明", "detailed"),
        ("Not too brief", ""),
        ("Don't be brief.", ""),
        ("No detailed answers", ""),
        ("不要太简短", ""),
        ("无需详细解释", ""),
        ("If I ask for a definition, be brief.", ""),
        ("如果问题简单，就简短回答", ""),
        ("Write short sentences with simple words.", ""),
        ("Mention the short name of each product.", ""),
        ("Address me formally.", ""),
    ],
)
def test_length(text: str, length: str) -> None:
    assert read_wishes(text).length == length


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Answer in English.", "en"),
        ("Always reply to me in Simplified Chinese", "zh"),
        ("English only", "en"),
        ("Please write all your answers in plain English, briefly.", "en"),
        ("用中文回答。", "zh"),
        ("请一律用英文回复", "en"),
        ("使用简体中文作答，不超过两句", "zh"),
        ("中文", "zh"),
        ("Give the English names of parts in brackets.", ""),
        ("Use English units.", ""),
        ("术语用英文", ""),
        ("用英文术语", ""),
        ("Don't answer in English.", ""),
        ("不要用英文回答", ""),
        ("Answer in English or Chinese, as I ask.", ""),
        ("If I write Chinese, answer in Chinese.", ""),
        ("用户用英文提问时，用英文回答", ""),
        ("Answer in German.", ""),
        ("用繁体中文回答", ""),
    ],
)
def test_language(text: str, language: str) -> None:
    assert read_wishes(text).language == language


def test_later_texts_take_precedence() -> None:
    assert read_wishes("Answer in detail, in English.", "Briefly.", "用中文回答") == Wishes("short", None, "zh")
    assert read_wishes("In at most two sentences.", "Explain in detail.") == Wishes("detailed", None, "")
    assert read_wishes("In detail.", "In one sentence.") == Wishes("", 1, "")
    assert read_wishes("Two sentences at most. Be brief.") == Wishes("short", 2, "")
    assert read_wishes("", "Be friendly.\nSay “you”.") == Wishes()

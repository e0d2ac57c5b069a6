"""Answers without a model: the best sentences, rows of tables, and pictures if asked for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from conversations.pipeline.writing.quoting.editions import Beginning
from conversations.pipeline.writing.quoting.extractive import Extract, Form
from conversations.pipeline.writing.quoting.extractive import extract as extract_of
from conversations.pipeline.writing.quoting.similarity import Similarity
from conversations.pipeline.writing.quoting.surroundings import Surroundings
from ragsite.language.analysis import terms
from ragsite.llm.reranking.reader import Reading
from retrieval.answerability.question_weights import weigh_words
from retrieval.answerability.units import units
from retrieval.engine.fulltext import Frequencies
from retrieval.search import Hit

NORMAL = Form()


def extract(
    question: str,
    hits: Sequence[Hit],
    similarity: Similarity | None = None,
    form: Form = NORMAL,
    around: Surroundings | None = None,
) -> Extract:
    """Quote hits from a base of fifty passages, none of which contains a word of the question except the hits."""
    held = [set(terms(f"{hit.filename} {hit.heading} {hit.content}")) for hit in hits]
    holding = {term: sum(term in passage for passage in held) for term in terms(question)}
    return extract_of(question, weigh_words(question, Frequencies(50, holding)), hits, similarity, form, around)


def hit(content: str, **fields: Any) -> Hit:
    values: dict[str, Any] = {
        "chunk_id": 1, "document_id": 1, "knowledge_base_id": 1, "kind": "text", "filename": "manual.pdf",
        "heading": "", "page": 1, "score": 0.1, "sources": [],
    }  # fmt: skip
    return Hit(content=content, **(values | fields))


MANUAL = hit(
    "The switch has nine ports. Hold the reset button for ten seconds to restore the factory settings. "
    "The fan can be replaced while it runs. The case is made of steel. "
    + "The unit is tested before it leaves the works, and a sheet with the figures lies in the box. "
    * 5
)
OFFICE = hit("Lunch is served at noon in the canteen. The reception closes at six.", filename="office.md")


def test_the_sentence_that_answers_is_quoted_first() -> None:
    chosen = extract("How do I restore the factory settings?", [MANUAL, OFFICE])
    assert chosen.quotes[0].hit == 0
    assert chosen.quotes[0].sentences[0].startswith("Hold the reset button for ten seconds")
    assert all("canteen" not in sentence for quote in chosen.quotes for sentence in quote.sentences)
    assert chosen.quotes[0].gaps == set()


def test_a_short_answer_quotes_one_sentence_and_a_detailed_one_more_than_usual() -> None:
    uses = ("restores the factory settings", "shows the factory settings", "prints the factory settings",
            "checks the factory settings", "keeps the factory settings", "mails the factory settings")  # fmt: skip
    passage = hit(" ".join(f"Button {number} {use}." for number, use in enumerate(uses, 1)))
    said = {
        length: sum(
            len(quote.sentences) for quote in extract("Which factory settings?", [passage], None, Form(length)).quotes
        )
        for length in ("short", "normal", "detailed")
    }
    assert said == {"short": 1, "normal": 3, "detailed": 6}


def test_chinese_sentences_are_quoted() -> None:
    passage = hit("本交换机共有九个端口。长按复位键十秒可恢复出厂设置。风扇支持热插拔。")
    chosen = extract("怎么恢复出厂设置？", [passage])
    assert "长按复位键十秒可恢复出厂设置。" in "".join(chosen.quotes[0].sentences)


def test_a_table_answers_with_its_rows() -> None:
    table = hit(
        "Model | Ports | Price", kind="table", columns=["Model", "Ports", "Price"],
        rows=[[f"SE21{n:02}", str(n), f"{n}0 EUR"] for n in range(1, 10)], heading="Price list",
    )  # fmt: skip
    chosen = extract("What is the price of the SE2105?", [table])
    assert chosen.tables == {0: [["SE2105", "5", "50 EUR"]]}


def test_a_picture_is_shown_when_asked_for_and_not_otherwise() -> None:
    picture = hit("Figure 2: front panel of the switch with its ports", kind="image")
    assert extract("Show me a picture of the front panel", [picture, MANUAL]).pictures == [0]
    assert extract("How do I restore the factory settings of the switch?", [MANUAL, picture]).pictures == []


def test_a_sentence_that_introduces_a_list_brings_it() -> None:
    passage = hit("To replace the fan do the following:\nOpen the case.\nPull the fan out.\nPush the new one in.")
    chosen = extract("How to replace the fan?", [passage])
    assert "Push the new one in." in "".join(chosen.quotes[0].sentences)


def test_a_how_to_section_is_quoted_from_its_beginning() -> None:
    steps = "Switch the unit off. Wait for a minute. Open the lid. " + "Then go on with care and take your time. " * 20
    chosen = extract("How do I replace the fan?", [hit(steps + "The fan is behind it.", heading="Replace the fan")])
    assert chosen.quotes[0].sentences[0] == "Switch the unit off. "


def test_code_is_quoted_whole() -> None:
    code = "```\nCREATE INDEX CONCURRENTLY i ON t (c);\nDROP INDEX i;\n```\n"
    passage = hit("An index can be made while others write:\n\n" + code + "\n" + "It takes longer than usual. " * 30)
    chosen = extract("How is an index made while others write?", [passage])
    assert any(sentence.startswith("```\nCREATE INDEX") for sentence in chosen.quotes[0].sentences)


def test_the_same_sentence_is_quoted_once() -> None:
    chosen = extract("How do I restore the factory settings?", [MANUAL, hit(MANUAL.content, chunk_id=2)])
    quoted = [sentence for quote in chosen.quotes for sentence in quote.sentences]
    assert len(quoted) == len(set(quoted))


def test_similarity_can_select_a_sentence_without_shared_words() -> None:
    def near(texts: list[str]) -> list[float]:
        return [2.5 if "factory" in text else 0.3 for text in texts]

    assert extract("wipe device", [MANUAL], near).quotes[0].sentences[0].startswith("Hold the reset button")


def test_a_heading_inside_a_passage_counts_for_its_sentences() -> None:
    filler = "Nothing of interest is said in this long sentence about other matters. " * 8
    passage = hit(
        f"{filler}\n\n#### Warranty of the battery\n\nIt lasts two years.\n\n#### Weight\n\nIt is two pounds."
    )
    chosen = extract("How long is the warranty of the battery?", [passage])
    assert any("two years" in sentence for sentence in chosen.quotes[0].sentences)
    assert not any("pounds" in sentence for sentence in chosen.quotes[0].sentences)


def test_chinese_function_words_are_not_required() -> None:
    merged = hit("要合并单元格，请选中它，然后点击合并。各单元格的内容会移动到第一个单元格。", heading="合并单元格")
    assert extract("合并几个单元格时，怎样把它们的内容一起保留下来？", [merged]).hits == [0]


def test_unrelated_sentences_are_not_quoted() -> None:
    chosen = extract("When is lunch served?", [OFFICE])
    assert "".join(chosen.quotes[0].sentences).strip() == "Lunch is served at noon in the canteen."


def test_the_readers_best_sentence_comes_first() -> None:
    passage = hit(
        "A firmware update may be started from the page or the console. The switch forwards frames as before. "
        "It takes about three minutes, and the lights blink."
    )
    starts = (0, passage.content.index("The switch"), passage.content.index("It takes"))
    read = replace(passage, reading=Reading(1.0, 1.0, sentences=tuple(zip(starts, (-9.0, -12.0, -1.0), strict=True))))
    question = "How long does a firmware update take?"
    assert "three minutes" in extract(question, [read]).quotes[0].sentences[0]
    assert "may be started" in extract(question, [passage]).quotes[0].sentences[0]
    # Joined neighbours are distinguished by their position.
    joined = replace(read, content=f"Nine ports are at the back.\n\n{passage.content}", reading=read.reading.moved(29))  # type: ignore[union-attr]
    assert "three minutes" in extract(question, [joined]).quotes[0].sentences[0]


def test_the_readers_best_row_comes_first() -> None:
    content = "Prices\nPart | Cost\nFans | 40\nKit | 12\nLamp | 9"
    rows = [["Fans", "40"], ["Kit", "12"], ["Lamp", "9"]]
    table = hit(content, kind="table", columns=["Part", "Cost"], rows=rows)
    starts = [0, *(number + 1 for number, letter in enumerate(content) if letter == "\n")]
    strengths = (2.0, -20.0, -12.0, -13.0, 0.0)
    read = replace(table, reading=Reading(1.0, 1.0, sentences=tuple(zip(starts, strengths, strict=True))))
    assert extract("What do I pay for light?", [read]).tables == {0: [["Lamp", "9"]]}


def test_similarity_counts_with_the_reader_across_languages() -> None:
    def nearest_last(texts: list[str]) -> list[float]:
        compared.append(len(texts))
        return [float(text.startswith(("加班", "Extra"))) for text in texts]

    for content, length, first in (
        ("每天工作八小时。加班按两倍工资计算。", 8, "加班按两倍工资计算。"),
        ("Eight hours a day. Extra ones count twice.", 19, "Eight hours a day. "),
    ):
        compared: list[int] = []
        read = hit(content, reading=Reading(1.0, 1.0, sentences=((0, 2.0), (length, -1.0))))
        chosen = extract("How is overtime paid?", [read], nearest_last)
        assert chosen.quotes[0].sentences[0] == first
        assert bool(compared) == (length == 8)  # within a language nothing is embedded for it


def test_a_row_is_found_by_its_column_names() -> None:
    text, content = "What a hotel may cost a night is in table 2.", "City | Hotel a night\nTromso | 130\n"
    leads = hit(text, reading=Reading(0.0, -0.4, sentences=((0, -11.0),)))
    read = Reading(1.0, 0.4, sentences=((0, -12.0), (content.index("Tromso"), -6.0)))
    table = hit(content, kind="table", columns=["City", "Hotel a night"], rows=[["Tromso", "130"]], reading=read)
    assert extract("What may a hotel cost a night?", [leads, table]).tables == {1: [["Tromso", "130"]]}


def test_a_sentence_that_refers_back_brings_the_one_before_it() -> None:
    noise = "Words of no interest here follow one another without an end in sight for anyone. " * 3
    passage = hit(f"{noise}A call to it comes first. It gives the radius of the Earth in metres. {noise}")
    quote = extract("In which unit is the radius of the Earth?", [passage]).quotes[0]
    assert [sentence.strip() for sentence in quote.sentences] == [
        "It gives the radius of the Earth in metres.",
        "A call to it comes first.",
    ]
    assert quote.gaps == {1}


def test_a_definition_brings_the_term_that_it_defines() -> None:
    entry = "ACCESS EXCLUSIVE: Conflicts with all modes. " + "It is strict. It is rarely what one wants by hand. " * 12
    chosen = extract("Which lock does ALTER TABLE take?", [hit(entry + "ALTER TABLE takes a lock at this level.")])
    assert chosen.quotes[0].sentences[0].startswith("ALTER TABLE takes")
    assert chosen.quotes[0].sentences[1].startswith("ACCESS EXCLUSIVE: ") and 1 in chosen.quotes[0].gaps


def test_headings_inside_a_passage_are_not_quoted() -> None:
    passage = hit("#### Syntax\n\nThe brackets hold the number.\n\n#### Example\n\nABS(-5) is five.")
    quote = extract("What do the brackets hold?", [passage]).quotes[0]
    assert not any(sentence.startswith("#") for sentence in quote.sentences)


def test_a_lone_number_is_not_quoted() -> None:
    quote = extract(
        "What is this about?", [hit("159\n\nThe brackets hold the number.\n\n160", heading="About")]
    ).quotes[0]
    assert [sentence.strip() for sentence in quote.sentences] == ["The brackets hold the number."]


def test_one_answering_row_is_shown_alone_and_a_list_in_full() -> None:
    table = hit(
        "Model | Warranty", kind="table", columns=["Model", "Warranty"],
        rows=[["Switch", "5 years"], ["Fans", "3 years"], ["Kit", "1 year"]], heading="Warranty",
    )  # fmt: skip
    assert extract("How long is the warranty of the fans?", [table]).tables == {0: [["Fans", "3 years"]]}
    assert len(extract("List the warranty of all models", [table]).tables[0]) == 3


def test_sentences_without_a_word_of_the_question_are_not_added() -> None:
    france = hit("France taxes capital gains accrued in France.", filename="tax.txt")
    chosen = extract("What is the capital of France?", [france, OFFICE])
    assert chosen.hits == [0]


def test_a_picture_does_not_follow_a_sentence_unasked() -> None:
    picture = hit("Figure 2: the white switch", kind="image")
    ports = hit("The switch has nine ports of copper.")
    chosen = extract("How many ports of copper has the white switch?", [ports, picture])
    assert (chosen.hits, chosen.pictures) == ([0], [])


def test_a_number_at_the_start_of_a_sentence_is_not_a_step() -> None:
    passage = hit("The lamp of the case is of steel. 12.5 volts feed the lamp of the case.")
    quote = extract("Which volts feed the lamp of the case?", [passage]).quotes[0]
    assert quote.sentences[0].startswith("12.5 volts") and len(quote.sentences) == 2


def test_a_less_relevant_table_does_not_follow_a_sentence() -> None:
    table = hit(
        "Part | Lasts", kind="table", columns=["Part", "Lasts"], rows=[["Fans", "3 years"]], heading="Warranty"
    )  # fmt: skip
    said = hit("The warranty of the fans lasts three years.")
    assert extract("How long is the warranty of the fans?", [said, table]).tables == {}


def test_few_of_many_equal_rows_are_shown_unless_a_list_is_asked_for() -> None:
    rows = [[f"Fan {number}", "3 years"] for number in range(20)]
    table = hit("Part | Warranty", kind="table", columns=["Part", "Warranty"], rows=rows, heading="Warranty")
    assert len(extract("How long is the warranty of a fan?", [table]).tables[0]) == 3
    assert len(extract("List the warranty of every fan", [table]).tables[0]) == 12


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("年假有多少天？", 4),  # the question names no years of service, and most rows have days
        ("How many days of annual leave do staff get?", 4),
        ("工作六年以上年假有多少天？", 1),  # the question contains the row's name
    ],
)
def test_a_small_table_is_shown_whole_unless_a_row_is_meant(question: str, shown: int) -> None:
    rows = [["不满一年", "按月折算"], ["一年至三年", "12 天"], ["三年至六年", "15 天"], ["六年以上", "20 天"]]
    table = hit("年假", kind="table", columns=["工作年限", "年假天数"], rows=rows)
    assert len(extract(question, [table]).tables[0]) == shown


@pytest.mark.parametrize(
    ("strengths", "shown"), [((-9.0, 3.0, 2.0), 2), ((-9.0, -3.0, -7.0), 1), ((-5.0, -3.0, -4.0), 3)]
)
def test_a_row_is_meant_if_the_reader_finds_the_answer_in_it(strengths: tuple[float, ...], shown: int) -> None:
    rows = [["Kettle", "40"], ["Lamp", "9"], ["Fan", "12"]]
    read = Reading(1.0, 1.0, sentences=tuple(enumerate(strengths)))
    table = hit("Cost", kind="table", columns=["Part", "Cost"], rows=rows, reading=read)
    assert len(extract("What do I pay for light?", [table]).tables[0]) == shown


def test_a_procedure_is_quoted_on_from_its_beginning() -> None:
    steps = "Switch the unit off. Wait for a minute. Open the lid. Lift it out. Put it back. Close the lid. Start it."
    quote = extract("How do I replace the fan?", [hit(steps, heading="Replace the fan")]).quotes[0]
    assert "".join(quote.sentences) == steps and quote.gaps == set()


PRICES = hit(
    "Model | Price (EUR) | Weight (kg)", kind="table", columns=["Model", "Price (EUR)", "Weight (kg)"],
    rows=[["LS-2408", "129", "1.2"], ["LS-2424", "389", "3.4"], ["LS-2448P", "1149", "6.8"]], filename="list.xlsx",
)  # fmt: skip


@pytest.mark.parametrize(
    "question", ["How much does the LS-2424 cost?", "LS-2424 多少钱？", "How heavy is the LS-2424?"]
)
def test_only_the_row_with_the_name_in_the_question_is_shown(question: str) -> None:
    assert extract(question, [PRICES]).tables == {0: [["LS-2424", "389", "3.4"]]}


def test_a_comparison_shows_the_rows_of_both() -> None:
    named = extract("Compare the price of the LS-2408 and the LS-2424", [PRICES]).tables[0]
    assert {"LS-2408", "LS-2424"} <= {row[0] for row in named}
    either = extract("Is the price of the LS-2408 lower than that of the LS-2424?", [PRICES]).tables[0]
    assert [row[0] for row in either] == ["LS-2408", "LS-2424"]


def test_a_row_without_the_name_is_shown_if_no_row_has_it() -> None:
    assert extract("What is the price of the LS-2999?", [PRICES]).tables[0]


def test_figures_have_the_units_of_their_columns() -> None:
    assert units(PRICES)[0] == "LS-2408 | 129 EUR | 1.2 kg"
    wide = hit("a", kind="table", columns=["价格（元）"], rows=[["800", "more"], []])
    assert units(wide) == ["800 元 | more", ""]


def test_a_caption_is_quoted_only_if_a_picture_is_asked_for() -> None:
    picture = hit("Front panel of the LS-2424 with 24 ports", kind="image")
    table = hit("Model | Ports", kind="table", columns=["Model", "Ports"], rows=[["LS-2424", "24"]])
    assert extract("How many ports has the LS-2424?", [picture, table]).hits[0] == 1
    assert extract("Show a picture of the ports of the LS-2424", [picture, table]).hits[0] == 0
    assert extract("How many ports has the LS-2424?", [picture]).pictures == [0]  # nothing else says it


LIMITS = hit(
    "The quota system knows four limits.\nA user meets them in this order:\n- a soft limit on blocks, which warns\n"
    "- a hard limit on blocks, which refuses\n- a soft limit on files\nDisks are counted at night."
)


def test_an_item_comes_with_the_line_that_introduces_its_list() -> None:
    chosen = extract("Which limit refuses blocks?", [LIMITS])
    assert chosen.quotes[0].sentences[0].startswith("A user meets them in this order:")
    assert any("which refuses" in sentence for sentence in chosen.quotes[0].sentences)


def test_a_section_that_is_quoted_whole_ends_with_a_sentence() -> None:
    passage = hit(
        "1. Choose Table - Insert.\n2. Tick a box\n\nThe heading is repeated.\n\nRelated\n\nChange a heading\n\nPages",
        heading="Repeat a table heading",
    )
    chosen = extract("How do I repeat a table heading?", [passage])
    assert "".join(chosen.quotes[0].sentences).rstrip().endswith("The heading is repeated.")
    code = "```\n" + "bad " * 200 + "\n```\n"
    steps = " ".join(f"Bisect {what}." for what in ("begins", "wants two commits", "halves them", "asks you", "ends"))
    introduced = hit(f"{steps} If it is broken, type\n\n{code}", heading="Bisect")
    chosen = extract("How do I bisect?", [introduced])
    assert "".join(chosen.quotes[0].sentences).rstrip().endswith("Bisect ends.")


def test_code_examples_must_be_nearly_as_good_as_the_best_sentence() -> None:
    prose = hit("Run git bisect start to start a bisect session.", chunk_id=1)
    code = hit("```\n$ git bisect start HEAD v1.2  # this session\n$ make\n```\n", chunk_id=2)
    chosen = extract("How do I start a bisect session?", [prose, code])
    assert [quote.hit for quote in chosen.quotes] == [0]
    assert chosen.hits == [0]


def test_what_a_mail_quotes_is_no_answer_beside_its_own_words() -> None:
    older = hit("We meet in the Harbour Hall on 15 October.", heading="Quoted: On 10 Sep 2024 Jonas Berg wrote")
    asked = hit("Where do we meet in October?", heading="Quoted: On 9 Sep 2024 Ida Holm wrote")
    newer = hit("We meet in the Glass House on 17 October.", heading="Re: Autumn")
    for hits in ([older, newer, asked], [asked, older, newer]):
        chosen = extract("Where do we meet in October?", hits)
        assert [quote.sentences for quote in chosen.quotes] == [["We meet in the Glass House on 17 October."]]
    assert extract("Where do we meet in October?", [asked, older]).quotes[0].sentences[0].startswith("We meet in the H")
    between = hit("> Where do we meet in October?\n\nWe meet in the hall.\n\n> When?\n\nIn May.")
    assert extract("Where do we meet in October?", [between]).quotes[0].sentences[0].strip() == "We meet in the hall."


@pytest.mark.parametrize(
    ("question", "sections", "label"),
    [
        (
            "Which lamp is not made for bathrooms?",
            {"Lamp Vega": "It is not made for bathrooms.", "Lamp Rigel": "It is made for bathrooms."},
            "Lamp Vega",
        ),
        ("哪种灯不能用于浴室？", {"织女灯": "不能用于浴室。", "参宿灯": "可以用于浴室。"}, "织女灯"),
        ("Which lamp is bright?", {"Lamp Vega": "Lamp Vega is bright."}, ""),  # the sentence names it
        ("When is lunch?", {"Canteen": "Lunch is at noon."}, ""),
        ("How much does Vega cost?", {"Lamp Vega": "The Lamp Vega is tall. It costs 9 euros."}, "Lamp Vega"),
    ],
)
def test_a_sentence_brings_the_heading_with_its_subject(question: str, sections: dict[str, str], label: str) -> None:
    hits = [hit(text, heading=heading, chunk_id=number) for number, (heading, text) in enumerate(sections.items())]
    assert extract(question, hits).quotes[0].label == label


def test_a_heading_inside_a_passage_is_brought_too() -> None:
    passage = hit("#### Vega\n\nIt runs on gas.\n\n#### Rigel\n\nIt runs on oil.", heading="Lamps")
    assert extract("Which lamp runs on oil?", [passage]).quotes[0].label == "Lamps › Rigel"


@pytest.mark.parametrize(
    ("introduction", "question"),
    [
        ("Visitors bring the following.", "What do visitors bring?"),
        ("访客需携带的物品如下。", "访客要带什么？"),
        ("访客需携带以下物品：", "访客要带什么？"),
    ],
)
def test_what_a_sentence_announces_is_quoted_from_its_passage_or_the_next(introduction: str, question: str) -> None:
    items = ["- a badge\n", "- a ticket\n"]
    together = extract(question, [hit(f"{introduction}\n\n{''.join(items)}\nThe gate is open.")])
    assert "".join(together.quotes[0].sentences).count("- ") == 2
    following = hit("".join(items) + "\nThe gate is open.", chunk_id=2)
    apart = extract(question, [hit(introduction)], around=Surroundings(following={1: following}))
    assert apart.following == [following] and apart.hits == [0, 1]
    assert [text.strip() for text in apart.quotes[1].sentences] == ["- a badge", "- a ticket"]


def test_a_table_that_a_sentence_announces_is_shown() -> None:
    table = hit("", kind="table", columns=["Room", "Price"], rows=[["Blue", "40"]], chunk_id=2)
    chosen = extract(
        "What do rooms cost?", [hit("The rooms cost as follows:")], around=Surroundings(following={1: table})
    )
    assert chosen.tables == {1: [["Blue", "40"]]}


POLICIES = [
    hit("The allowance for glasses is 80 euros.", document_id=1, chunk_id=1),
    hit("The allowance for glasses is 120 euros.", document_id=2, chunk_id=2),
]
BEGINNINGS = Surroundings(
    beginnings={1: Beginning("Glasses 2020", "a.md", ""), 2: Beginning("Glasses 2024", "b.md", "It replaces 2020.")}
)


@pytest.mark.parametrize(
    ("question", "first"),
    [("What is the allowance for glasses?", "Glasses 2024"), ("What was the allowance in 2020?", "Glasses 2020")],
)
def test_the_newer_version_leads_unless_another_is_asked_for(question: str, first: str) -> None:
    chosen = extract(question, POLICIES, around=BEGINNINGS)
    assert [quote.label for quote in chosen.quotes] == sorted(chosen.labels.values(), key=lambda name: name != first)
    assert len(chosen.quotes) == 2


def test_only_the_report_of_the_year_that_is_asked_for_is_quoted() -> None:
    reports = Surroundings(beginnings={1: Beginning("Report 2020", "", ""), 2: Beginning("Report 2024", "", "")})
    chosen = extract("What was the allowance for glasses in 2020?", POLICIES, around=reports)
    assert [quote.label for quote in chosen.quotes] == ["Report 2020"]


def test_the_row_named_in_the_question_is_shown_and_the_table_s_size_known() -> None:
    rows = [["apple juice", "2", "North"], ["pear juice", "3", "South"], ["milk", "1", "North"]]
    table = hit("", kind="table", columns=["Drink", "Price", "Region"], rows=rows)
    chosen = extract("From which regions are the pear juices?", [table], around=Surroundings(tables={1: rows * 2}))
    assert chosen.tables == {0: [["pear juice", "3", "South"]]} and chosen.sizes == {0: 6}
    assert chosen.holds_cell


@pytest.mark.parametrize(
    ("question", "text", "partial"),
    [
        ("How many tools do we have?", "The hammer weighs 2 kg.", True),
        ("How many tools do we have?", "We have twelve tools.", False),
        ("How many kilos does the hammer weigh?", "The hammer weighs 2 kg.", False),
        ("Which tool is the cheapest?", "The hammer costs 12 euros.", True),
        ("Which tool is the cheapest?", "The cheapest is the hammer.", False),
        ("一共有几件工具？", "锤子重两公斤。", True),
        ("一共有几件工具？", "本店有十二件工具。", False),
    ],
)
def test_a_part_of_what_is_counted_or_compared_is_no_answer(question: str, text: str, partial: bool) -> None:
    heading = "Our tools" if question.isascii() else "我们的工具"
    assert extract(question, [hit(text, heading=heading)]).is_partial is partial


def test_all_rows_answer_a_count() -> None:
    rows = [["Hammer", "12"], ["Saw", "20"]]
    table = hit("", kind="table", columns=["Tool", "Price"], rows=rows[:1], heading="Our tools")
    chosen = extract("How many tools are there?", [table], around=Surroundings(tables={1: rows}))
    assert chosen.computed is not None and chosen.computed.count == 2 and chosen.tables == {0: rows}


def test_sentences_with_different_figures_are_no_duplicates() -> None:
    hits = [
        hit(f"The shop in the old town opens at {hour} on every day of the week.", chunk_id=hour) for hour in (8, 9)
    ]
    assert len(extract("When does the shop open?", hits).quotes) == 2


def test_the_cheapest_of_one_table_is_not_called_that_of_all() -> None:
    def prices(heading: str, *rows: list[str], chunk_id: int) -> Hit:
        text = "\n".join(" | ".join(row) for row in rows)
        columns = ["Article", "Price (EUR)"]
        return hit(text, kind="table", heading=heading, columns=columns, rows=[*rows], chunk_id=chunk_id)

    fans = prices("Fans", ["Fan A", "29"], ["Fan B", "19"], chunk_id=1)
    lamps = prices("Lamps", ["Lamp A", "9"], ["Lamp B", "12"], chunk_id=2)
    question = "What is the cheapest article?"
    alone, both = extract(question, [fans]), extract(question, [fans, lamps])
    assert alone.computed is not None and alone.computed.rows[0][0] == "Fan B" and not alone.is_partial
    assert both.computed is not None and both.is_partial


TOOLS = [["Hammer", "12", "0.8"], ["Saw", "31", "1.4"], ["Anvil", "95", "40"]]


def tools(**fields: Any) -> Hit:
    text = "\n".join(" | ".join(row) for row in TOOLS)
    columns = ["Tool", "Price (EUR)", "Weight (kg)"]
    return hit(text, kind="table", heading="Tools", columns=columns, rows=TOOLS, **fields)


def test_the_rows_within_a_limit_answer() -> None:
    chosen = extract("Which tools cost less than 40 euros?", [tools()], around=Surroundings(tables={1: TOOLS}))
    assert chosen.tables == {0: TOOLS[:2]} and chosen.sizes == {0: 3} and not chosen.is_partial
    assert extract("Which blue tools cost less than 40 euros?", [tools()]).is_partial


def test_a_sentence_about_a_limit_is_quoted_instead_of_rows() -> None:
    rule = hit("For tools of more than 50 euros, the manager signs an order.", chunk_id=2)
    chosen = extract("Which order do tools of more than 50 euros need?", [rule, tools()])
    assert chosen.computed is None and chosen.quotes[0].hit == 0 and not chosen.is_partial


def test_a_table_about_something_else_has_no_extreme_for_a_question() -> None:
    rooms = hit("Attic | 4", kind="table", heading="Rooms", columns=["Room", "Weight (kg)"], rows=[["Attic", "4"]])
    chosen = extract("Which tool is the heaviest?", [tools(), replace(rooms, chunk_id=2)])
    assert chosen.computed is not None and chosen.computed.rows[0][0] == "Anvil" and not chosen.is_partial
    read = replace(rooms, chunk_id=2, reading=Reading(3.0, 4.0, sentences=((0, 9.0),)))
    chosen = extract("Which tool is the heaviest?", [read, tools()])
    assert chosen.computed is not None and chosen.computed.rows[0][0] == "Anvil" and not chosen.is_partial
    chairs = hit("Oslo", kind="table", heading="Tools", columns=["Tool", "Material"], rows=[["Oslo", "steel"]])
    chosen = extract("Which tool is the heaviest?", [chairs, replace(rooms, chunk_id=2)])
    assert chosen.computed is None and chosen.is_partial


def test_of_tables_in_another_language_one_with_the_dimension_comes_nearest() -> None:
    costs = hit("锤子 | 12", kind="table", heading="报销", columns=["项目", "金额"], rows=[["住宿", "12"]], chunk_id=2)
    chosen = extract("哪件工具最重？", [costs, tools(chunk_id=3)])
    assert chosen.computed is not None and chosen.computed.rows[0][0] == "Anvil" and chosen.is_partial


RELEASE = [["B-1", "The pump ran on"], ["B-2", "The clock lost an hour"], ["B-3", "Night mode ended early"]]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("List the bugs that were repaired.", RELEASE),
        ("修复了哪些问题？", RELEASE),
        ("List the bugs of the clock.", RELEASE[1:2]),  # a word chooses among the rows
        ("What is the worst bug?", RELEASE[1:2]),  # no list
    ],
)
def test_a_list_is_of_all_rows_unless_words_choose_among_them(question: str, shown: list[list[str]]) -> None:
    text = "\n".join(" | ".join(row) for row in RELEASE)
    reading = Reading(
        3.0, 4.0, sentences=tuple((text.index(row[0]), 4.0 if row is RELEASE[1] else -2.0) for row in RELEASE)
    )
    table = hit(text, kind="table", heading="Corrected", columns=["Issue", "What happened"], rows=RELEASE)
    assert extract(question, [replace(table, reading=reading)]).tables[0] == shown


@pytest.mark.parametrize(
    ("question", "sentence", "columns", "rows", "shown"),
    [
        (
            "What does an amber SYS light mean?",
            "Hold the button until the SYS light is amber.",
            ["Light", "Green", "Amber"],
            [["PWR", "Supply good", "Second supply"], ["SYS", "Running", "Updating"]],
            1,
        ),
        (
            "How heavy is the Hammer?",
            "The Hammer is used with heavy gloves.",
            ["Tool", "Price", "Weight (kg)"],
            [["Hammer", "12", "0.8"], ["Saw", "31", "1.4"]],
            0,
        ),
        (
            "松厅的座位有几个？",
            "松厅的座位须提前一天预订。",
            ["房间", "座位", "楼层"],
            [["松厅", "12", "二楼"], ["竹厅", "6", "一楼"]],
            0,
        ),
    ],
)
@pytest.mark.parametrize(("strength", "is_first"), [(-3.0, True), (0.5, False)])
def test_the_cell_that_a_question_names_comes_before_a_sentence_that_the_reader_doubts(
    question: str, sentence: str, columns: list[str], rows: list[list[str]], shown: int, strength: float, is_first: bool
) -> None:
    said = hit(sentence, reading=Reading(1.0, sentences=((0, strength),)))
    text = "\n".join(" | ".join(row) for row in rows)
    weak = Reading(1.0, sentences=tuple((text.index(row[0]), -9.0) for row in rows))
    table = hit(text, kind="table", columns=columns, rows=rows, chunk_id=2, reading=weak)
    chosen = extract(question, [said, table])
    assert (chosen.hits[0] == 1, chosen.holds_cell) == (is_first, is_first)
    assert not is_first or chosen.tables[1] == rows[shown : shown + 1]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What is the notice after three years of employment?", [["2 to 5 years", "2 months"]]),
        (
            "What is the notice after 2 months of employment?",  # "2 months" is also a cell
            [["less than 6 months", "2 weeks"], ["2 to 5 years", "2 months"]],
        ),
    ],
)
def test_only_the_row_with_the_quantity_in_its_range_is_shown(question: str, shown: list[list[str]]) -> None:
    rows = [["less than 6 months", "2 weeks"], ["6 months to 2 years", "4 weeks"], ["2 to 5 years", "2 months"]]
    table = hit("", kind="table", heading="Notice", columns=["Employment", "Notice"], rows=rows)
    assert extract(question, [table]).tables == {0: shown}


def test_passages_in_the_wanted_language_are_quoted_if_they_answer_too() -> None:
    english = hit("The warranty lasts three years.", reading=Reading(1.0, 1.0, sentences=((0, 9.0),)))
    answers = hit("保修期为三年。", document_id=2, reading=Reading(1.0, 1.0, sentences=((0, 0.5),)))
    unsure = Reading(-3.0, 1.2, sentences=((0, -5.0),))  # as the reader is across languages
    related = replace(answers, content="保修期内可在六个月后更换。", reading=unsure)
    other = replace(answers, content="风扇可以在运行时更换。", reading=Reading(-9.0, -9.0, sentences=((0, -12.0),)))
    question = "How long does the warranty last?"
    for held, language, quoted in (
        ([english, answers], "", [0]),
        ([english, answers], "zh", [1]),
        ([english, answers], "en", [0]),
        ([english, replace(answers, reading=unsure)], "zh", [1]),
        ([english, related], "zh", [0]),
        ([english, other], "zh", [0]),
        ([english], "zh", [0]),
    ):
        chosen = extract(question, held, lambda texts: [2.0] * len(texts), Form(language=language))
        assert [quote.hit for quote in chosen.quotes] == quoted


def test_a_limit_of_sentences_is_kept_except_in_steps() -> None:
    facts = "The fan is quiet. The fan is made of steel. The fan can be replaced while the switch runs."
    first, second = hit(facts), hit("The fan is cleaned once a year.", document_id=2)
    chosen = extract("What about the fan?", [first, second], None, Form(sentences=2))
    assert sum(len(quote.sentences) for quote in chosen.quotes) == 2
    steps = hit("To replace the fan:\n1. Pull the plug.\n2. Remove the two screws.\n3. Push the new fan in.\n")
    assert len(extract("How do I replace the fan?", [steps], None, Form(sentences=1)).quotes[0].sentences) == 4

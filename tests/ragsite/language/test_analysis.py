"""Terms of mixed Chinese and English text, including hard cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.language import analysis
from ragsite.language.analysis import border_pairs, importance, pieces, term_id, terms

# Text, the query that must find it by at least one term of its own, and whole terms that must be there.
CASES = [
    ("The TL-SE2109 switch", "TL-SE2109", {"tl-se2109", "se2109", "2109"}),
    ("The TL-SE2109 switch", "SE2109", {"se2109"}),
    ("Upgrade to v1.2.3 now", "1.2.3", {"v1.2.3", "1.2.3", "1.2", "1"}),
    ("PostgreSQL 18.1", "postgresql 18", {"18.1", "18"}),
    ("Flag 0x1F is set", "0X1f", {"0x1f", "1f"}),
    ("commit 9f1ea55d301c375a", "9F1EA55D301C375A", {"9f1ea55d301c375a"}),
    ("parseJSONFile(path)", "json", {"parsejsonfil", "json", "file"}),
    ("HTTPServer", "http server", {"httpserver", "http", "server"}),
    ("max_parallel_workers", "parallel workers", {"max_parallel_workers", "parallel", "worker"}),
    ("os.path.join", "path", {"os.path.join", "path", "join"}),
    ("a state-of-the-art e-mail", "state of the art", {"state-of-the-art", "state", "art"}),
    ("see https://docs.example.org/a/setup.html?page=2.", "setup", {"doc", "setup", "exampl"}),
    ("write to Joe.Doe@example.org.", "joe.doe@example.org", {"joe.doe@example.org", "joe", "doe"}),
    ("it weighs 10kg", "10 kg", {"10kg", "10", "kg"}),
    ("1,234,567.50 USD", "1234567.50", {"1234567.50"}),
    ("C++ and C# and .NET", "c#", {"c++", "c#", "net"}),
    ("a café for the naïve", "cafe", {"café", "cafe", "naiv"}),
    ("a cafe", "Café", {"cafe"}),
    ("Ｆｕｌｌ　Ｗｉｄｔｈ ＡＢＣ１２３", "abc123", {"full", "width", "abc123"}),
    ("O'Brien's patients don't wait", "obrien", {"obrien", "brien", "patient", "wait"}),
    ("running runs", "run", {"run"}),
    ("WHO guidance", "WHO", {"who", "guidanc"}),
    ("the URLs", "URL", {"url"}),
    ("TNF-α and IL-6", "tnf", {"tnf", "α", "il-6"}),
    ("数据库索引的查询速度", "数据", {"数据库", "数据", "索引", "查询", "速度"}),
    ("使用PostgreSQL数据库v16.2", "postgresql 数据库 16.2", {"postgresql", "数据库", "v16.2", "16.2"}),
    ("第３章：配置ＴＣＰ／ＩＰ", "tcp 配置", {"3", "配置", "tcp"}),
    ("龘靐先生", "靐", {"龘", "靐", "先生"}),
    ("埃隆去了火星", "埃隆", {"埃", "隆", "火星"}),
    ("茶", "茶", {"茶"}),
    ("請設定資料庫", "資料庫", {"资料", "资料库"}),
    ("東京でゲームをする", "ゲーム", {"ゲー", "ーム"}),
    ("한국어 문서", "문서", {"한국", "국어", "문서"}),
]


# How a thing is written in a document, and how people type it; each must find the other by the term that tells it.
FORMS = [
    ("TL-SE2109", "tlse2109", "tlse2109"),
    ("TL-SE2109", "tl-se2109", "tl-se2109"),
    ("ＴＬ－ＳＥ２１０９", "TL-SE2109", "tl-se2109"),
    ("GPT-4", "gpt4", "gpt4"),
    ("Wi-Fi", "wifi", "wifi"),
    ("e-mail", "email", "email"),
    ("138-0000-0000", "13800000000", "13800000000"),
    ("978-3-16-148410-0", "9783161484100", "9783161484100"),
    ("v1.2.3-beta", "1.2.3", "1.2.3"),
    ("postgresql-15.3.tar.gz", "postgresql 15.3", "15.3"),
    ("0x1F", "1f", "1f"),
    ("10GB", "10 gb", "10"),
    ("10GB", "gb", "gb"),
    ("3.5mm 耳机", "3.5 mm", "3.5"),
    ("3.5 mm", "3.5mm", "3.5"),
    ("1,000", "1000", "1000"),
    ("1,000元", "1000元", "1000"),
    ("1,000mm", "1000 mm", "1000"),
    ("１，０００", "1000", "1000"),
    ("1,234.50", "1234", "1234"),
    ("iPhone", "iphone", "iphon"),
    ("YouTube", "youtube", "youtub"),
    ("parseJSONFile", "parsejsonfile", "parsejsonfil"),
    ("snake_case_name", "snake_case_name", "snake_case_name"),
    ("snake_case_names", "names", "name"),
    ("pg_stat_activity.query", "pg_stat_activity", "pg_stat_activity"),
    ("pg_stat_activity.query", "query", "queri"),
    ("java.util.HashMap", "hashmap", "hashmap"),
    ("std::vector", "std::vector", "std::vector"),
    ("/etc/postgresql/postgresql.conf", "postgresql.conf", "postgresql.conf"),
    ("C:\\Users\\joe", "users", "user"),
    ("https://www.example.org/a/b?page=2", "example.org", "example.org"),
    ("https://www.example.org/setup/", "www.example.org/setup", "example.org/setup"),
    ("https://例子.example.org", "example.org", "example.org"),
    ("joe.doe@example.co.uk", "example.co.uk", "example.co.uk"),
    ("joe.doe@example.co.uk", "JOE.DOE@EXAMPLE.CO.UK", "joe.doe@example.co.uk"),
    ("joe.doe@example.co.uk", "joe.doe", "joe.doe"),
    ("192.168.0.1:5432", "192.168.0.1", "192.168.0.1"),
    ("TCP/IP", "ip", "ip"),
    ("I/O", "i/o", "i/o"),
    ("R&D", "r&d", "r&d"),
    ("C#", "c#", "c#"),
    ("café", "cafe", "cafe"),
    ("cafe\u0301", "café", "café"),
    ("Straße", "strasse", "strass"),
    ("Łódź", "lodz", "lodz"),
    ("Ångström", "angstrom", "angstrom"),
    ("O’Brien", "O'Brien", "obrien"),
    ("O’Brien", "obrien", "obrien"),
    ("the user’s", "user", "user"),
    ("docu\u00adment", "document", "document"),
    ("pg_\u200bstat", "pg_stat", "pg_stat"),
    ("ﬁle", "file", "file"),
    ("H₂O", "h2o", "h2o"),
    ("🚀 launch", "🚀", "🚀"),
    ("Привет, мир", "привет", "привет"),
    ("東京タワー", "東京", "东京"),
    ("문서를", "문서", "문서"),
    ("مُحَمَّد", "محمد", "محمد"),
    ("नमस्ते दुनिया", "दुनिया", "दुनिया"),
    ("微信小程序", "微信", "信"),
    ("张伟的报告", "张伟", "伟"),
    ("5G网络", "5g", "5g"),
]


@pytest.mark.parametrize(("written", "typed", "telling"), FORMS, ids=[f"{a} by {b}" for a, b, _ in FORMS])
def test_documents_are_found_by_the_form_that_people_type(written: str, typed: str, telling: str) -> None:
    assert telling in terms(f"see {written} here")
    assert telling in terms(typed)


@pytest.mark.parametrize("written", sorted({form[0] for form in FORMS} | {case[0] for case in CASES}))
def test_text_copied_from_a_passage_has_its_terms(written: str) -> None:
    around = f"前文 before, {written}, after 后文"
    assert set(terms(written)) <= set(terms(around))


@pytest.mark.parametrize(("text", "query", "expected"), CASES, ids=[case[0] for case in CASES])
def test_hard_cases(text: str, query: str, expected: set[str]) -> None:
    found = set(terms(text))
    assert expected <= found
    assert found & set(terms(query))


@pytest.mark.parametrize("text", ["", "  \n", "the of and is", "为什么？", "…！？。", "don't", "\0\x07"])
def test_nothing_to_find(text: str) -> None:
    assert terms(text) == []


@pytest.mark.parametrize(
    ("text", "unwanted"), [("v1.2.3", "2"), ("and/or", "and/or"), ("数据库是什么？", "什么"), ("who knows", "who")]
)
def test_noise_is_left_out(text: str, unwanted: str) -> None:
    assert unwanted not in terms(text)


def test_repeats_are_counted_and_order_is_kept() -> None:
    assert terms("cats, dogs, cat") == ["cat", "dog", "cat"]


def test_hostile_text_is_bounded() -> None:
    found = terms("x" * 100_000 + " " + "a-" * 50_000 + "b " + "\ud800")
    assert max(map(len, found)) <= 256
    assert all(0 <= term_id(term) < 10**9 for term in found)


def test_term_ids_are_the_same_everywhere() -> None:
    assert term_id("index") != term_id("indices")
    assert term_id("index") == 491723700


def test_pieces_are_those_that_share_a_character_with_the_words() -> None:
    assert pieces("把ab用油漆", {"用油"}) == {"用", "油", "用油漆", "油漆"}
    assert pieces("用油，用油", {"用油"}) == {"用", "油"}
    assert pieces("用油漆桶", {"paint"}) == set()


def test_pieces_are_short_and_not_stop_words() -> None:
    found = pieces("请问一二三四五六七八九十", {"五"})
    assert {"五六七八", "二三四五"} <= found
    assert max(map(len, found)) == 4
    assert "多少" not in pieces("油多少", {"油多"})


@given(st.text(st.sampled_from("aB1é.,-_/@:'’#+ 中的あ&%()vx0\n")))
def test_the_kind_of_a_token_does_not_depend_on_its_context(text: str) -> None:
    folded = analysis._folded(text)
    kinds = [(match.lastgroup, match.group()) for match in analysis._TOKEN.finditer(folded)]
    assert analysis._SPLIT.findall(folded) == [token for _kind, token in kinds]
    for kind, token in kinds:
        alone = analysis._TOKEN.match(token)
        assert alone
        assert (alone.lastgroup, alone.group()) == (kind, token)


# As long as a line without spaces may be in a document; each would take minutes if letters were gone through anew.
@pytest.mark.parametrize(
    "unit", ["क", "മ", "_", "-", ".", "1.", "v1.", "a_", "a@b.", "+", "'a", "http://", "111,", "x/y-z.q_", "é", "#a"]
)
def test_endless_words_are_tokenised_quickly(unit: str) -> None:
    text = (unit * 50_000)[:50_000]
    assert set(terms(f"{text} switch")) >= {"switch"}


def test_addresses_are_found_behind_marks_and_chinese() -> None:
    for text in ("...ann@example.com", "<ann@example.com>", "邮箱：ann@example.com", "--ann@example.com"):
        assert "example.com" in terms(text), text


def test_border_pairs_are_where_chinese_words_meet() -> None:
    assert border_pairs("数据库优化统计, 数据库优化") == ["库 优", "化 统"]
    assert border_pairs("数据库") == []
    assert border_pairs("query planner 18") == []


@pytest.mark.parametrize(("term", "expected"), [("数据库", 1.0), ("桶", 0.7), ("漆 桶", 0.3), ("c", 1.0)])
def test_characters_and_pairs_count_less_than_words(term: str, expected: float) -> None:
    assert importance(term) == expected

"""What mails quote and forward, as about thirty programs write it in English and Chinese."""

from pathlib import Path

import pytest

from knowledge.parsing.elements import Element, Heading
from knowledge.parsing.mail.message import Mail, elements_of
from knowledge.parsing.mail.quotes import is_quoted
from knowledge.parsing.registry import ParseContext
from tests.knowledge.reading import outline

NEW, OLD, FIRST = "We meet in the Glass House.", "We meet in the Harbour Hall.", "Where is the meeting?"
NEW_ZH, OLD_ZH = "会议改在玻璃屋举行。", "会议在海港厅举行。"
HEADER = (
    "From: Jonas Berg <jonas@example.org>\nSent: Tuesday, September 10, 2024 4:02 PM\nTo: Ida Holm\nSubject: Autumn\n"
)
HEADER_ZH = "发件人: 王芳 <wang@example.cn>\n发送时间: 2024年9月10日 16:02\n收件人: 李强\n主题: 秋季会议\n"


def sections(tmp_path: Path, source: str, subject: str = "Re: Autumn") -> list[str]:
    """Return a mail's body by its quotes, each as "heading | text"."""
    mail = Mail(subject=subject, **{"html" if source.startswith("<") else "text": source})
    found: list[list[Element]] = [[]]
    for element in list(elements_of(mail, ParseContext(tmp_path, "a.eml"), 100))[1:]:
        if isinstance(element, Heading) and element.level == 1:
            found.append([])
        found[-1].append(element)
    return [" | ".join(" ".join(line.lstrip("# ").split()) for line in outline(part)) for part in found]


ENGLISH = [
    "On Tue, Sep 10, 2024 at 4:02 PM Jonas Berg <jonas@example.org> wrote:\n\n> {}\n",
    "On Tue, Sep 10, 2024 at 4:02 PM Jonas Berg (Facilities) <\njonas@example.org> wrote:\n\n> {}\n",
    "On 10 Sep 2024, at 16:02, Jonas Berg wrote:\n\n> {}\n>\n",
    "> On Sep 10, 2024, at 4:02 PM, Jonas Berg <jonas@example.org> wrote:\n> \n> {}\n",
    "On 10/09/2024 16:02, Jonas Berg wrote:\n> {}\n\n_______________________________________________\nlist\n",
    "On Tuesday, 10 September 2024 16:02:11 CEST Jonas Berg wrote:\n> {}\n\n",
    "    On Tuesday, September 10, 2024 at 04:02:11 PM GMT+2, Jonas Berg <j@e.org> wrote:  \n \n {}\n",
    "‐‐‐‐‐‐‐ Original Message ‐‐‐‐‐‐‐\nOn September 10th, 2024 at 4:02 PM, Jonas Berg <j@e.org> wrote:\n\n> {}",
    "Jonas Berg <jonas@example.org> writes:\n\n> {}\n",
    "---- On Tue, 10 Sep 2024 16:02:11 +0200 Jonas Berg <jonas@example.org> wrote ---\n\n{}\n",
    "Jonas Berg wrote:\n> {}\n",
    "Quoting Jonas Berg <j@e.org>:\n\n> {}\n",
    "Am 10.09.24 um 16:02 schrieb Jonas Berg:\n> {}\n",
    f"-----Original Message-----\n{HEADER}\n{{}}\n",
    f"________________________________\n{HEADER}\n{{}}\n",
    f"{HEADER}\n{{}}\n",
    HEADER.replace("From:", "**From:**").replace("Sent:", "**Sent:**") + "\n{}\n",
    HEADER.replace("From:", "*From:*").replace("To:", "*To:*") + "\n{}\n",
    '<p>…</p><div class="gmail_quote"><div class="gmail_attr">On Tue, Sep 10, 2024 at 4:02 PM Jonas Berg &lt;<a href='
    '"mailto:j@e.org">j@e.org</a>&gt; wrote:<br></div><blockquote class="gmail_quote">{}</blockquote></div>',
    '<p>…</p><div><br><blockquote type="cite"><div>On 10 Sep 2024, at 16:02, Jonas Berg wrote:</div><br><div>{}</div>'
    "</blockquote></div>",
    '<p>…</p><div class="moz-cite-prefix">On 10/09/2024 16:02, Jonas Berg wrote:<br></div><blockquote type="cite" '
    'cite="mid:a@b"><p>{}</p></blockquote>',
    "<p>…</p><div><div style='border:none;border-top:solid #E1E1E1 1.0pt'><p><b>From:</b> Jonas Berg &lt;j@e.org&gt; "
    "<br><b>Sent:</b> Tuesday, September 10, 2024 4:02 PM<br><b>To:</b> Ida<br><b>Subject:</b> Autumn<o:p></o:p></p>"
    "</div></div><p><o:p>&nbsp;</o:p></p><p>{}</p>",
    '<div>…</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg" dir="ltr"><font><b>From:</b> Jonas Berg<br>'
    "<b>Sent:</b> Tuesday, September 10, 2024 16:02<br><b>To:</b> Ida<br><b>Subject:</b> Autumn</font><div>&nbsp;</div>"
    "</div><div>{}</div>",
    '<div>…</div><div class="yahoo_quoted"><div>On Tuesday, September 10, 2024 at 04:02:11 PM GMT+2, Jonas Berg '
    "&lt;j@e.org&gt; wrote:</div><div><br></div><div>{}</div></div>",
]
CHINESE = [
    "王芳 <wang@example.cn> 于2024年9月10日周二 16:02写道：\n\n> {}\n",
    "王芳 <wang@example.cn>\n于2024年9月10日周二 16:02写道：\n\n> {}\n",
    "王芳 <wang@example.tw> 於 2024年9月10日 週二 下午4:02寫道：\n\n> {}\n",
    "> 2024年9月10日 16:02，王芳 <wang@example.cn> 写道：\n> \n> {}\n",
    "在 2024年9月10日，16:02，王芳 <wang@example.cn> 写道：\n\n> {}\n",
    "在 2024/9/10 16:02, 王芳 写道:\n> {}\n",
    '在 2024-09-10 16:02:11，"王芳" <wang@163.com> 写道：\n\n{}\n',
    'At 2024-09-10 16:02:11, "王芳" <wang@163.com> wrote:\n>{}\n',
    f"{HEADER_ZH}\n{{}}\n",
    f"-----邮件原件-----\n{HEADER_ZH}\n{{}}\n",
    '------------------ 原始邮件 ------------------\n发件人: "王芳" <wang@qq.com>;\n发送时间: 2024年9月10日(星期二) '
    '下午4:02\n收件人: "李强"<li@qq.com>;\n主题: 秋季会议\n\n\n\n{}\n',
    '-----原始邮件-----\n发件人:"王芳" <w@e.cn>\n发送时间:2024-09-10 16:02:11\n收件人: 李\n抄送: \n主题: \n\n{}\n',
    "李强\n \n发件人： 王芳\n发送时间： 2024-09-10 16:02\n收件人： 李强\n主题： 秋季会议\n{}\n",
    "--------------------------------------------\n发件人：王芳 <w@e.cn>\n发送时间：2024年9月10日(星期二) 16:02\n"
    "收件人：李强\n主　题：秋季会议\n\n{}\n",
    "---- 回复的原邮件 ----\n| 发件人 | 王芳<w@e.cn> |\n| 日期 | 2024年9月10日 |\n| 抄送至 |  |\n| 主题 | 会议 |\n{}\n",
    "<div>…</div><div>---- 回复的原邮件 ----</div><table><tr><td>发件人</td><td>王芳</td></tr><tr><td>日期</td>"
    "<td>2024年9月10日</td></tr><tr><td>主题</td><td>秋季会议</td></tr></table><div>{}</div>",
    "寄件者: 王芳 <wang@example.tw>\n寄件日期: 2024年9月10日 下午 04:02\n收件者: 李強\n主旨: 秋季會議\n\n{}\n",
    '发件人："王芳"<w@e.cn>\n日期：2024年9月10日 (周二) 16:02\n主题：秋季会议\n收件人："李强"<l@e.cn>\n\n{}\n',
    '<div>…</div><div style="font-size: 12px;">------------------&nbsp;原始邮件&nbsp;------------------</div><div><div>'
    '<b>发件人:</b>&nbsp;"王芳"&lt;w@qq.com&gt;;</div><div><b>发送时间:</b>&nbsp;2024年9月10日</div><div><b>收件人:</b>'
    "&nbsp;李强;</div><div><b>主题:</b>&nbsp;秋季会议</div></div><div><br></div><div>{}</div>",
    '<div>…</div><blockquote style="margin-Top: 0px"><div>&nbsp;</div><div><div><b>发件人：</b>&nbsp;王芳</div><div><b>'
    "发送时间：</b>&nbsp;2024-09-10</div><div><b>收件人：</b>&nbsp;李强</div><div><b>主题：</b>&nbsp;会议</div></div>"
    "<div>{}</div></blockquote>",
    '<div>…</div><p>在 2024-09-10 16:02:11，"王芳" &lt;w@163.com&gt; 写道：</p><blockquote id="isReplyContent"><div>{}'
    "</div></blockquote>",
]


@pytest.mark.parametrize("quote", ENGLISH)
def test_a_quoted_mail_follows_the_newer_words(tmp_path: Path, quote: str) -> None:
    own, quoted = sections(tmp_path, quote.replace("<p>…", f"<p>{NEW}").replace("<div>…", f"<div>{NEW}").format(OLD)
                           if quote.startswith("<") else f"{NEW}\n\n{quote.format(OLD)}")  # fmt: skip
    assert own.startswith(NEW) and OLD not in own
    heading, *fields, text = quoted.split(" | ")
    assert is_quoted(heading) and "Jonas Berg" in heading and text == OLD
    assert all("From: Jonas Berg" in each for each in fields)


@pytest.mark.parametrize("quote", CHINESE)
def test_a_quoted_mail_in_chinese(tmp_path: Path, quote: str) -> None:
    own, quoted = sections(tmp_path, quote.replace("<div>…", f"<div>{NEW_ZH}").format(OLD_ZH)
                           if quote.startswith("<") else f"{NEW_ZH}\n\n{quote.format(OLD_ZH)}")  # fmt: skip
    assert own.startswith(NEW_ZH) and OLD_ZH not in own
    heading, *fields, text = quoted.split(" | ")
    assert is_quoted(heading) and "王芳" in heading and text == OLD_ZH
    assert len(fields) == ("发件人" in quote or "寄件者" in quote)


@pytest.mark.parametrize(
    "forward",
    [
        "---------- Forwarded message ---------\nFrom: Jonas Berg <j@e.org>\nDate: Tue, Sep 10, 2024 at 4:02 PM\n"
        "Subject: Autumn\nTo: Ida\n\n\n{}\n",
        "Begin forwarded message:\n\n> From: Jonas Berg <j@e.org>\n> Subject: Autumn\n> Date: 10 Sep 2024\n>\n> {}\n",
        "-------- 转发邮件信息 --------\n发件人：Jonas Berg <j@e.org>\n发送日期：2024-09-10\n主题：秋季会议\n{}\n",
        "下面是被转发的邮件：\n\n> 发件人: Jonas Berg <j@e.org>\n> 主题: 秋季会议\n> 日期: 2024年9月10日\n> \n> {}\n",
        '<p></p><div class="moz-forward"><br>-------- Forwarded Message --------<table><tbody><tr><th>Subject: '
        "</th><td>Autumn</td></tr><tr><th>Date: </th><td>Tue, 10 Sep 2024</td></tr><tr><th>From: </th><td>Jonas Berg"
        "</td></tr></tbody></table><br><p>{}</p></div>",
    ],
)
def test_a_forwarded_mail_is_not_taken_for_older_words(tmp_path: Path, forward: str) -> None:
    _, forwarded = sections(tmp_path, forward.format(OLD))
    heading, fields, text = forwarded.split(" | ")
    assert heading.startswith(("Forwarded: Jonas Berg", "转发：Jonas Berg")) and not is_quoted(heading)
    assert "Jonas Berg" in fields and text == OLD


def test_a_mail_whose_subject_says_that_it_is_forwarded(tmp_path: Path) -> None:
    assert sections(tmp_path, f"{HEADER}\n{OLD}", "FW: Autumn")[1].startswith("Forwarded: Jonas Berg")
    assert sections(tmp_path, f"{HEADER_ZH}\n{OLD_ZH}", "转发: 秋季")[1].startswith("转发：王芳")


def test_quotes_within_quotes_are_apart(tmp_path: Path) -> None:
    source = (
        f"{NEW}\n\nOn 10 Sep 2024, at 16:02, Jonas Berg wrote:\n\n> {OLD}\n>\n>> On 9 Sep 2024, Ida wrote:\n>> {FIRST}"
    )
    expected = [
        NEW,
        f"Quoted: On 10 Sep 2024, at 16:02, Jonas Berg wrote | {OLD}",
        f"Quoted: On 9 Sep 2024, Ida wrote | {FIRST}",
    ]
    assert sections(tmp_path, source) == expected
    headers = f"{NEW}\n\n{HEADER}\n{OLD}\n\n{HEADER.replace('Jonas Berg', 'Ida')}\n{FIRST}"
    assert [part.partition(" <")[0] for part in sections(tmp_path, headers)[1:]] == [
        "Quoted: Jonas Berg",
        "Quoted: Ida",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "On 10/09/2024 16:02, Jonas Berg wrote:\n> Where is it?\n\nIn the hall.\n\n> When is it?\n\nIn May.\n",
        '<div class="moz-cite-prefix">On 10/09/2024 16:02, Jonas Berg wrote:<br></div><blockquote type="cite"><p>Where '
        "is it?</p></blockquote><p>In the hall.</p><blockquote type=cite><p>When is it?</p></blockquote><p>In May.</p>",
    ],
)
def test_answers_between_the_lines_stay_there(tmp_path: Path, source: str) -> None:
    expected = "On 10/09/2024 16:02, Jonas Berg wrote: | > Where is it? | In the hall. | > When is it? | In May."
    assert sections(tmp_path, source) == [expected]


def test_an_answer_below_the_only_quote_is_moved_above_it(tmp_path: Path) -> None:
    source = f"Hello,\n\nOn 10/09/2024 16:02, Jonas Berg wrote:\n> {OLD}\n\n{NEW}\n"
    assert sections(tmp_path, source) == [
        f"Hello, | {NEW}", f"Quoted: On 10/09/2024 16:02, Jonas Berg wrote | {OLD}"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "Your trip:\n\nFrom: Berlin\nTo: Paris\nDate: 3 May 2024\n\nSeat 14.",
        "In 2019 the committee wrote:\n\nAll doors stay open.\n",
        "Please sign.\n\n------------------\nSubject: lease\nDate: 3 May 2024\nTo: tenant\n\nThe rent is 900 euros.",
        "Minutes\n\nSubject: Budget\nDate: 3 May 2024\n\nOn 3 May 2024 the board met. Anna wrote:\n\nAll fine.",
        "通知如下。\n\n主题：秋游\n日期：2024年9月10日\n\n集合地点是东门。",
        "<p>The rule says:</p><blockquote><p>Visitors wear a badge.</p></blockquote>",
        "<table><tr><td>From</td><td>Berlin</td></tr><tr><td>To</td><td>Paris</td></tr></table>",
    ],
)
def test_what_only_resembles_a_quote_is_kept(tmp_path: Path, source: str) -> None:
    assert len(sections(tmp_path, source)) == 1
    assert "> " not in sections(tmp_path, source)[0]


@pytest.mark.parametrize(
    "footer", ["-- \nIda Holm, Facilities", "______________\nteam mailing list", "发自我的 iPhone"]
)
def test_a_footer_below_the_quote_is_no_answer_to_it(tmp_path: Path, footer: str) -> None:
    source = (
        f"Dear Jonas,\n\n{NEW}\n\nIt is warm.\n\nIda\n\nOn 10/09/2024 16:02, Jonas Berg wrote:\n> {OLD}\n\n{footer}\n"
    )
    own, quoted = sections(tmp_path, source)
    assert footer.rpartition("\n")[2] in own and quoted.endswith(f"wrote | {OLD}")

"""Three assistants with different permissions, asked concurrently in two web processes."""

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.fakes.provider import FakeProvider
from tests.prepared import site_folder
from tests.redis_server import RedisServer
from tests.site import PATIENCE, Site, Web, run_command

pytestmark = [pytest.mark.site, pytest.mark.nightly, pytest.mark.xdist_group("up")]

STATUTES = """# 星河市职工休假条例

第一条 为了保障职工休息的权利，制定本条例。

第四条 职工累计工作满一年不满十年的，年休假五天；满十年不满二十年的，年休假十天。

第五条 年休假在一个年度内可以集中安排，也可以分段安排，一般不跨年度安排。

第七条 用人单位不安排年休假又不依照本条例给予报酬的，由主管部门责令限期改正，并处五千元罚款。
"""
HANDBOOK = """# Help desk handbook

## Printers

The printers of the second floor are restarted by holding the green button for eight seconds.

## Passwords

A forgotten password is reset at the counter, with an identity card, within one working day.
"""
# Users by name, with their bases and the assistants that they may use.
SET_UP = """
from django.contrib.auth.models import Group, User
from conversations.assistants.choice import save_version
from conversations.assistants.configuration import Configuration
from conversations.models import Assistant
from knowledge.models import KnowledgeBase, Membership

laws, desk = (KnowledgeBase.objects.get(name=name) for name in ("Laws", "Desk"))
people = {name: User.objects.create_user(name) for name in ("lawyer", "caller", "guest")}
Membership.objects.create(knowledge_base=laws, user=people["lawyer"])
Membership.objects.create(knowledge_base=desk, user=people["caller"])
callers = Group.objects.create(name="callers")
people["caller"].groups.add(callers)
for name, says, users, groups in (
    ("Legal", {"pipeline": "thorough", "knowledge_bases": [laws.pk]}, ["lawyer"], []),
    ("Help desk", {"pipeline": "quick", "knowledge_bases": [desk.pk]}, [], [callers]),
    ("Talk", {"settings": {"ANSWER_MODE": "chat"}}, ["guest"], []),
):
    assistant = Assistant.objects.create(name=name, everyone=False)
    assistant.people.set(people[user] for user in users)
    assistant.groups.set(groups)
    save_version(assistant, Configuration.from_dict(says), None)
"""
ASKED = {
    "lawyer": ("Legal", "职工累计工作满一年，年休假几天？谁发明了飞艇？"),
    "caller": ("Help desk", "How is a printer of the second floor restarted?"),
    "guest": ("Talk", "Tell me what makes a good neighbour."),
}


async def ask(api: httpx.AsyncClient, assistant: int, question: str) -> str:
    """Ask in a new chat, and return the stream of the answer."""
    session = (await api.post("/chat/sessions", json={})).json()["session_id"]
    body = {"question": question, "assistant": assistant}
    answer = await api.post(f"/chat/sessions/{session}/content", json=body)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_three_assistants_answer_at_once_in_two_processes(redis_server: RedisServer) -> None:
    with site_folder() as data_dir, FakeProvider() as provider:
        environment = {"REDIS_URL": redis_server.url, "LLM_BASE_URL": provider.base_url, "LLM_MODEL": "fake-model"}
        with Site(data_dir, **environment) as site, Web(data_dir, **environment) as second:
            for name, text in (("Laws", STATUTES), ("Desk", HANDBOOK)):
                file = Path(data_dir).with_name(f"{name}.md")
                file.write_text(text, encoding="utf-8")
                arguments = ("ingest", str(file), "--knowledge-base", name, "--user", "demo", "--wait")
                assert run_command(data_dir, *arguments).returncode == 0
            made = run_command(data_dir, "shell", "-c", SET_UP)
            assert made.returncode == 0, made.stderr
            tokens = {name: run_command(data_dir, "create_token", name).stdout.split()[-1] for name in ASKED}
            async with AsyncExitStack() as stack:
                clients: dict[tuple[str, str], httpx.AsyncClient] = {}
                for url in (site.url, second.url):
                    for name, token in tokens.items():
                        client = httpx.AsyncClient(
                            base_url=f"{url}/api", headers={"Authorization": f"Token {token}"}, timeout=PATIENCE
                        )
                        clients[name, url] = await stack.enter_async_context(client)
                offered = {
                    name: {
                        each["name"]: each["id"] for each in (await clients[name, site.url].get("/assistants")).json()
                    }
                    for name in ASKED
                }
                for name, (assistant, _question) in ASKED.items():
                    assert set(offered[name]) == {"Ragsite", assistant}
                jobs = [
                    ask(api, offered[name][ASKED[name][0]], ASKED[name][1])
                    for _round in range(2)
                    for (name, _url), api in clients.items()
                ]
                answers = await asyncio.gather(*jobs)
                for (name, _url), stream in zip([*clients] * 2, answers, strict=True):
                    assert re.search(r'"status": ?"completed"', stream), (name, stream[-500:])
                    assert ("Laws.md" in stream, "Desk.md" in stream) == (name == "lawyer", name == "caller"), name
                # Nobody gets another's assistant, in whichever process.
                for (name, _url), api in clients.items():
                    for other in set(ASKED) - {name}:
                        session = (await api.post("/chat/sessions", json={})).json()["session_id"]
                        body = {"question": "What is there?", "assistant": offered[other][ASKED[other][0]]}
                        refused = await api.post(f"/chat/sessions/{session}/content", json=body)
                        assert refused.status_code == 404, refused.text

"""Filling a site with years of data: people, knowledge, conversations, and rows for all other lists of the admin."""

import uuid
from datetime import timedelta
from random import Random

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, User
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task
from django_q.signing import SignedPackage
from pgvector import SparseVector

from conversations.models import (
    Assistant,
    AssistantVersion,
    MemoryFact,
    MemorySwitch,
    ModelProfile,
    PromptTemplate,
    Rehearsal,
    SavedPrompt,
    TokenCalibration,
)
from knowledge.models import Chunk, Document, Invitation, KnowledgeBase, Membership, Picture
from ragsite.language.analysis import TERM_DIMENSIONS
from ragsite.models import ApiToken, AuditEntry, Limit, SettingChange
from retrieval.embedding_models.models import RegisteredModel
from retrieval.engine import bm25
from retrieval.evaluation.models import EvaluationQuestion, EvaluationResult, EvaluationRun, EvaluationSet
from retrieval.models import CorpusSize, EmbeddingSpace, IndexEntry, TermFrequency, VectorCount
from retrieval.types import AnswerState
from tests.benchmarks.conversations.administration import talks
from tests.benchmarks.conversations.administration.texts import FREQUENT, RARE, Writer

CHUNKS_PER_DOCUMENT = 10
# Number of task results that django-q2 keeps (`save_limit`).
_TASKS = 500
_BATCH = 5000


def fill(messages: int) -> None:
    """Add about `messages` messages, and the other data in proportion, to an empty or already filled database."""
    seed = User.objects.count()
    random, writer = Random(seed), Writer(seed)
    people = _people(max(4, messages // 400))
    chunks = _knowledge(people, max(4, messages // 20), random, writer)
    talks.fill(people, chunks, messages, random, writer)
    _evaluation(people, max(4, messages // 5000), random, writer)
    _tasks(min(_TASKS, messages))
    _models(max(3, min(30, messages // 10)), writer)
    _assistants(people, max(4, min(30, messages // 10)), writer)
    Authenticator.objects.bulk_create(Authenticator(user=person, type="totp", data={}) for person in people)


def analyse() -> None:
    """Update the server's statistics, as autovacuum does some time after the tables were filled."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _assistants(people: list[User], count: int, writer: Writer) -> None:
    first = Assistant.objects.count()
    made = Assistant.objects.bulk_create(
        Assistant(name=f"Assistant {first + number}", description=writer.text(20, 80)) for number in range(count)
    )
    AssistantVersion.objects.bulk_create(
        AssistantVersion(assistant=assistant, number=number, configuration={"greeting": "Ask."}, user=people[0])
        for assistant in made
        for number in (1, 2)
    )
    Rehearsal.objects.bulk_create(
        Rehearsal(assistant=assistant, user=people[0], version=2, configuration={"greeting": "Ask me."})
        for assistant in made
    )
    SettingChange.objects.bulk_create(
        SettingChange(name="ANSWER_TOP_K", after=str(number), user=people[0], username=people[0].username)
        for number in range(count)
    )


def _people(count: int) -> list[User]:
    first = User.objects.count()
    people = User.objects.bulk_create(
        User(username=f"reader{number}", email=f"reader{number}@example.org", first_name="Kim", password="!")
        for number in range(first, first + count)
    )
    Group.objects.bulk_create(Group(name=f"Group {first + number}") for number in range(max(4, count // 20)))
    ApiToken.objects.bulk_create(
        ApiToken(user=person, name=f"Token of {person.username}", digest=f"{person.pk:064x}") for person in people
    )
    Limit.objects.bulk_create(Limit(user=person, questions_per_day=50) for person in people)
    AuditEntry.objects.bulk_create(
        AuditEntry(actor=person, actor_name=person.username, action="signed_in") for person in people
    )
    MemorySwitch.objects.bulk_create(MemorySwitch(user=person, enabled=True) for person in people)
    SavedPrompt.objects.bulk_create(SavedPrompt(title=f"Prompt {number}", text="How many?") for number in range(10))
    MemoryFact.objects.bulk_create(
        MemoryFact(user=person, content=f"Fact {number}") for person in people for number in range(10)
    )
    return people


def _knowledge(people: list[User], documents: int, random: Random, writer: Writer) -> list[Chunk]:
    bases = KnowledgeBase.objects.bulk_create(
        KnowledgeBase(owner=person, name=f"Base of {person.username}", description=writer.text(20, 200))
        for person in people[: max(4, len(people) // 2)]
    )
    Membership.objects.bulk_create(
        Membership(knowledge_base=base, user=people[-1 - number]) for number, base in enumerate(bases)
    )
    Invitation.objects.bulk_create(
        Invitation(made_by=base.owner, knowledge_base=base, digest=f"{base.pk:064x}", expires_at=timezone.now())
        for base in bases
    )
    made = Document.objects.bulk_create(_document(random, writer, bases, number) for number in range(documents))
    Picture.objects.bulk_create(
        [Picture(document=document, alt=writer.text(10, 60), width=640, height=480) for document in made[::2]]
    )
    chunks = Chunk.objects.bulk_create(
        [
            Chunk(document=document, ordinal=ordinal, content=writer.text(200, 900), heading_path=["Setup", "Ports"])
            for document in made
            for ordinal in range(CHUNKS_PER_DOCUMENT)
        ],
        batch_size=_BATCH,
    )
    _index(bases, chunks)
    return chunks


def _document(random: Random, writer: Writer, bases: list[KnowledgeBase], number: int) -> Document:
    failed = random.random() < 0.05
    return Document(
        knowledge_base=bases[number % len(bases)],
        original_filename=f"{'手册' if number % 3 else 'handbook'}-{number}.pdf",
        folder=f"guides/{number % 50}",
        title=writer.text(20, 60),
        media_type=random.choice(["application/pdf", "text/plain", "text/markdown"]),
        sha256=uuid.UUID(int=random.getrandbits(128)).hex * 2,
        size=random.randrange(1_000_000),
        status=Document.Status.FAILED if failed else Document.Status.READY,
        error_code="broken" if failed else "",
        error={"key": "broken"} if failed else {},
        language=random.choice(["en", "zh"]),
        pages=random.randrange(1, 400),
    )


def _index(bases: list[KnowledgeBase], chunks: list[Chunk]) -> None:
    # The terms of a few passages are enough: a list reads only the keys of an entry.
    some = [bm25.passage_weights(bm25.count_terms(chunk.content)) for chunk in chunks[:200]]
    IndexEntry.objects.bulk_create(
        (
            IndexEntry(
                chunk=chunk,
                document=chunk.document,
                knowledge_base_id=chunk.document.knowledge_base_id,
                terms=" ".join(f"'{chunk.document.knowledge_base_id}:{term}'" for term in some[number % len(some)]),
                weights=SparseVector(some[number % len(some)], TERM_DIMENSIONS),
            )
            for number, chunk in enumerate(chunks)
        ),
        batch_size=_BATCH,
    )
    TermFrequency.objects.bulk_create(
        (
            TermFrequency(knowledge_base=base, term=term, document_frequency=1 + term % 9)
            for base in bases
            for term in {term for weights in some[: max(1, len(chunks) // len(bases) // 20)] for term in weights}
        ),
        batch_size=_BATCH,
    )
    CorpusSize.objects.bulk_create(CorpusSize(knowledge_base=base, chunks=len(chunks) // len(bases)) for base in bases)


def _evaluation(people: list[User], sets: int, random: Random, writer: Writer) -> None:
    bases = list(KnowledgeBase.objects.filter(owner__in=people)[:sets])
    made = EvaluationSet.objects.bulk_create(
        EvaluationSet(owner=base.owner, knowledge_base=base, name=f"Set of {base.name}") for base in bases
    )
    questions = EvaluationQuestion.objects.bulk_create(
        EvaluationQuestion(evaluation_set=of, key=str(number), text=writer.text(20, 200), relevant=["handbook.pdf"])
        for of in made
        for number in range(100)
    )
    runs = EvaluationRun.objects.bulk_create(
        EvaluationRun(evaluation_set=of, started_by=of.owner, status="done", progress=100, question_count=100)
        for of in made
        for _number in range(4)
    )
    texts = [question.text for question in questions]
    EvaluationResult.objects.bulk_create(
        (
            EvaluationResult(
                run=run, key=str(number), text=random.choice(texts), ndcg_10=random.random(), recall_5=random.random(),
                recall_10=random.random(), mrr_10=random.random(), answer_state=random.choice(AnswerState.values),
            )
            for run in runs
            for number in range(100)
        ),
        batch_size=_BATCH,
    )  # fmt: skip


def _tasks(count: int) -> None:
    now = timezone.now()
    Task.objects.bulk_create(
        Task(
            id=uuid.uuid4().hex, name=f"task-{number}", func="knowledge.tasks.ingest", args=(number,),
            started=now - timedelta(minutes=number), stopped=now, success=number % 4 > 0,
            result=None if number % 4 else f"Traceback of {FREQUENT} {RARE}",
        )
        for number in range(count)
    )  # fmt: skip
    OrmQ.objects.bulk_create(
        # Locked like by a busy worker, so that no running worker takes it.
        OrmQ(
            key="ragsite",
            lock=now + timedelta(days=365),
            payload=SignedPackage.dumps({"id": uuid.uuid4().hex, "name": "waiting", "func": "f"}),
        )
        for _number in range(count)
    )
    Schedule.objects.bulk_create(
        Schedule(name=f"{uuid.uuid4().hex[:8]} {number}", func="conversations.tasks.clean_up", next_run=now)
        for number in range(min(30, count))
    )


def _models(count: int, writer: Writer) -> None:
    first = ModelProfile.objects.count()
    ModelProfile.objects.bulk_create(
        ModelProfile(purpose="chat", base_url="https://example.org/v1", model=f"model-{number}", enabled=False)
        for number in range(first, first + count)
    )
    TokenCalibration.objects.bulk_create(
        TokenCalibration(model=f"model-{number}") for number in range(first, first + count)
    )
    PromptTemplate.objects.bulk_create(
        PromptTemplate(
            purpose="chat", language="en", version=1000 + number, active=False, system=writer.text(500, 3000)
        )
        for number in range(first, first + count)
    )
    RegisteredModel.objects.bulk_create(
        RegisteredModel(name=f"added-{number}", source="files", state="ready") for number in range(first, first + 4)
    )
    spaces = EmbeddingSpace.objects.bulk_create(
        EmbeddingSpace(provider="openai", model=f"model-{number}", dimension=512) for number in range(first, first + 4)
    )
    VectorCount.objects.bulk_create(
        VectorCount(space=space, knowledge_base=base, vectors=100)
        for space in spaces
        for base in KnowledgeBase.objects.all()
    )

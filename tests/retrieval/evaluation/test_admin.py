"""Question sets and runs in the admin."""

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from knowledge.models import KnowledgeBase
from retrieval.evaluation import sets
from retrieval.evaluation.models import EvaluationResult, EvaluationRun, EvaluationSet
from tests import factories

pytestmark = pytest.mark.django_db

MODELS = ["evaluationset", "evaluationquestion", "evaluationrun", "evaluationresult"]


@pytest.fixture
def run(base: KnowledgeBase, owner: User) -> EvaluationRun:
    chunk = factories.make_chunk(factories.make_document(base, "Handbook.pdf"), "The warranty lasts two years.")
    golden = sets.create_set(owner, base, "Golden")
    sets.add_question(golden, "How long? <script>alert(1)</script>", [chunk.pk])
    figures = {"nDCG@10": 0.7124, "recall@5": 0.5, "recall@10": 1.0, "MRR@10": 0.25}
    made = EvaluationRun.objects.create(
        evaluation_set=golden, settings={"mode": "vector"}, status="done", figures=figures, question_count=1
    )
    EvaluationRun.objects.create(evaluation_set=golden, settings={"mode": "hybrid"}, status="failed", error="Why.")
    EvaluationResult.objects.create(
        run=made, key="a", text="How long? <script>alert(1)</script>",
        ndcg_10=0.5, recall_5=0.5, recall_10=0.5, mrr_10=0.5, hits=[{"chunk_id": chunk.pk}],
    )  # fmt: skip
    return made


def listing(model: str) -> str:
    return reverse(f"admin:retrieval_{model}_changelist")


def change(item: Model) -> str:
    return reverse(f"admin:retrieval_{item._meta.model_name}_change", args=[item.pk])


@pytest.mark.parametrize("model", MODELS)
def test_everything_is_listed_searched_filtered_and_shown(run: EvaluationRun, as_staff: Client, model: str) -> None:
    listed = as_staff.get(listing(model))
    assert listed.status_code == 200 and listed.context["cl"].result_count >= 1
    assert as_staff.get(listing(model), {"q": "no such words"}).context["cl"].result_count == 0
    for spec in listed.context["cl"].filter_specs:
        for choice in spec.choices(listed.context["cl"]):
            assert as_staff.get(listing(model) + choice["query_string"]).status_code == 200
    for item in listed.context["cl"].result_list:
        page = as_staff.get(change(item))
        assert page.status_code == 200 and b"<script>alert(1)" not in page.content


def test_runs_show_settings_and_figures(run: EvaluationRun, as_staff: Client) -> None:
    page = as_staff.get(listing("evaluationrun")).content.decode()
    assert "by meaning" in page and "0.712" in page and "0.250" in page
    assert "0.7124" in as_staff.get(change(run)).content.decode()


def test_a_run_shows_outcomes_and_tokens(run: EvaluationRun, as_staff: Client) -> None:
    run.answer_states = {"nothing": 2, "answered": 5}
    run.usage = {"prompt_tokens": 2000, "completion_tokens": 300}
    run.save()
    page = as_staff.get(reverse("admin:retrieval_evaluationrun_change", args=[run.pk])).content.decode()
    assert "Answered: 5 · Nothing found: 2" in page and "2,000 read, 300 written" in page


def test_numbers_are_rounded(run: EvaluationRun, as_staff: Client) -> None:
    long = 0.123456789012345
    EvaluationRun.objects.filter(pk=run.pk).update(figures=dict.fromkeys(run.figures, long))
    result = run.results.get()
    result.ndcg_10, result.hits = long, [{"score": long, "chunk_id": 7}]
    result.save()
    for item in (result, run, run.evaluation_set):
        page = as_staff.get(change(item)).content.decode()
        assert ("0.123<" if item == run.evaluation_set else "0.1235") in page and "0.12345" not in page, item
    assert "&quot;score&quot;: 0.1235" in as_staff.get(change(result)).content.decode()


def test_links_lead_to_questions_and_results(run: EvaluationRun, as_staff: Client) -> None:
    for item, model, field in (
        (run.evaluation_set, "evaluationquestion", "evaluation_set__id__exact"),
        (run, "evaluationresult", "run__id__exact"),
    ):
        url = f"{listing(model)}?{field}={item.pk}"
        assert url in as_staff.get(change(item)).content.decode()
        assert as_staff.get(url).context["cl"].result_count == 1
        assert as_staff.get(f"{listing(model)}?{field}={item.pk + 99}").context["cl"].result_count == 0


def test_sets_are_renamed_and_deleted_and_records_are_not(run: EvaluationRun, as_staff: Client) -> None:
    golden = run.evaluation_set
    renamed = as_staff.post(change(golden), {"name": "Silver", "runs-TOTAL_FORMS": 0, "runs-INITIAL_FORMS": 0})
    assert renamed.status_code == 302
    golden.refresh_from_db()
    assert golden.name == "Silver"
    assert as_staff.post(change(run), {"status": "done"}).status_code == 403
    for item in (run, golden.questions.get(), run.results.get()):
        assert as_staff.post(change(item).replace("change", "delete"), {"post": "yes"}).status_code == 403
    assert as_staff.post(change(golden).replace("change", "delete"), {"post": "yes"}).status_code == 302
    assert not EvaluationSet.objects.exists() and not EvaluationRun.objects.exists()

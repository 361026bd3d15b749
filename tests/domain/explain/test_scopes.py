"""The scopes and amounts of findings: each is about the job or its pool, and counts tasks or nodes."""

import pytest

from shared.domain.explain.evidence import Evidence
from shared.domain.explain.explanation import explain
from shared.domain.findings.finding import Amount, Scope
from shared.domain.jobs.observations import Preparation, RetriedTask
from shared.domain.pools.pool_facts import Size
from tests.domain.explain.made_evidence import BUSY, HELD, IDLE, LOST, QUOTA, evidence
from tests.domain.explain.test_explanation import CASES

ABOUT_JOBS = {
    "autoPoolFailed", "jobNotStarted", "jobDeleted", "jobExpired", "jobCompleted", "jobTerminating", "jobDeleting",
    "jobDisabled", "jobEnabling", "dependenciesFailed", "dependencyCycle", "dependenciesUnsatisfied",
    "taskNeedsMoreSlots", "maxParallelTasks", "preparationFailed", "tasksRetriedForEver", "noTasks",
    "allTasksCompleted", "tasksOutOfMemory", "tasksPreempted",
}  # fmt: skip
QUOTA_REACHED = {"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}


@pytest.mark.parametrize("case", CASES)
def test_a_finding_is_about_the_job_or_its_pool(case: str) -> None:
    for finding in explain(CASES[case][0]).findings:
        is_of_job = finding.rule in ABOUT_JOBS
        assert finding.scope == (Scope("job", "job") if is_of_job else Scope("pool", "pool")), finding.rule


@pytest.mark.parametrize(
    ("found", "rule", "amount"),
    [
        (evidence(LOST, LOST, BUSY), "nodesUnusable", Amount(2, "nodes")),
        (evidence(pool_changes=QUOTA_REACHED), "resizeFailed", Amount(3, "nodes")),
        (evidence(BUSY, dependencies=HELD), "dependenciesFailed", Amount(10, "tasks")),
        (evidence(BUSY, retried=RetriedTask("bad", 57, 2)), "tasksRetriedForEver", Amount(3, "tasks")),
        (evidence(IDLE, preparation=Preparation(1, 0, frozenset({"idle"}))), "preparationFailed", Amount(1, "nodes")),
        (evidence(BUSY), "slotsBusy", None),
    ],
)
def test_a_finding_counts_the_tasks_or_nodes_that_it_concerns(
    found: Evidence, rule: str, amount: Amount | None
) -> None:
    finding = next(finding for finding in explain(found).findings if finding.rule == rule)
    assert finding.amount == amount

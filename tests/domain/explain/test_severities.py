"""Severities keep their meaning for any evidence."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.explain.evidence import Evidence
from shared.domain.explain.explanation import AT_REST, OF_JOB, ON_THE_WAY, explain
from shared.domain.findings.finding import Finding
from shared.domain.jobs.job_rules import JobRules
from shared.domain.pools.pool_facts import Size
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import (
    BUSY,
    COMING,
    FAILED,
    GONE,
    HELD,
    IDLE,
    JOB,
    LOST,
    OLDER,
    OLDEST_FIRST,
    PREEMPTED,
    QUOTA,
    REPORTED,
    SCALE_ERROR,
    SHUT,
    URGENT,
    evidence,
)

LASTING = {
    "jobDisabled", "jobCompleted", "dependenciesFailed", "poolDeleting", "poolTargetZero", "autoScaleFailed",
}  # fmt: skip
EVIDENCE = st.builds(
    evidence,
    *[st.sampled_from([IDLE, BUSY, FAILED, LOST, GONE, SHUT, COMING])] * 2,
    counts=st.builds(TaskCounts, active=st.integers(0, 2), running=st.integers(0, 2), completed=st.integers(0, 1)),
    job=st.sampled_from([JOB, replace(JOB, state="disabled"), replace(JOB, state="completed")]),
    rules=st.builds(JobRules, st.sampled_from([None, 1, 2]), allows_preemption=st.booleans()),
    competing_jobs=st.sampled_from([(), (URGENT,), (OLDER,), (URGENT, OLDER)]),
    dependencies=st.sampled_from([None, HELD, replace(HELD, whole=False)]),
    requeues=st.sampled_from([None, (), PREEMPTED]),
    node_events=st.sampled_from([None, (), REPORTED]),
    pool_changes=st.fixed_dictionaries({
        "dedicated": st.builds(Size, st.integers(0, 2), st.sampled_from([None, 0, 2])),
        "resize_errors": st.sampled_from([(), (QUOTA,)]),
        "auto_scale": st.sampled_from([None, SCALE_ERROR]),
        "allocation_state": st.sampled_from(["steady", "resizing"]),
        "state": st.sampled_from(["active", "deleting"]),
        "settings": st.sampled_from([None, OLDEST_FIRST]),
    }),
)  # fmt: skip


@given(EVIDENCE)
def test_severities_always_keep_their_meaning(found: Evidence) -> None:
    answer = explain(found)
    ranks = [("blocking", "limiting", "info").index(finding.severity) for finding in answer.findings]
    assert ranks == sorted(ranks)
    codes = [finding.rule for finding in answer.findings]
    if found.running_tasks and 0 in ranks:
        assert codes[0] in LASTING
    assert ranks.count(0) <= 1
    if not found.waiting_tasks:
        assert set(ranks) <= {2}
    assert len(set(codes)) == len(codes)
    assert answer.running == (found.running_tasks > 0)
    if found.waiting_tasks and found.pool and found.pool.facts.state == "active":
        assert answer.findings
    assert explain(found) == answer


def test_every_rule_is_silent_about_a_job_that_runs_and_has_nothing_waiting() -> None:
    found = evidence(BUSY, LOST, GONE, counts=TaskCounts(running=3))
    assert [rule(found) for rule in (*OF_JOB, *AT_REST)] == [None] * (len(OF_JOB) + len(AT_REST))
    assert all(rule(found) is None or _is_info(rule(found)) for rule in ON_THE_WAY)


def _is_info(finding: Finding | None) -> bool:
    return finding is not None and finding.severity == "info"

"""The JSON of findings, as literals: names of properties, their order, and the units of figures."""

from dataclasses import replace
from datetime import timedelta

import msgspec

from functions.api.jobs.explanation import finding_answer
from shared.domain.explain.explanation import explain
from shared.domain.jobs.job_rules import JobRules
from shared.domain.pools.pool_settings import AutoScale, Problem
from tests.domain.explain.made_evidence import JOB, NOW, evidence


def test_a_finding_about_a_pool_names_it_first_in_its_evidence() -> None:
    formula = "$TargetDedicatedNodes = 0;"
    scale = AutoScale(formula, "PT5M", NOW, "$TargetDedicatedNodes=0", Problem("InsufficientSampleData", "No samples."))
    (finding,) = explain(evidence(pool_changes={"auto_scale": scale})).findings
    assert msgspec.to_builtins(finding_answer(finding)) == {
        "code": "autoScaleFailed",
        "severity": "blocking",
        "title": "The pool's autoscale formula can't be evaluated",
        "detail": "The last evaluation failed with InsufficientSampleData: No samples. So the pool 'pool' keeps its "
        "target of 2 nodes.",
        "evidence": {
            "poolId": "pool",
            "code": "InsufficientSampleData",
            "message": "No samples.",
            "nodes": 2,
            "target": 2,
            "autoScale": True,
            "evaluatedAt": "2026-11-21T12:00:00Z",
            "results": "$TargetDedicatedNodes=0",
            "formulaVariables": [],
            "formulaLines": ["1: $TargetDedicatedNodes = 0;"],
        },
        "advice": "Correct the formula; Batch evaluates one without enabling it (az batch pool autoscale evaluate). "
        "Batch refuses to resize a pool that has a formula. Its last evaluation gave $TargetDedicatedNodes=0. What "
        "decides is line 1, '$TargetDedicatedNodes = 0;'.",
        "since": "2026-11-21T12:00:00Z",
    }


def test_durations_in_evidence_are_seconds() -> None:
    limited = replace(evidence(), rules=JobRules(max_wall_clock_time=timedelta(minutes=1)))
    (finding,) = explain(limited).findings
    answer = finding_answer(finding)
    assert list(answer.evidence.items()) == [
        ("maxWallClockTime", 60.0), ("startTime", "2026-11-21T11:00:00Z"), ("waitingTasks", 10),
    ]  # fmt: skip


def test_a_job_without_a_pool_names_none() -> None:
    nowhere = evidence(job=replace(JOB, pool_id=None), pool=None, pool_gone=True)
    (finding,) = explain(nowhere).findings
    assert finding_answer(finding).evidence == {"poolId": None}

"""Tasks of a job wait, and none of its tasks has started or ended for a while."""

from collections.abc import Iterator
from datetime import datetime

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.core.amounts import are
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.findings.thresholds import STUCK_AFTER
from shared.domain.jobs.jobs import ENDING
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.verdicts import in_words
from shared.domain.reports.reports import JobReport

JOB_STUCK = "jobStuck"


def stuck(e: AccountEvidence) -> Iterator[Outcome]:
    for report in e.jobs:
        snapshot = report.job.snapshot
        if snapshot is None or report.job.deleted or report.job.facts.state in ENDING:
            continue
        if snapshot.counts.active and not snapshot.counts.running + snapshot.counts.preparing:
            due = snapshot.moved_at + STUCK_AFTER
            yield Outcome(_finding(report, snapshot, e.now) if e.now >= due else None, due if e.now < due else None)


def _finding(report: JobReport, snapshot: JobSnapshot, now: datetime) -> Finding:
    facts, waiting = report.job.facts, snapshot.counts.active
    cause = report.waiting.cause if report.waiting else None
    return Finding(
        rule=JOB_STUCK,
        scope=Scope("job", facts.id),
        severity="blocking",
        title=f"The job '{facts.id}' is stuck",
        sentence=f"{are(waiting, 'task')} waiting, none is running, and none has moved for"
        f" {in_words(now - snapshot.moved_at)}.",
        advice="Its explanation says why, and who can change that.",
        evidence={
            "waitingTasks": waiting, "cause": cause, "poolId": facts.pool_id, "state": facts.state,
            "movedAt": snapshot.moved_at, "asOf": report.verdict.as_of,
        },
        since=snapshot.moved_at,
        amount=Amount(waiting, "tasks"),
    )  # fmt: skip

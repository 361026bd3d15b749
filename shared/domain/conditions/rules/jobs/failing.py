"""Tasks of a job fail, and more often than in earlier runs of the same job schedule."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.core.amounts import amount
from shared.domain.core.keys import key_of
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.findings.thresholds import (
    FAILING_RATIO,
    MAX_EARLIER_RUNS,
    MIN_ENDED_OF_FAILING_JOB,
    MIN_FAILED_SHARE,
)
from shared.domain.jobs.jobs import ENDING
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import TaskCounts

JOB_FAILING = "jobFailing"


def failing(e: AccountEvidence) -> Iterator[Outcome]:
    earlier = _by_schedule(e.jobs)
    for report in e.jobs:
        facts, snapshot = report.job.facts, report.job.snapshot
        if snapshot is None or report.job.deleted or facts.state in ENDING:
            continue
        share, usual = _failed_share(snapshot.counts), _usual_share(report, earlier)
        if share is None or share < max(MIN_FAILED_SHARE, FAILING_RATIO * (usual or 0.0)):
            continue
        failed, ended = snapshot.counts.failed, snapshot.counts.completed
        before = "" if usual is None else f" In earlier runs of its schedule, {usual:.0%} did."
        yield Outcome(
            Finding(
                rule=JOB_FAILING,
                scope=Scope("job", facts.id),
                severity="blocking" if failed == ended else "limiting",
                title=f"{share:.0%} of the tasks of '{facts.id}' fail",
                sentence=f"{failed:,} of {amount(ended, 'ended task')} failed.{before}",
                advice="See by which causes, what they wrote last, and what sets them apart, on the job's page.",
                evidence={
                    "failedTasks": failed,
                    "endedTasks": ended,
                    "usualShare": usual,
                    "asOf": report.verdict.as_of,
                },
                amount=Amount(failed, "tasks"),
            )
        )


def _failed_share(counts: TaskCounts) -> float | None:
    """Returns the failed part of ended tasks, None with too few of them."""
    return counts.failed / counts.completed if counts.completed >= MIN_ENDED_OF_FAILING_JOB else None


def _by_schedule(jobs: Sequence[JobReport]) -> dict[str, list[JobReport]]:
    """Returns the jobs of each job schedule, by its key, the latest first."""
    found = defaultdict[str, list[JobReport]](list)
    for report in sorted(jobs, key=lambda one: one.job.facts.creation_time, reverse=True):
        if report.job.facts.schedule_id:
            found[key_of(report.job.facts.schedule_id)].append(report)
    return found


def _usual_share(report: JobReport, runs: dict[str, list[JobReport]]) -> float | None:
    """Returns the median of the failed part in earlier runs of the same job schedule, None without any."""
    facts = report.job.facts
    if not facts.schedule_id:
        return None
    earlier = [one.job for one in runs[key_of(facts.schedule_id)] if one.job.facts.creation_time < facts.creation_time]
    shares = [_failed_share(one.snapshot.counts) for one in earlier[:MAX_EARLIER_RUNS] if one.snapshot]
    known = [share for share in shares if share is not None]
    return median(known) if known else None

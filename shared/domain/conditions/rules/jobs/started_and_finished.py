"""A job has started, or has finished: events, not states."""

from collections.abc import Iterator
from datetime import datetime

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.core.amounts import amount
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.findings.thresholds import EVENT_IS_NEWS
from shared.domain.jobs.verdicts import in_words
from shared.domain.reports.reports import JobReport

JOB_STARTED, JOB_FINISHED = "jobStarted", "jobFinished"


def started(e: AccountEvidence) -> Iterator[Outcome]:
    for report in e.jobs:
        facts = report.job.facts
        if facts.start_time and e.now - facts.start_time < EVENT_IS_NEWS:
            where = f" on the pool '{facts.pool_id}'" if facts.pool_id else ""
            title = f"The job '{facts.id}' started"
            yield _event(report, JOB_STARTED, title, f"It started{where}.", facts.start_time)


def finished(e: AccountEvidence) -> Iterator[Outcome]:
    """Yields jobs that completed and were read to their end, as the counts before that aren't the last ones."""
    for report in e.jobs:
        facts, snapshot = report.job.facts, report.job.snapshot
        if facts.end_time is None or e.now - facts.end_time >= EVENT_IS_NEWS:
            continue
        if snapshot is None or not report.job.finalized:
            continue
        counts, reason = snapshot.counts, f" ({facts.terminate_reason})" if facts.terminate_reason else ""
        took = f" after {in_words(facts.end_time - facts.start_time)}" if facts.start_time else ""
        left = f" {amount(counts.active, 'task')} had not run." if counts.active else ""
        sentence = f"It ended{took}{reason}: {counts.succeeded:,} of {amount(counts.total, 'task')} succeeded,"
        yield _event(
            report,
            JOB_FINISHED,
            f"The job '{facts.id}' finished",
            f"{sentence} {counts.failed:,} failed.{left}",
            facts.end_time,
        )


def _event(report: JobReport, rule: str, title: str, sentence: str, at: datetime) -> Outcome:
    facts, snapshot = report.job.facts, report.job.snapshot
    failed = snapshot.counts.failed if snapshot else 0
    finding = Finding(
        rule=rule,
        scope=Scope("job", facts.id),
        severity="info",
        title=title,
        sentence=sentence,
        advice="See the job's page.",
        evidence={"poolId": facts.pool_id, "failedTasks": failed, "asOf": report.verdict.as_of},
        since=at,
        amount=Amount(failed, "tasks") if failed else None,
    )
    return Outcome(finding, at=at)

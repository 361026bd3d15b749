"""A job schedule's run was due, and has made no job."""

from collections.abc import Iterator

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.findings.finding import Finding, Scope
from shared.domain.findings.thresholds import RUN_IS_LATE
from shared.domain.jobs.verdicts import in_words

SCHEDULE_RUN_LATE = "scheduleRunLate"


def run_late(e: AccountEvidence) -> Iterator[Outcome]:
    for report in e.schedules:
        facts, as_of = report.schedule.facts, report.verdict.as_of
        due = facts.next_run_time
        if report.schedule.deleted or facts.state != "active" or due is None or as_of is None:
            continue
        if as_of < due + RUN_IS_LATE:
            yield Outcome(None, due + RUN_IS_LATE)
            continue
        recent = f" Its most recent job is '{facts.recent_job}'." if facts.recent_job else ""
        finding = Finding(
            rule=SCHEDULE_RUN_LATE,
            scope=Scope("schedule", facts.id),
            severity="limiting",
            title=f"A run of '{facts.id}' didn't start",
            sentence=f"A job was due {in_words(as_of - due)} ago, and there is none.{recent}",
            advice="A schedule makes no job while its last one runs, or beyond the quota of active jobs and schedules.",
            evidence={"nextRunTime": due, "recentJob": facts.recent_job, "asOf": as_of},
            since=due,
        )
        yield Outcome(finding)

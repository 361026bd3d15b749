"""An account with jobs, pools and job schedules as rules of conditions see them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from shared.domain.accounts.accounts import Account
from shared.domain.accounts.monitoring import Monitoring
from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import ConditionRule, Outcome
from shared.domain.conditions.rules.all_rules import RULES
from shared.domain.findings.finding import Finding
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.verdicts import Verdict
from shared.domain.jobs.waiting_causes import WaitingCause
from shared.domain.nodes.nodes import NodeSummary
from shared.domain.polling.rounds import Round
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import NodesSnapshot, Pool
from shared.domain.reports.reports import JobReport, MonitoringReport, PoolReport
from shared.domain.reports.schedule_reports import ScheduleReport, report_of
from shared.domain.schedules.schedules import Recurrence, ScheduleFacts, first_seen
from shared.domain.tasks.tasks import TaskCounts

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
ACCOUNT = Account("demo", "demo", "demo", None, "http://127.0.0.1:1")
WATCH = MonitoringReport(Monitoring(), MINUTE)


def account(**more: Any) -> AccountEvidence:
    return AccountEvidence(**{"now": NOW, "account": ACCOUNT, "watch": WATCH, "last": a_round(), **more})


def a_round(as_of: datetime = NOW, **more: Any) -> Round:
    return Round(as_of, as_of=as_of, finished_at=as_of, jobs_as_of=as_of, **more)


def a_job(
    name: str = "job", counts: TaskCounts | None = None, moved: datetime = NOW, *, level: Any = "exact", **more: Any
) -> JobReport:
    own = {field: more.pop(field) for field in ("finalized", "deleted_at", "waiting") if field in more}
    facts = JobFacts(**{
        "id": name, "creation_time": NOW - DAY, "state": "active", "state_transition_time": NOW - DAY,
        "start_time": NOW - DAY, "pool_id": "pool", **more,
    })  # fmt: skip
    snapshot = JobSnapshot("g", NOW, "delta", counts, NOW, moved, NOW) if counts else None
    waiting: WaitingCause | None = own.pop("waiting", None)
    return JobReport(ACCOUNT, Job(facts, snapshot, **own), Verdict(NOW, "delta", level, "."), waiting=waiting)


def a_pool(
    nodes: dict[str, int], *, level: Any = "exact", errors: Any = (), snapshot: Any = (), **more: Any
) -> PoolReport:
    facts = PoolFacts(**{
        "id": "pool", "creation_time": NOW - DAY, "state": "active", "state_transition_time": NOW - DAY,
        "vm_size": "standard_d4s_v5", **more,
    })  # fmt: skip
    summary = NodeSummary(tuple((state, True, number) for state, number in sorted(nodes.items())))
    found = NodesSnapshot(NOW, NOW, "delta", summary, "", **dict(snapshot))
    return PoolReport(ACCOUNT, Pool(facts, NOW, errors, found), Verdict(NOW, "delta", level, "."), NOW)


def a_schedule(due: datetime | None, as_of: datetime = NOW, **more: Any) -> ScheduleReport:
    facts = ScheduleFacts(**{
        "id": "nightly", "creation_time": NOW - DAY, "last_modified": NOW - DAY, "state": "active",
        "state_transition_time": NOW - DAY, "recurrence": Recurrence(interval="PT1H"), "next_run_time": due, **more,
    })  # fmt: skip
    return report_of(ACCOUNT, first_seen(facts, NOW - DAY), Verdict(as_of, "fullRead", "exact", "."), ())


def rule_of(name: str) -> ConditionRule:
    return next(rule for rule in RULES if rule.name == name)


def outcomes(name: str, **more: Any) -> list[Outcome]:
    return list(rule_of(name).outcomes(account(**more)))


def findings(name: str, **more: Any) -> list[Finding]:
    return [one.finding for one in outcomes(name, **more) if one.finding]


def titles(name: str, **more: Any) -> list[str]:
    return [finding.title for finding in findings(name, **more)]

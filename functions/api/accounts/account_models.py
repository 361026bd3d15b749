"""The JSON of accounts and its conversion from service results. Times are ISO 8601 in UTC."""

from datetime import UTC, datetime
from typing import Literal

from functions.api.jobs.job_models import MonitoringAnswer, TaskCountsAnswer, counts_answer, monitoring_answer
from functions.api.pools.pool_models import CoresAnswer, SlotsAnswer
from functions.http.answers import Answer
from shared.domain.polling.rounds import Round
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.pools.pool_totals import PoolTotals
from shared.domain.reports.reports import AccountReport


class RoundAnswer(Answer):
    """The last poll of an account's jobs; `asOf` is the date of the last complete job list."""

    as_of: datetime | None
    started_at: datetime
    finished_at: datetime
    outcome: Literal["succeeded", "failed"]
    reason: str | None
    jobs_polled: int
    jobs_failed: int
    batch_calls: int


class AccountPoolsAnswer(Answer):
    """Pools by state; node figures are as of `asOf` or later and exclude the `notRead` pools with unread nodes."""

    total: int
    by_state: dict[str, int]
    not_read: int
    as_of: datetime | None


class AccountSchedulesAnswer(Answer):
    """Job schedules by state, as of the last list."""

    total: int
    by_state: dict[str, int]
    as_of: datetime


class AccountAnswer(Answer):
    """A watched Batch account: `jobs` counts jobs by state, `enabled` and `pollSeconds` are monitoring settings.

    `pools`, `nodeCounts`, `slots` and `cores` are sums over its pools, null until pools were listed and nodes were
    read. `cores` covers nodes with a known VM size; `unknownCores` is the number of other nodes. `schedules` is null
    until job schedules were first listed. `poolsReason` and `schedulesReason` explain the failure of the last poll of
    pools or schedules, null if it succeeded.
    """

    id: str
    name: str
    region: str | None
    endpoint: str
    enabled: bool
    poll_seconds: float
    monitoring: MonitoringAnswer
    jobs: dict[str, int]
    task_counts: TaskCountsAnswer
    pools: AccountPoolsAnswer | None
    pools_reason: str | None
    node_counts: dict[str, int] | None
    slots: SlotsAnswer | None
    cores: CoresAnswer | None
    unknown_cores: int | None
    schedules: AccountSchedulesAnswer | None
    schedules_reason: str | None
    last_round: RoundAnswer | None


def account_answer(report: AccountReport) -> AccountAnswer:
    account, pools = report.account, report.pools
    totals = pools if pools and pools.knows_nodes else None
    return AccountAnswer(
        id=account.id,
        name=account.name,
        region=account.region,
        endpoint=account.endpoint,
        enabled=report.watch.monitoring.enabled,
        poll_seconds=report.watch.interval.total_seconds(),
        monitoring=monitoring_answer(report.watch),
        jobs=dict(sorted(report.jobs.items())),
        task_counts=counts_answer(report.task_counts),
        pools=_pools_answer(pools) if pools else None,
        pools_reason=report.pools_problem,
        node_counts=dict(totals.nodes) if totals else None,
        slots=SlotsAnswer(total=totals.slots, used=totals.used, free=totals.free) if totals else None,
        cores=CoresAnswer(total=totals.cores.total, busy=totals.cores.busy) if totals and totals.cores else None,
        unknown_cores=totals.unknown_cores if totals else None,
        schedules=_schedules_answer(report.schedules) if report.schedules else None,
        schedules_reason=report.schedules.problem if report.schedules else None,
        last_round=_round_answer(report.last_round) if report.last_round else None,
    )


def _pools_answer(totals: PoolTotals) -> AccountPoolsAnswer:
    return AccountPoolsAnswer(
        total=totals.pools, by_state=dict(totals.states), not_read=totals.unread, as_of=_time(totals.as_of)
    )


def _schedules_answer(last: ScheduleRound) -> AccountSchedulesAnswer | None:
    if last.as_of is None:
        return None
    states = dict(sorted(last.states.items()))
    return AccountSchedulesAnswer(total=sum(states.values()), by_state=states, as_of=last.as_of.astimezone(UTC))


def _round_answer(last: Round) -> RoundAnswer:
    return RoundAnswer(
        as_of=_time(last.jobs_as_of),
        started_at=last.started_at.astimezone(UTC),
        finished_at=last.finished_at.astimezone(UTC),
        outcome="succeeded" if last.succeeded else "failed",
        reason=last.reason,
        jobs_polled=last.jobs_polled,
        jobs_failed=last.jobs_failed,
        batch_calls=last.batch_calls,
    )


def _time(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None

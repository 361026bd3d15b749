"""GET accounts, GET accounts/{account}: watched accounts with totals of their jobs, pools and schedules."""

from datetime import datetime
from typing import Literal

from functions.api.accounts.monitoring import MonitoringAnswer, monitoring_answer
from functions.api.endpoints import ACCOUNT
from functions.api.jobs.job_models import TaskCountersAnswer, TaskCountsAnswer, seconds_of
from functions.api.pools.pool_models import CoresAnswer, SlotsAnswer
from functions.http.answers import Answer
from functions.http.handling import Page, Query, RouteRequest, Routes
from functions.http.rendering import LOOKS
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
    pools or schedules, null if it succeeded. `failedTasks` counts failed tasks by category, `taskCounters` are sums
    over all jobs that there ever were. `waitingTasks` counts waiting tasks, and `waitedSeconds` their time, by cause;
    the oldest of these causes was found at `waitingTasksAsOf`, null where none was found so far.
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
    failed_tasks: dict[str, int]
    waiting_tasks: dict[str, int]
    waiting_tasks_as_of: datetime | None
    waited_seconds: dict[str, float]
    task_counters: TaskCountersAnswer
    pools: AccountPoolsAnswer | None
    pools_reason: str | None
    node_counts: dict[str, int] | None
    slots: SlotsAnswer | None
    cores: CoresAnswer | None
    unknown_cores: int | None
    schedules: AccountSchedulesAnswer | None
    schedules_reason: str | None
    last_round: RoundAnswer | None


def add_accounts(routes: Routes) -> None:
    @routes.route("GET", "accounts", returns=Page[AccountAnswer], cacheable=True, looks=LOOKS)
    async def list_accounts(call: RouteRequest[Query, None]) -> Page[AccountAnswer]:
        """Lists the watched accounts that the caller may read, with jobs and tasks by state and totals of pools."""
        services = await call.services()
        accounts = [account_answer(report) for report in await services.queries.accounts(call.readable)]
        return Page(value=accounts, count=len(accounts))

    @routes.route("GET", ACCOUNT, returns=AccountAnswer, cacheable=True, looks=LOOKS)
    async def get_account(call: RouteRequest[Query, None]) -> AccountAnswer:
        """Returns one watched account."""
        services = await call.services()
        return account_answer(await services.queries.account(call.path["account"]))


def account_answer(report: AccountReport) -> AccountAnswer:
    pools, schedules, last = report.pools, report.schedules, report.last_round
    totals = pools if pools and pools.knows_nodes else None
    monitoring, tasks = monitoring_answer(report.watch), report.tasks.all
    return AccountAnswer.of(
        report.account,
        enabled=monitoring.enabled,
        poll_seconds=monitoring.poll_seconds,
        monitoring=monitoring,
        jobs=dict(sorted(report.jobs.items())),
        task_counts=TaskCountsAnswer.of(report.task_counts),
        failed_tasks=dict(tasks.failed),
        waiting_tasks=dict(tasks.waiting),
        waiting_tasks_as_of=tasks.explained_at,
        waited_seconds=seconds_of(tasks.waited),
        task_counters=TaskCountersAnswer.of(tasks.counters),
        pools=_pools_answer(pools) if pools else None,
        pools_reason=report.pools_problem,
        node_counts=dict(totals.nodes) if totals else None,
        slots=SlotsAnswer.of(totals, total=totals.slots) if totals else None,
        cores=CoresAnswer.of(totals.cores) if totals and totals.cores else None,
        unknown_cores=totals.unknown_cores if totals else None,
        schedules=_schedules_answer(schedules) if schedules else None,
        schedules_reason=schedules.problem if schedules else None,
        last_round=_round_answer(last) if last else None,
    )


def _pools_answer(totals: PoolTotals) -> AccountPoolsAnswer:
    return AccountPoolsAnswer.of(totals, total=totals.pools, by_state=dict(totals.states), not_read=totals.unread)


def _schedules_answer(last: ScheduleRound) -> AccountSchedulesAnswer | None:
    states = dict(sorted(last.states.items()))
    return AccountSchedulesAnswer.of(last, total=sum(states.values()), by_state=states) if last.as_of else None


def _round_answer(last: Round) -> RoundAnswer:
    outcome = "succeeded" if last.succeeded else "failed"
    return RoundAnswer.of(last, as_of=last.jobs_as_of, outcome=outcome)

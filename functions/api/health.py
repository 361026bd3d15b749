"""GET health: is the app configured, does it reach its storage, and how old is the last good poll? Anonymous.

Strangers get the status and the age; the problems in words go to whoever may read the rest of the API. However often
it is asked, storage is asked only every few seconds, and so it is while storage fails.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Literal

from msgspec.structs import replace

from functions.answers import Answer
from functions.http import Call, Query, Reply, Routes
from functions.identity import may
from shared.domain.pool_rounds import PoolRound
from shared.domain.reports import AccountReport
from shared.domain.schedule_rounds import ScheduleRound
from shared.domain.sweeps import IngestionReport, LaneSweep
from shared.errors import BatchscopeError
from shared.stores.time_limit import answered_within

_LATE, _PATIENCE = timedelta(minutes=2), timedelta(seconds=2.7)
_KEPT_SECONDS = 5.0


class HealthAnswer(Answer):
    """`degraded`: accounts can't be polled, or events or telemetry don't come in; `unhealthy`: nothing can be served.

    `lastPollAgeSeconds` is the time since Batch last listed the jobs of an account, the oldest of all accounts that are
    watched and were ever listed; a poll that failed doesn't count.
    """

    status: Literal["healthy", "degraded", "unhealthy"]
    last_poll_age_seconds: float | None
    problems: list[str]


def add_health(routes: Routes) -> None:
    kept = _Kept()

    @routes.route("GET", "health", returns=HealthAnswer, statuses=(200, 503), anonymous=True)
    async def get_health(call: Call[Query, None]) -> Reply:
        """Liveness, with the age of the last good poll and what is wrong."""
        return _reply(call, await kept.health(call))


class _Kept:
    """The last answer, for some seconds of real time; callers who come meanwhile wait for the one that is asking."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._last: tuple[float, HealthAnswer] | None = None

    async def health(self, call: Call[Query, None]) -> HealthAnswer:
        async with self._turn:
            time = asyncio.get_running_loop().time
            # Where time is stepped, real seconds say nothing of it.
            if self._last is None or time() >= self._last[0] + _KEPT_SECONDS or call.runtime.settings.clock_url:
                health = _warned(await _asked(call), call.runtime.settings.warnings)
                self._last = time(), health
            return self._last[1]


async def _asked(call: Call[Query, None]) -> HealthAnswer:
    """What settings and storage say now."""
    problems = call.runtime.settings.problems
    if problems:
        return HealthAnswer(status="unhealthy", last_poll_age_seconds=None, problems=list(problems))
    try:
        async with answered_within(_PATIENCE):
            services = await call.runtime.services()
            reports, pools, schedules, ingestion, unread, now = await asyncio.gather(
                services.queries.accounts(),
                services.pools.last_rounds(),
                services.schedules.last_rounds(),
                services.events.all_ingestion(),
                services.events.unread_telemetry(),
                services.clock.now(),
            )
        return health_of(reports, pools, now, schedules=schedules, ingestion=ingestion, unread=unread)
    except TimeoutError as error:
        return HealthAnswer(
            status="unhealthy",
            last_poll_age_seconds=None,
            problems=[f"Table Storage, or the sign-in to it, didn't answer all that health asks: {error}."],
        )
    except BatchscopeError as error:
        return HealthAnswer(status="unhealthy", last_poll_age_seconds=None, problems=[str(error)])


def _warned(health: HealthAnswer, warnings: Sequence[str]) -> HealthAnswer:
    """The same with what settings warn of, once each."""
    if not warnings:
        return health
    status = "degraded" if health.status == "healthy" else health.status
    return replace(health, status=status, problems=[*health.problems, *warnings])


def health_of(
    reports: list[AccountReport],
    pools: Mapping[str, PoolRound | None],
    now: datetime,
    *,
    schedules: Mapping[str, ScheduleRound | None] = MappingProxyType({}),
    ingestion: Sequence[IngestionReport] = (),
    unread: LaneSweep | None = None,
) -> HealthAnswer:
    """The verdict on all accounts, their last rounds over pools and schedules, and how their events come in.

    Accounts that are switched off have no say. `unread` is telemetry that may be of several accounts.
    """
    problems = [problem for report in reports if (problem := _problem(report, now))]
    watched = [report.account.id for report in reports if report.watch.monitoring.enabled]
    problems += [f"{name}, pools: {last.problem}" for name in watched if (last := pools.get(name)) and last.problem]
    looks = [(name, schedules.get(name)) for name in watched]
    problems += [f"{name}, job schedules: {look.problem}" for name, look in looks if look and look.problem]
    intakes = [(told.account, told.problem(now)) for told in ingestion if told.account in watched]
    problems += [f"{name}, events: {problem}" for name, problem in intakes if problem]
    intakes = [(told.account, told.telemetry_problem(now)) for told in ingestion if told.account in watched]
    problems += [f"{name}, telemetry: {problem}" for name, problem in intakes if problem]
    if unread and unread.blobs:
        problems.append(f"telemetry: {unread.blobs} blobs aren't read; {' '.join(unread.problems)}")
    rounds = [report.last_round for report in reports if report.watch.monitoring.enabled and report.last_round]
    ages = [now - last.jobs_as_of for last in rounds if last.jobs_as_of]
    age = max(max(ages).total_seconds(), 0) if ages else None
    return HealthAnswer(status="degraded" if problems else "healthy", last_poll_age_seconds=age, problems=problems)


def _problem(report: AccountReport, now: datetime) -> str | None:
    last = report.last_round
    if not report.watch.monitoring.enabled:
        return None
    if last is None:
        return f"{report.account.id}: not polled yet."
    if last.reason:
        return f"{report.account.id}: {last.reason}"
    if now - last.finished_at > 3 * report.watch.interval + _LATE:
        return f"{report.account.id}: last polled at {last.finished_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."
    if last.failures:
        return f"{report.account.id}: {len(last.failures)} jobs couldn't be polled; their verdicts say why."
    return None


def _reply(call: Call[Query, None], health: HealthAnswer) -> Reply:
    shown = health if may(call.runtime.settings, call.request, "Reader") else replace(health, problems=[])
    return Reply(shown, status=503 if health.status == "unhealthy" else 200)

"""GET health: whether the app is configured, reaches its storage, and how old the last good poll is. Anonymous.

Unidentified callers get only the status and the age; callers who may read the rest of the API also get the problems.
Callers who may read some accounts get a verdict on those alone. Storage is read at most every few seconds, also while
it fails, regardless of the number of requests.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, RouteResponse, Routes
from functions.http.identity import HIDDEN
from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.reports.reports import AccountReport
from shared.errors import BatchscopeError
from shared.stores.tables.time_limit import answered_within

if TYPE_CHECKING:  # the services are loaded by the first request
    from shared.composition.opening import Services

_LATE, _PATIENCE = timedelta(minutes=2), timedelta(seconds=2.7)
_CACHED_SECONDS = 5.0


class HealthAnswer(Answer):
    """`degraded`: accounts can't be polled, data isn't ingested, or prices or quotas can't be read.

    `unhealthy`: no data can be served.

    `lastPollAgeSeconds` is the age of the oldest last job list, over all watched accounts that were ever listed. A
    failed poll doesn't reset it.
    """

    status: Literal["healthy", "degraded", "unhealthy"]
    last_poll_age_seconds: float | None
    problems: list[str]


def add_health(routes: Routes) -> None:
    cache = _StoredCache()

    @routes.route("GET", "health", returns=HealthAnswer, statuses=(200, 503), anonymous=True)
    async def get_health(call: RouteRequest[Query, None]) -> RouteResponse:
        """Reports liveness, the age of the last good poll, and problems."""
        return _reply(call, await cache.health(call))


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored state of every watched account."""

    reports: list[AccountReport]
    pools: Mapping[str, PoolRound | None]
    schedules: Mapping[str, ScheduleRound | None]
    ingestion: list[IngestionReport]
    unread: PartitionSweep | None
    prices: str
    quotas: Mapping[str, str]
    now: datetime

    def health(self, readable: Collection[str] | None = None) -> HealthAnswer:
        """Returns the health over all accounts or over some, then without telemetry that may belong to others."""
        reports = [report for report in self.reports if readable is None or report.account.id in readable]
        unread = self.unread if readable is None else None
        return health_of(
            reports,
            self.pools,
            self.now,
            schedules=self.schedules,
            ingestion=self.ingestion,
            unread=unread,
            prices=self.prices,
            quotas=self.quotas,
        )


class _StoredCache:
    """The last result, kept for some seconds of real time; concurrent callers wait for the pending read."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._last: tuple[float, _Stored | HealthAnswer] | None = None

    async def health(self, call: RouteRequest[Query, None]) -> _Stored | HealthAnswer:
        async with self._turn:
            time = asyncio.get_running_loop().time
            # With a simulated clock, real seconds don't measure the age of the result.
            if self._last is None or time() >= self._last[0] + _CACHED_SECONDS or call.runtime.settings.clock_url:
                found = await _read_stored(call)
                self._last = time(), found
            return self._last[1]


async def _read_stored(call: RouteRequest[Query, None]) -> _Stored | HealthAnswer:
    """Reads the current state from storage; returns an `unhealthy` answer if settings or storage fail."""
    settings = call.runtime.settings
    if settings.problems:
        return _unhealthy(*settings.problems)
    names = [account.id for account in settings.accounts]
    try:
        async with answered_within(_PATIENCE):
            services = await call.runtime.services()
            reports, pools, schedules, ingestion, unread, (prices, quotas) = await asyncio.gather(
                services.queries.accounts(names),
                services.pools.last_rounds(names),
                services.schedules.last_rounds(names),
                services.events.all_ingestion(names),
                services.events.unread_telemetry(),
                _problems_of_azure(services),
            )
            now = await services.clock.now()
        return _Stored(reports, pools, schedules, ingestion, unread, prices, quotas, now)
    except TimeoutError as error:
        return _unhealthy(f"Table Storage, or the sign-in to it, didn't answer all that health asks: {error}.")
    except BatchscopeError as error:
        return _unhealthy(str(error))


async def _problems_of_azure(services: "Services") -> tuple[str, Mapping[str, str]]:
    """Returns the problems with the retail list, and with the quotas of accounts by id."""
    prices, quotas = await asyncio.gather(services.prices.problem(), services.quotas.problems())
    return prices, quotas


def _unhealthy(*problems: str) -> HealthAnswer:
    return HealthAnswer(status="unhealthy", last_poll_age_seconds=None, problems=list(problems))


def _warned(health: HealthAnswer, warnings: Sequence[str]) -> HealthAnswer:
    """Returns the health with the warnings of the settings added."""
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
    unread: PartitionSweep | None = None,
    prices: str = "",
    quotas: Mapping[str, str] = MappingProxyType({}),
) -> HealthAnswer:
    """Returns the health over all accounts, their last rounds over pools and schedules, and their ingestion.

    Accounts that are switched off are ignored. `unread` is telemetry that may belong to several accounts, `prices` a
    problem with the retail list, empty without any. `quotas` are problems with reading them, by account.
    """
    problems = [problem for report in reports if (problem := _problem(report, now))]
    watched = [report.account.id for report in reports if report.watch.monitoring.enabled]
    problems += [f"{name}, pools: {last.problem}" for name in watched if (last := pools.get(name)) and last.problem]
    polls = [(name, schedules.get(name)) for name in watched]
    problems += [f"{name}, job schedules: {last.problem}" for name, last in polls if last and last.problem]
    ingested = [report for report in ingestion if report.account in watched]
    problems += [f"{report.account}, events: {problem}" for report in ingested if (problem := report.problem(now))]
    of_telemetry = [(report.account, report.telemetry_problem(now)) for report in ingested]
    problems += [f"{name}, telemetry: {problem}" for name, problem in of_telemetry if problem]
    if unread and unread.blobs:
        problems.append(f"telemetry: {unread.blobs} blobs aren't read; {' '.join(unread.problems)}")
    if prices:
        problems.append(f"prices: {prices}")
    problems += [f"{name}, quotas: {problem}" for name in watched if (problem := quotas.get(name))]
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


def _reply(call: RouteRequest[Query, None], found: _Stored | HealthAnswer) -> RouteResponse:
    shown = _shown(call, found)
    return RouteResponse(shown, status=503 if shown.status == "unhealthy" else 200)


def _shown(call: RouteRequest[Query, None], found: _Stored | HealthAnswer) -> HealthAnswer:
    """Returns the part that the caller may see: no problems if unidentified, readable accounts only if restricted."""
    is_restricted = call.caller is not None and not call.caller.reads_all
    if is_restricted:
        return found.health(call.readable) if isinstance(found, _Stored) else _unhealthy(HIDDEN)
    health = found.health() if isinstance(found, _Stored) else found
    health = _warned(health, call.runtime.settings.warnings)
    return health if call.caller else replace(health, problems=[])

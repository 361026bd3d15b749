"""GET health: is the app configured, does it reach its storage, and how old is the last poll? Anonymous.

Strangers get the status and the age; the problems in words go to whoever may read the rest of the API.
"""

from datetime import UTC, datetime, timedelta
from typing import Literal

from msgspec.structs import replace

from functions.http import Answer, Call, Query, Reply, Routes
from functions.identity import may
from shared.domain.reports import AccountReport
from shared.errors import BatchscopeError

_LATE = timedelta(minutes=2)


class HealthAnswer(Answer):
    """`degraded`: some accounts can't be polled; `unhealthy`: nothing can be served."""

    status: Literal["healthy", "degraded", "unhealthy"]
    last_poll_age_seconds: float | None
    problems: list[str]


def add_health(routes: Routes) -> None:
    @routes.route("GET", "health", returns=HealthAnswer, statuses=(200, 503), anonymous=True)
    async def get_health(call: Call[Query, None]) -> Reply:
        """Liveness, with the age of the last poll and what is wrong."""
        settings = call.runtime.settings
        if settings.problems:
            return _reply(
                call, HealthAnswer(status="unhealthy", last_poll_age_seconds=None, problems=list(settings.problems))
            )
        try:
            services = await call.services()
            reports, now = await services.queries.accounts(), await services.clock.now()
        except BatchscopeError as error:
            return _reply(call, HealthAnswer(status="unhealthy", last_poll_age_seconds=None, problems=[str(error)]))
        return _reply(call, health_of(reports, now))


def health_of(reports: list[AccountReport], now: datetime) -> HealthAnswer:
    """The verdict on all accounts; the age is that of the account polled longest ago, those switched off apart."""
    problems = [problem for report in reports if (problem := _problem(report, now))]
    watched = [report for report in reports if report.watch.monitoring.enabled]
    ages = [now - report.last_round.finished_at for report in watched if report.last_round]
    age = max(ages).total_seconds() if ages else None
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

"""GET, PUT accounts/{account}/monitoring: whether and how often an account is polled, changeable at run time."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, Routes
from functions.http.parameters import BadRequestError, given
from shared.domain.accounts.monitoring import HIGHEST_RATE, LOWEST_RATE, MonitoringChange
from shared.domain.reports.reports import MonitoringReport

PollSeconds = Annotated[int, Meta(ge=LOWEST_RATE, le=HIGHEST_RATE, description="Seconds between two polls.")]


class MonitoringRequest(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """The settings to change; omitted ones stay. A `pollSeconds` of null restores the configured rate."""

    enabled: bool | UnsetType = UNSET
    poll_seconds: PollSeconds | UnsetType | None = UNSET


class MonitoringAnswer(Answer):
    """Whether and how often an account is polled; `changedAt` is null if neither was ever changed."""

    enabled: bool
    poll_seconds: float
    changed_at: datetime | None


def monitoring_answer(report: MonitoringReport) -> MonitoringAnswer:
    return MonitoringAnswer.of(report.monitoring, poll_seconds=report.interval.total_seconds())


def add_monitoring(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/monitoring", returns=MonitoringAnswer)
    async def get_monitoring(call: RouteRequest[Query, None]) -> MonitoringAnswer:
        """Returns whether and how often an account is polled."""
        services = await call.services()
        return monitoring_answer(await services.registry.monitoring(call.path["account"]))

    @routes.route("PUT", f"{ACCOUNT}/monitoring", body=MonitoringRequest, returns=MonitoringAnswer)
    async def put_monitoring(call: RouteRequest[Query, MonitoringRequest]) -> MonitoringAnswer:
        """Switches polling of an account on or off, or sets its interval."""
        services = await call.services()
        return monitoring_answer(await services.registry.change(call.path["account"], _change(call.body)))


def _change(body: MonitoringRequest) -> MonitoringChange:
    """Returns the requested change. Raises BadRequestError if the body changes nothing."""
    enabled, rate = body.enabled, body.poll_seconds
    if enabled is UNSET and rate is UNSET:
        raise BadRequestError(
            'Say what to change: {"enabled": true or false}, {"pollSeconds": 60}, or both.', target="body"
        )
    return MonitoringChange(enabled=given(enabled), sets_rate=rate is not UNSET, poll_seconds=given(rate))

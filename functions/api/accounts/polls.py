"""POST accounts/{account}/poll, GET accounts/{account}/polls/{poll}: polls on demand.

Without `wait`, the poll is queued and its status is available at the Location. With `wait`, the answer comes after the
poll, or as a 202 well before the platform cuts the connection at 230 s.
"""

import asyncio
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import BadRequestError
from functions.queue_messages import PollMessage, text_of
from shared.domain.accounts.operations import PollOperation
from shared.stores.tables.table_requests import waiting_for_storage

_MAX_WAIT = 200
_MAX_JOBS = 1000


class PollRequest(Struct, forbid_unknown_fields=True, frozen=True):
    """The jobs to poll now: either `jobs` or `all`."""

    jobs: Annotated[list[str], Meta(max_length=_MAX_JOBS)] | UnsetType = UNSET
    all: bool = False

    RULE: ClassVar[dict[str, Any]] = {
        "oneOf": [
            {"required": ["jobs"], "properties": {"jobs": {"minItems": 1}, "all": {"const": False}}},
            {"required": ["all"], "properties": {"jobs": {"maxItems": 0}, "all": {"const": True}}},
        ]
    }


class PollQuery(Query):
    """With `wait`, the answer comes after the poll."""

    wait: bool = False


class ReasonAnswer(Answer):
    """Why a job (null: the whole account) couldn't be polled."""

    job: str | None
    message: str


class JobsPolledAnswer(Answer):
    """The numbers of jobs that a poll on demand read and failed to read."""

    succeeded: int
    failed: int


class PollAnswer(Answer):
    """A poll on demand."""

    id: str
    status: Literal["queued", "running", "succeeded", "failed"]
    created_at: datetime
    finished_at: datetime | None
    jobs: JobsPolledAnswer
    reasons: list[ReasonAnswer]


def add_polls(routes: Routes) -> None:
    @routes.route(
        "POST",
        f"{ACCOUNT}/poll",
        query=PollQuery,
        body=PollRequest,
        returns=PollAnswer,
        statuses=(202, 200),
        refusals=(409,),
        queue=routes.settings.poll_queue,
    )
    async def request_poll(call: RouteRequest[PollQuery, PollRequest]) -> RouteResponse:
        """Polls some or all jobs of an account now."""
        services = await call.services()
        operation = await services.polling.request(call.path["account"], _wanted(call.body))
        if call.query.wait:
            try:
                with waiting_for_storage(None):  # a poll may wait for storage as long as a timer's
                    run = services.polling.run(call.path["account"], operation.id)
                    return RouteResponse(_answer(await asyncio.wait_for(run, _MAX_WAIT)), status=200)
            except TimeoutError:  # results so far are stored; the queue completes the poll
                pass
        call.send(text_of(PollMessage(call.path["account"], operation.id)))
        return _accepted(call, operation)

    @routes.route("GET", f"{ACCOUNT}/polls/{{poll}}", returns=PollAnswer)
    async def get_poll(call: RouteRequest[Query, None]) -> PollAnswer:
        """Returns the status of a poll on demand."""
        services = await call.services()
        return _answer(await services.polling.operation(call.path["account"], call.path["poll"]))


def _wanted(body: PollRequest) -> tuple[str, ...] | None:
    """Returns the requested job ids, None for all. Raises BadRequestError if neither or both are given."""
    jobs = () if body.jobs is UNSET else tuple(body.jobs)
    if body.all == bool(jobs):
        raise BadRequestError('Say which jobs to poll: {"jobs": ["id", …]}, or {"all": true} for all.', target="jobs")
    return jobs or None


def _answer(operation: PollOperation) -> PollAnswer:
    jobs = JobsPolledAnswer.of(operation)
    return PollAnswer.of(operation, jobs=jobs, reasons=list(map(ReasonAnswer.of, operation.reasons)))


def _accepted(call: RouteRequest[PollQuery, PollRequest], operation: PollOperation) -> RouteResponse:
    where = call.link(f"accounts/{call.path['account']}/polls/{operation.id}")
    return RouteResponse(_answer(operation), status=202, headers={"Location": where, "Retry-After": "1"})

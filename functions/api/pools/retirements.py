"""GET retirements: what Azure retires, and the pools that it concerns."""

from datetime import date

from msgspec import UNSET, UnsetType

from functions.api.pools.pool_models import RetirementFields
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format, Key
from shared.domain.retirements.retirements import Retirement

_MAX_UNKNOWN = 20  # pools that are named


class RetirementsQuery(Query):
    """With `all`, the list also has announcements that concern no pool; with `account` only that account's pools."""

    account: Key | UnsetType = UNSET
    all: bool = False
    format: Format = "json"


class ConcernedPoolAnswer(Answer):
    """A pool that a retirement concerns: its nodes, and the jobs on it that haven't completed."""

    account: str
    id: str
    nodes: int
    jobs: int


class UnknownPoolAnswer(Answer):
    """A pool that a retirement may concern, or not: that isn't known."""

    account: str
    id: str


class RetirementAnswer(RetirementFields):
    """What Azure retires, as announced, with the pools that it concerns.

    `lastDay` is null where no day is known; `daysLeft` is negative after it. `source` was read on `readOn`: dates move.
    For `unknownPools` this isn't known: their settings weren't read yet, or the image is the user's own;
    `firstUnknownPools` are at most 20 of them. `concernsApp` says that Batchscope itself uses it.
    """

    pools: list[ConcernedPoolAnswer]
    unknown_pools: int
    first_unknown_pools: list[UnknownPoolAnswer]
    concerns_app: bool


class UnknownImagesAnswer(Answer):
    """An account of whose images it isn't known when Batch's support ends, or not of all, and the `reason`."""

    account: str
    reason: str


class RetirementsPage[T](Page[T], kw_only=True):
    """What Azure retires; the ends of images are missing as far as `unknownImages` says."""

    unknown_images: list[UnknownImagesAnswer]


class RetirementLine(Answer):
    """A row of the table: a retirement and one of its pools, or none.

    `unknownPools` and `concernsApp` are of the retirement, the same in each of its rows. A row with the id
    `unknownImages` says in `what` why ends of the account's images aren't known.
    """

    id: str
    what: str
    last_day: date | None
    days_left: int | None
    account: str | None
    pool: str | None
    nodes: int | None
    jobs: int | None
    instead: str | None
    source: str | None
    read_on: date | None
    unknown_pools: int
    concerns_app: bool


def add_retirements(routes: Routes) -> None:
    @routes.route(
        "GET", "retirements", query=RetirementsQuery, returns=RetirementsPage[RetirementAnswer], refusals=(404,)
    )
    async def list_retirements(
        call: RouteRequest[RetirementsQuery, None],
    ) -> RetirementsPage[RetirementAnswer] | RouteResponse:
        """Lists what Azure retires and which pools it concerns, the earliest first, those without a known day last."""
        services = await call.services()
        found = await services.retirements.retirements(call.readable_of(call.query.account))
        shown = [
            retirement_answer(one)
            for one in found.retirements
            if call.query.all or one.pools or one.unknown or one.concerns_app
        ]
        if call.query.format == "csv":
            lines = [line for one in shown for line in lines_of(one)]
            lines += [_unknown_line(*one) for one in found.unknown.items()]
            return csv_reply(Page(value=lines, count=len(shown)), RetirementLine)
        unknown = [UnknownImagesAnswer(account=account, reason=why) for account, why in found.unknown.items()]
        return RetirementsPage(value=shown, count=len(shown), unknown_images=unknown)


def _unknown_line(account: str, why: str) -> RetirementLine:
    return RetirementLine(
        id="unknownImages",
        what=why,
        last_day=None,
        days_left=None,
        account=account,
        pool=None,
        nodes=None,
        jobs=None,
        instead=None,
        source=None,
        read_on=None,
        unknown_pools=0,
        concerns_app=False,
    )


def retirement_answer(retirement: Retirement) -> RetirementAnswer:
    pools = [
        ConcernedPoolAnswer(account=pool.account_id, id=pool.pool_id, nodes=pool.nodes, jobs=pool.jobs)
        for pool in retirement.pools
    ]
    return RetirementAnswer.of(
        retirement.announcement,
        days_left=retirement.days_left,
        pools=pools,
        unknown_pools=len(retirement.unknown),
        first_unknown_pools=[
            UnknownPoolAnswer(account=account, id=pool) for account, pool in retirement.unknown[:_MAX_UNKNOWN]
        ],
        concerns_app=retirement.concerns_app,
    )


def lines_of(answer: RetirementAnswer) -> list[RetirementLine]:
    """Returns a line for each concerned pool; one without a pool where there is none."""
    if not answer.pools:
        return [RetirementLine.of(answer, account=None, pool=None, nodes=None, jobs=None)]
    return [
        RetirementLine.of(answer, account=pool.account, pool=pool.id, nodes=pool.nodes, jobs=pool.jobs)
        for pool in answer.pools
    ]

"""GET accounts/{account}/pools/{pool}/whatif: how a pool would have scaled by another autoscale formula."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.cost.account_cost import rounded
from functions.api.efficiency.job_what_if import CostSpreadAnswer, SpreadAnswer, spread_answer
from functions.api.endpoints import POOL
from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, Routes
from functions.http.parameters import Time, given
from shared.domain.autoscale.evaluation import Targets
from shared.domain.core.stamps import from_milliseconds
from shared.domain.efficiency.scaling.agreement import Agreement
from shared.domain.efficiency.scaling.estimates import ScalingEstimate
from shared.services.efficiency.pool_what_if import PoolWhatIf, PoolWhatIfReport
from shared.services.efficiency.scaling_prices import NodePrices

_SECOND = 1000  # milliseconds
_MAX_FORMULA = 4_000
Formula = Annotated[
    str, Meta(min_length=1, max_length=_MAX_FORMULA, description="Autoscale formula; by default the pool's own.")
]
Interval = Annotated[timedelta, Meta(description="Time between evaluations, PT5M to P7D; by default the pool's own.")]


class PoolWhatIfQuery(Query):
    """The formula, its interval, and the range, by default the last seven days."""

    formula: Formula | UnsetType = UNSET
    interval: Interval | UnsetType = UNSET
    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")


class TargetsAnswer(Answer):
    """Numbers of nodes that a pool shall have."""

    dedicated: int
    spot: int


class TargetsAtAnswer(TargetsAnswer):
    """The targets from a time on."""

    time: datetime


class DifferenceAnswer(Answer):
    """An evaluation in which the replay gives other targets than were recorded."""

    time: datetime
    recorded: TargetsAnswer
    replayed: TargetsAnswer


class AgreementAnswer(Answer):
    """The pool's own formula on recorded samples: in how many `evaluations` its targets are `equal` to the recorded.

    `share` is null without recorded ones. `meanDifference` is in nodes. `failed` evaluations changed nothing; `error`
    is the first one's. The first `differences` are listed, at most 20.
    """

    evaluations: int
    equal: int
    share: float | None
    mean_difference: float
    failed: int
    error: str | None
    differences: list[DifferenceAnswer]


class SeenPoolAnswer(Answer):
    """What polls saw; `cost` is null without a price, `meanWaitSeconds` without tasks."""

    node_seconds: float
    cost: Decimal | None
    mean_wait_seconds: float | None


class ScalingAnswer(Answer):
    """Replays with a formula. `targets` are listed as they changed in the first replay, as are the counts.

    Of `tasks`, `unfinishedTasks` hadn't ended, and those that never ran waited until the end. `lostRuns` ended with
    their nodes. `failed` of `evaluations` changed nothing; `error` is the first one's.
    """

    replays: int
    node_seconds: SpreadAnswer
    dedicated_seconds: SpreadAnswer
    spot_seconds: SpreadAnswer
    cost: CostSpreadAnswer | None
    mean_wait_seconds: SpreadAnswer
    longest_wait_seconds: float
    tasks: int
    unfinished_tasks: int
    lost_runs: int
    evaluations: int
    failed: int
    error: str | None
    targets: list[TargetsAtAnswer]


class PoolWhatIfAnswer(Answer):
    """A pool's tasks from `from` to `to`, replayed by a scheduler model: `asItWas`, and as `asked`.

    Without a formula of its own, the pool as it was follows its recorded targets, and `ownFormula` is null. Without
    replays `reason` says why. Without a price `noPrice` says why.
    """

    account: str
    pool: str
    since: datetime = field(name="from")
    until: datetime = field(name="to")
    interval_seconds: float
    currency: str
    no_price: str | None
    seen: SeenPoolAnswer
    own_formula: AgreementAnswer | None
    as_it_was: ScalingAnswer | None
    asked: ScalingAnswer | None
    assumptions: list[str]
    reason: str | None


def add_pool_what_if(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/whatif", query=PoolWhatIfQuery, returns=PoolWhatIfAnswer, cacheable=True)
    async def get_pool_what_if(call: RouteRequest[PoolWhatIfQuery, None]) -> PoolWhatIfAnswer:
        """Returns how a pool would have scaled by another formula, at what cost, and how tasks had waited."""
        services, query = await call.services(), call.query
        wanted = PoolWhatIf(given(query.formula), given(query.interval), given(query.since), given(query.until))
        return _answer(await services.pool_what_if.of_pool(call.path["account"], call.path["pool"], wanted))


def _answer(found: PoolWhatIfReport) -> PoolWhatIfAnswer:
    evidence, seen = found.evidence, found.seen
    prices = NodePrices.of(evidence)
    cost = prices.cost(seen.dedicated, seen.spot)
    return PoolWhatIfAnswer(
        account=evidence.report.account.id,
        pool=evidence.facts.id,
        since=evidence.since,
        until=evidence.until,
        interval_seconds=found.interval.total_seconds(),
        currency=evidence.prices.currency,
        no_price=prices.missing,
        seen=SeenPoolAnswer(
            node_seconds=_seconds(seen.nodes),
            cost=None if cost is None else rounded(cost),
            mean_wait_seconds=None if seen.mean_wait is None else _seconds(seen.mean_wait),
        ),
        own_formula=_agreement(found.agreement) if found.agreement else None,
        as_it_was=_scaling(found.as_it_was, prices) if found.as_it_was else None,
        asked=_scaling(found.asked, prices) if found.asked else None,
        assumptions=list(found.assumptions),
        reason=found.reason,
    )


def _agreement(found: Agreement) -> AgreementAnswer:
    return AgreementAnswer(
        evaluations=found.evaluations,
        equal=found.equal,
        share=found.share,
        mean_difference=round(found.mean_difference, 3),
        failed=found.failed,
        error=found.error,
        differences=[
            DifferenceAnswer(time=from_milliseconds(at), recorded=_targets(recorded), replayed=_targets(replayed))
            for at, recorded, replayed in found.differences
        ],
    )


def _scaling(found: ScalingEstimate, prices: NodePrices) -> ScalingAnswer:
    times = found.times
    return ScalingAnswer(
        replays=found.replays,
        node_seconds=spread_answer(found.nodes),
        dedicated_seconds=spread_answer(found.dedicated),
        spot_seconds=spread_answer(found.spot),
        cost=_cost(found, prices),
        mean_wait_seconds=spread_answer(found.mean_wait),
        longest_wait_seconds=_seconds(times.longest_wait),
        tasks=times.tasks,
        unfinished_tasks=times.unfinished,
        lost_runs=times.lost,
        evaluations=found.evaluations,
        failed=found.failed,
        error=found.error,
        targets=[
            TargetsAtAnswer(time=from_milliseconds(at), dedicated=targets.dedicated, spot=targets.spot)
            for at, targets in times.targets
        ],
    )


def _cost(found: ScalingEstimate, prices: NodePrices) -> CostSpreadAnswer | None:
    both = zip(found.dedicated, found.spot, strict=True)
    expected, low, high = (prices.cost(dedicated, spot) for dedicated, spot in both)
    if expected is None or low is None or high is None:
        return None
    return CostSpreadAnswer(expected=rounded(expected), low=rounded(low), high=rounded(high))


def _targets(targets: Targets) -> TargetsAnswer:
    return TargetsAnswer(dedicated=targets.dedicated, spot=targets.spot)


def _seconds(milliseconds: float) -> float:
    return round(milliseconds / _SECOND, 1)

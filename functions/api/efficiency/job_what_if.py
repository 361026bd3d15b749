"""GET accounts/{account}/jobs/{job}/whatif: how a job would have ended with other slots, VM size, nodes or priority."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, UnsetType

from functions.api.cost.account_cost import rounded
from functions.api.endpoints import JOB
from functions.http.answers import Answer, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format, Key, given
from shared.domain.efficiency.replay.estimates import Estimate, Spread
from shared.services.efficiency.what_if_queries import ScenarioReport, WhatIf, WhatIfReport

_SECOND = 1000  # milliseconds
type NodeUse = Literal["held", "retried", "interrupted", "idleSlots", "idleNodes", "starting"]
_USES: tuple[NodeUse, ...] = get_args(NodeUse.__value__)
"""In the order of the replay's times."""


class WhatIfQuery(Query):
    """The settings that differ from those of then."""

    slots: Annotated[int, Meta(ge=1, le=256, description="taskSlotsPerNode.")] | UnsetType = UNSET
    vm_size: Annotated[Key, Meta(description="VM size of all nodes.")] | UnsetType = UNSET
    nodes: Annotated[int, Meta(ge=1, le=5000, description="Nodes, as many from beginning to end.")] | UnsetType = UNSET
    spot: Annotated[bool, Meta(description="true: spot nodes; false: dedicated ones.")] | UnsetType = UNSET
    format: Format = "json"


class SpreadAnswer(Answer):
    """The median of replays, and from where to where the figure may be."""

    expected: float
    low: float
    high: float


class CostSpreadAnswer(Answer):
    """The same in money."""

    expected: Decimal
    low: Decimal
    high: Decimal


class NodeTimeAnswer(Answer):
    """Seconds of nodes by their use in the median replay, and their cost; null without a price.

    Runs `held` them to their end, were `retried` or `interrupted`; `idleSlots` of nodes with tasks, `idleNodes` without
    any, `starting` before they were ready.
    """

    use: NodeUse
    node_seconds: float
    cost: Decimal | None


class ScenarioAnswer(Answer):
    """Replays on `nodes`; `spot` is null where some nodes are spot nodes and others aren't.

    `seconds` are those from the creation of the first task to the end of the last, `end` when that is, `nodeSeconds`
    those of all nodes. Without a price `cost` is null, as `noPrice` says. Figures are null where replays don't end.
    """

    nodes: int
    slots_per_node: int
    vm_size: str
    spot: bool | None
    replays: int
    end: datetime | None
    seconds: SpreadAnswer | None
    node_seconds: SpreadAnswer | None
    cost: CostSpreadAnswer | None
    no_price: str | None
    uses: list[NodeTimeAnswer]
    waste: Decimal | None


class WhatIfLine(Answer):
    """The table columns; `unit` is `s` or the currency."""

    scenario: str
    figure: str
    unit: str
    expected: Decimal
    low: Decimal | None
    high: Decimal | None


class WhatIfAnswer(Answer):
    """A job's ended `tasks`, replayed by a scheduler model: `asItWas`, and as `asked`.

    Of many tasks a sample of `replayedTasks` stands for all. `measuredRuns` were recorded by the node agent. `begin` is
    the creation of the first task, `end` the end of the last run. Without replays `reason` says why.
    """

    account: str
    job: str
    tasks: int
    replayed_tasks: int
    measured_runs: int
    begin: datetime | None
    end: datetime | None
    seconds: float | None
    currency: str
    as_it_was: ScenarioAnswer | None
    asked: ScenarioAnswer | None
    assumptions: list[str]
    reason: str | None


def add_job_what_if(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/whatif", query=WhatIfQuery, returns=WhatIfAnswer, cacheable=True)
    async def get_job_what_if(call: RouteRequest[WhatIfQuery, None]) -> WhatIfAnswer | RouteResponse:
        """Returns how a job would have ended under other settings, and what it would have cost."""
        services, query = await call.services(), call.query
        wanted = WhatIf(given(query.nodes), given(query.slots), given(query.vm_size), given(query.spot))
        found = await services.what_if.of_job(call.path["account"], call.path["job"], wanted)
        answer = _answer(found)
        if query.format == "csv":
            return csv_reply(Page(value=list(_lines(answer))), WhatIfLine)
        return answer


def _answer(found: WhatIfReport) -> WhatIfAnswer:
    begin, end = found.begin, found.end
    return WhatIfAnswer(
        account=found.report.account.id,
        job=found.report.job.facts.id,
        tasks=found.tasks,
        replayed_tasks=found.replayed,
        measured_runs=found.measured,
        begin=utc(begin),
        end=utc(end),
        seconds=round((end - begin).total_seconds(), 3) if begin and end else None,
        currency=found.currency,
        as_it_was=_scenario(found.as_it_was, begin) if found.as_it_was else None,
        asked=_scenario(found.asked, begin) if found.asked else None,
        assumptions=list(found.assumptions),
        reason=found.reason,
    )


def _scenario(found: ScenarioReport, begin: datetime | None) -> ScenarioAnswer:
    estimate = found.estimate
    return ScenarioAnswer(
        nodes=found.nodes,
        slots_per_node=found.slots,
        vm_size=found.vm_size,
        spot=found.spot,
        replays=estimate.replays if estimate else 0,
        end=utc(begin + timedelta(milliseconds=estimate.end.expected)) if estimate and begin else None,
        seconds=spread_answer(estimate.end) if estimate else None,
        node_seconds=spread_answer(estimate.nodes) if estimate else None,
        cost=_cost(found, estimate) if estimate else None,
        no_price=found.no_price,
        uses=list(_uses(found, estimate)) if estimate else [],
        waste=_money(found, sum(estimate.times[3:])) if estimate else None,
    )


def spread_answer(spread: Spread) -> SpreadAnswer:
    expected, low, high = (round(value / _SECOND, 1) for value in spread)
    return SpreadAnswer(expected=expected, low=low, high=high)


def _cost(found: ScenarioReport, estimate: Estimate) -> CostSpreadAnswer | None:
    expected, low, high = (_money(found, value) for value in estimate.nodes)
    if expected is None or low is None or high is None:
        return None
    return CostSpreadAnswer(expected=expected, low=low, high=high)


def _money(found: ScenarioReport, node_time: float) -> Decimal | None:
    cost = found.cost(node_time)
    return None if cost is None else rounded(cost)


def _uses(found: ScenarioReport, estimate: Estimate) -> Iterator[NodeTimeAnswer]:
    """Yields the parts of the nodes' time in the median replay."""
    for use, value in zip(_USES, estimate.times[2:], strict=True):
        yield NodeTimeAnswer(use=use, node_seconds=round(value / _SECOND, 1), cost=_money(found, value))


def _lines(answer: WhatIfAnswer) -> Iterator[WhatIfLine]:
    for name, scenario in (("asItWas", answer.as_it_was), ("asked", answer.asked)):
        if scenario is None or scenario.seconds is None or scenario.node_seconds is None:
            continue
        for figure, spread in (("seconds", scenario.seconds), ("nodeSeconds", scenario.node_seconds)):
            expected, low, high = (Decimal(str(value)) for value in (spread.expected, spread.low, spread.high))
            yield WhatIfLine(scenario=name, figure=figure, unit="s", expected=expected, low=low, high=high)
        if scenario.cost:
            cost, unit = scenario.cost, answer.currency
            yield WhatIfLine.of(cost, scenario=name, figure="cost", unit=unit)
        for part in scenario.uses:
            if part.cost is not None:
                value, unit = part.cost, answer.currency
                yield WhatIfLine(scenario=name, figure=part.use, unit=unit, expected=value, low=None, high=None)

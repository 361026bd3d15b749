"""Telemetry of pools: GET …/pools/{pool}/telemetry, …/telemetry/nodes, …/telemetry/metrics, …/{account}/telemetry."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, UnsetType

from functions.api.endpoints import ACCOUNT, POOL
from functions.api.jobs.history import SpanAnswer
from functions.api.telemetry.node_telemetry import Attributes, SeriesName, TelemetryQuery
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format, Time, given
from shared.domain.core.stamps import format_duration
from shared.domain.telemetry.query.series_query import SeriesQuery

if TYPE_CHECKING:  # decoding is not needed at start
    from shared.domain.telemetry.pools.pool_reports import MetricLine, NodeReporting, NodeValues, PoolTelemetry

_MAX_SILENT = 100  # listed
_Top = Annotated[int, Meta(ge=1, le=1000, description="Only this many nodes, those with the highest values first.")]


class NodeValuesQuery(Query):
    """The metric (by default CPU in use), the time (now), and how many nodes; one metric must fit."""

    name: SeriesName | UnsetType = UNSET
    attributes: Attributes | UnsetType = UNSET
    at: Time | UnsetType = UNSET
    top: _Top | UnsetType = UNSET
    format: Format = "json"


class MetricPointAnswer(Answer):
    """Statistics over the values of `nodes` nodes in a step that begins at `time`.

    A node's value is its mean in the step, of a counter its growth per second; percentiles are values of nodes.
    """

    time: datetime
    nodes: int
    mean: float
    p50: float
    p95: float
    max: float


class MetricPointLine(MetricPointAnswer):
    """A point with its pool and metric."""

    pool: str
    name: str
    attributes: str
    unit: str


class MetricAnswer(Answer):
    """A metric of nodes, without the attributes of single devices; steps without data have no point."""

    name: str
    attributes: dict[str, str]
    unit: str
    points: list[MetricPointAnswer]


class SilentNodeAnswer(Answer):
    """A node that doesn't report, and its last minute with data; null if there never was any."""

    id: str
    seen: datetime | None


class NodeReportingAnswer(Answer):
    """The nodes that Batch lists, those with data of the last five minutes, and those that should have some.

    Nodes without a machine or before the end of their start task aren't silent. `silent_nodes` are the first hundred.
    """

    listed: int
    reporting: int
    silent: int
    silent_nodes: list[SilentNodeAnswer]


class PoolTelemetryAnswer(SpanAnswer):
    """The stored part of the range, which nodes report now, and statistics over the nodes by name of metric."""

    pool: str
    step: str
    nodes: NodeReportingAnswer
    value: list[MetricAnswer]


class NodeValueAnswer(Answer):
    """A node's value in the minute `time`, null where it is silent; `seen` is its last minute with any data."""

    id: str
    state: str | None
    value: float | None
    time: datetime | None
    seen: datetime | None


class NodeValuesAnswer(Answer):
    """The values of one metric by node, each of the last five minutes before `at`; no name where there are none."""

    name: str | None
    attributes: dict[str, str]
    unit: str
    at: datetime
    value: list[NodeValueAnswer]


class PoolMetricAnswer(Answer):
    """A metric that nodes of the pool sent lately, as `telemetry/nodes` takes and shows it."""

    name: str
    attributes: dict[str, str]
    unit: str


def add_pool_telemetry(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/telemetry", query=TelemetryQuery, returns=PoolTelemetryAnswer)
    async def get_pool_telemetry(call: RouteRequest[TelemetryQuery, None]) -> PoolTelemetryAnswer | RouteResponse:
        """Returns metrics of a pool's nodes over time: mean, percentiles and maximum over the nodes."""
        services, path = await call.services(), call.path
        found = await services.pool_telemetry.of_pool(path["account"], path["pool"], call.query.selected)
        if call.query.format == "csv":
            return csv_reply(Page(value=list(_table(found))), MetricPointLine)
        return _answer(found)

    @routes.route("GET", f"{ACCOUNT}/telemetry", query=TelemetryQuery, returns=Page[PoolTelemetryAnswer])
    async def get_account_telemetry(
        call: RouteRequest[TelemetryQuery, None],
    ) -> Page[PoolTelemetryAnswer] | RouteResponse:
        """Returns metrics of nodes over time for each pool of an account that has telemetry."""
        services = await call.services()
        found = await services.pool_telemetry.of_account(call.path["account"], call.query.selected)
        if call.query.format == "csv":
            return csv_reply(Page(value=[line for one in found for line in _table(one)]), MetricPointLine)
        return Page(value=list(map(_answer, found)), count=len(found))

    @routes.route("GET", f"{POOL}/telemetry/nodes", query=NodeValuesQuery, returns=NodeValuesAnswer)
    async def get_node_values(call: RouteRequest[NodeValuesQuery, None]) -> NodeValuesAnswer | RouteResponse:
        """Returns the values of one metric by node, for a heat map or as the nodes with the highest."""
        services, query, path = await call.services(), call.query, call.path
        asked = SeriesQuery(name=given(query.name), attributes=given(query.attributes))
        found = await services.pool_telemetry.by_node(path["account"], path["pool"], asked, given(query.at))
        if top := given(query.top):
            found = found.highest(top)
        if query.format == "csv":
            return csv_reply(Page(value=list(map(NodeValueAnswer.of, found.nodes))), NodeValueAnswer)
        return _values_answer(found)

    @routes.route("GET", f"{POOL}/telemetry/metrics", returns=Page[PoolMetricAnswer])
    async def list_pool_metrics(call: RouteRequest[Query, None]) -> Page[PoolMetricAnswer]:
        """Lists the metrics that nodes of a pool sent within the last twenty minutes, custom ones too."""
        services, path = await call.services(), call.path
        found = await services.pool_telemetry.metrics(path["account"], path["pool"])
        listed = [PoolMetricAnswer(name=one.name, attributes=dict(one.attributes), unit=one.unit) for one in found]
        return Page(value=listed, count=len(listed))


def _answer(found: "PoolTelemetry") -> PoolTelemetryAnswer:
    return PoolTelemetryAnswer.of(
        found.range,
        pool=found.pool,
        step=format_duration(found.range.step),
        nodes=_reporting(found.nodes),
        value=list(map(_metric, found.lines)),
    )


def _reporting(nodes: "NodeReporting") -> NodeReportingAnswer:
    silent = [SilentNodeAnswer(id=node, seen=seen) for node, seen in sorted(nodes.silent.items())[:_MAX_SILENT]]
    return NodeReportingAnswer.of(nodes, silent=len(nodes.silent), silent_nodes=silent)


def _metric(line: "MetricLine") -> MetricAnswer:
    points = [MetricPointAnswer.of(one, time=time) for time, one in line.points]
    name, attributes, unit = line.shown
    return MetricAnswer(name=name, attributes=dict(attributes), unit=unit, points=points)


def _values_answer(found: "NodeValues") -> NodeValuesAnswer:
    name, attributes, unit = found.shown or (None, (), "")
    return NodeValuesAnswer(
        name=name,
        attributes=dict(attributes),
        unit=unit,
        at=found.at,
        value=list(map(NodeValueAnswer.of, found.nodes)),
    )


def _table(found: "PoolTelemetry") -> Iterator[MetricPointLine]:
    for line in found.lines:
        name, attributes, unit = line.shown
        text = ";".join(f"{key}={value}" for key, value in attributes)
        for time, one in line.points:
            yield MetricPointLine.of(one, time=time, pool=found.pool, name=name, attributes=text, unit=unit)

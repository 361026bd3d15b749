"""GET accounts/{account}/pools/{pool}/nodes/{node}/telemetry: a node's measurements, over all blobs it wrote."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from functions.api.endpoints import POOL
from functions.api.jobs.history import HistoryQuery, SpanAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, RouteRequest, RouteResponse, Routes
from functions.http.parameters import given
from shared.domain.core.stamps import format_duration
from shared.domain.telemetry.query.series_query import SeriesQuery

if TYPE_CHECKING:  # decoding is not needed at start
    from shared.domain.telemetry.query.ranges import Line
    from shared.services.telemetry.telemetry_queries import NodeTelemetry

SeriesName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        description="A series, or the first parts of some: system.cpu. Several have commas between them.",
    ),
]
Attributes = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        description="NAME=VALUE, several with semicolons between them; an empty value is that of series without it.",
    ),
]


class TelemetryQuery(HistoryQuery):
    """The range, the step and the series; by default all series of the last hour in at most 500 points."""

    name: SeriesName | UnsetType = UNSET
    attributes: Attributes | UnsetType = UNSET

    @property
    def selected(self) -> SeriesQuery:
        return SeriesQuery(**self.range, name=given(self.name), attributes=given(self.attributes))


class TelemetryPointAnswer(Answer):
    """A step of a series, which begins at `time`.

    For a gauge: number, minimum, maximum and sum of the values, and the last one. For a counter: number of readings,
    slowest and fastest growth per second, total growth, and the last growth per second.
    """

    time: datetime
    count: int
    min: float
    max: float
    sum: float
    last: float


class TelemetryLine(TelemetryPointAnswer):
    """A point with its series; `hourly` if any of it lies in a part for which only hours are kept."""

    name: str
    attributes: str
    unit: str
    hourly: bool


class TelemetrySeriesAnswer(Answer):
    """A series with OpenTelemetry name and UCUM unit. Steps without data have no point."""

    name: str
    attributes: dict[str, str]
    unit: str
    kind: Literal["gauge", "counter"]
    points: list[TelemetryPointAnswer]


class HourlyPart(SpanAnswer):
    """Whole hours, from the start of the first to the end of the last."""


class LeftOutAnswer(Answer):
    """Dropped data in the blobs that have something in the range, counted over whole blobs with `records` in all.

    `refused` units couldn't be read (see rejects). Whole records are dropped for a missing or unsupported time, for too
    many nodes, tasks or sessions in one blob, or for an unknown measurement without numbers (`unknown`, by name).
    Otherwise single values are dropped: fields without a series, series beyond a node's thousand, late readings, and
    non-numbers.
    """

    records: int
    refused: int
    without_time: int
    out_of_window: int
    of_too_many_nodes: int
    of_too_many_tasks: int
    unread_fields: int
    beyond_limit: int
    late: int
    no_numbers: int
    unknown: dict[str, int]


class DiskAnswer(Answer):
    """A disk and its size in bytes."""

    name: str
    size: int
    model: str


class NodeFactsAnswer(Answer):
    """Facts that the agent reported about its node when it started; empty or null if it didn't."""

    cpu_model: str
    cpu_count: int | None
    vm_size: str
    region: str
    zone: str
    priority: str
    image_offer: str
    image_sku: str
    booted_at: datetime | None
    allocated_at: datetime | None
    disks: list[DiskAnswer]


class UndrawnAnswer(Answer):
    """A blob on the days of the range without data in any series, with the reason as a sentence.

    `format` is its apparent format, null if it wasn't examined. A blob that doesn't name this node names no node.
    """

    blob: str
    format: str | None
    names_node: bool
    reason: str


class TelemetryAnswer(SpanAnswer):
    """The stored part of the range, and the node's series with data in it, by name and attributes.

    In `hourly` parts a point covers at least an hour, for any `step`, as no minutes are kept. If `value` is empty,
    `undrawn` lists the first ten blobs without usable data. `facts` are those reported after the node's latest start,
    by agents with samples in the range.
    """

    step: str
    hourly: list[HourlyPart]
    left_out: LeftOutAnswer
    facts: NodeFactsAnswer
    undrawn: list[UndrawnAnswer]
    value: list[TelemetrySeriesAnswer]


def add_node_telemetry(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/nodes/{{node}}/telemetry", query=TelemetryQuery, returns=TelemetryAnswer)
    async def get_node_telemetry(call: RouteRequest[TelemetryQuery, None]) -> TelemetryAnswer | RouteResponse:
        """Returns a node's measurements by minute, hour or longer steps, with OpenTelemetry names and units."""
        services, query, path = await call.services(), call.query, call.path
        found = await services.telemetry.of_node(path["account"], path["pool"], path["node"], query.selected)
        return telemetry_table(found) if query.format == "csv" else telemetry_answer(found)


def telemetry_answer(found: "NodeTelemetry") -> TelemetryAnswer:
    return TelemetryAnswer.of(
        found.range,
        step=format_duration(found.range.step),
        hourly=[HourlyPart(since=since, until=until) for since, until in found.hourly],
        left_out=LeftOutAnswer.of(found.left_out),
        facts=NodeFactsAnswer.of(found.facts, disks=list(map(DiskAnswer.of, found.facts.disks))),
        undrawn=[
            UndrawnAnswer.of(each.arrival, format=each.arrival.format or None, reason=each.reason)
            for each in found.undrawn
        ],
        value=list(map(_series, found.lines)),
    )


def _series(line: "Line") -> TelemetrySeriesAnswer:
    return TelemetrySeriesAnswer.of(
        line,
        attributes=dict(line.attributes),
        kind="counter" if line.is_counter else "gauge",
        points=[
            TelemetryPointAnswer(time=time, count=one.count, min=one.min, max=one.max, sum=one.sum, last=one.last)
            for time, one in line.points
        ],
    )


def telemetry_table(found: "NodeTelemetry | None") -> RouteResponse:
    """Returns a table with one row per point; empty without telemetry."""
    rows = _lines(telemetry_answer(found), found.range.step) if found else []
    return csv_reply(Page(value=rows), TelemetryLine)


def _lines(answer: TelemetryAnswer, step: timedelta) -> list[TelemetryLine]:
    return [
        TelemetryLine.of(
            point,
            name=series.name,
            attributes=_text(series.attributes),
            unit=series.unit,
            hourly=any(point.time < part.until and part.since < point.time + step for part in answer.hourly),
        )
        for series in answer.value
        for point in series.points
    ]


def _text(attributes: Mapping[str, str]) -> str:
    return ";".join(f"{name}={value}" for name, value in attributes.items())
